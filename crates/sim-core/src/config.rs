//! Errors of a model's configuration: [`ConfigError`].

use std::error::Error;
use std::fmt;

/// Reason why a configuration cannot be simulated: the field, its value and the expected value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfigError(String);

impl ConfigError {
    /// Returns `Ok` if `is_good`, else the error with that text.
    pub fn check(is_good: bool, fault: impl FnOnce() -> String) -> Result<(), Self> {
        if is_good { Ok(()) } else { Err(Self(fault())) }
    }
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Error for ConfigError {}
