//! Additions of a program to the commands.

use gap_schedule::Policy;
use metrics::OwnMetric;
use std::fmt;
use std::sync::Arc;

/// Policies and metrics that a program adds.
#[derive(Clone, Debug, Default)]
pub struct Added {
    /// Policies of space-shared machines.
    pub policies: Vec<Arc<Own>>,
    /// Metrics of `simulate` and `experiment`.
    pub metrics: Vec<OwnMetric>,
}

impl Added {
    /// Returns true if results depend on this program alone.
    pub fn is_empty(&self) -> bool {
        self.policies.is_empty() && self.metrics.is_empty()
    }
}

/// Policy with its name, as `--policy` takes it.
pub struct Own {
    /// Name, as on the command line.
    pub name: String,
    /// Description in one line.
    pub about: String,
    pub(super) make: Box<dyn Fn() -> Box<dyn Policy> + Send + Sync>,
}

impl Own {
    /// `make` returns the policy before its first job, once for each run.
    ///
    /// # Panics
    ///
    /// Panics if `name` contains other characters than letters, digits and hyphens: it is also the name of a folder.
    pub fn new(name: &str, about: &str, make: impl Fn() -> Box<dyn Policy> + Send + Sync + 'static) -> Self {
        let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-';
        assert!(
            !name.is_empty() && name.bytes().all(is_plain),
            "a policy cannot be called {name:?}; use letters, digits and hyphens, as in my-sjf"
        );
        Self { name: name.to_owned(), about: about.to_owned(), make: Box::new(make) }
    }
}

impl fmt::Debug for Own {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Own").field("name", &self.name).field("about", &self.about).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gap_schedule::Fcfs;

    #[test]
    #[should_panic(expected = "use letters, digits and hyphens")]
    fn a_name_that_leads_elsewhere_is_refused() {
        Own::new("../fcfs", "first come first served", || Box::new(Fcfs::default()));
    }
}
