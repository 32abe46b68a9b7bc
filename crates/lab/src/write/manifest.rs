//! The manifest of a run: what made it, and the command that makes it again.

use super::Findings;
use crate::cli::program;
use crate::paper::Paper;
use crate::provenance;
use crate::study::models;
use std::time::Duration;

impl<P: Paper> Findings<'_, P> {
    pub(super) fn manifest(&self, took: Duration) -> serde_json::Value {
        let (computed, reused, damaged) = self.study.effort();
        let mut manifest = serde_json::json!({
            "paper": P::ABOUT.slug,
            "scenario_hash": self.session.scenario.hash(),
            "seed": self.session.seed,
            "reps": self.session.replications,
            "options": {
                "quick": self.request.quick,
                "decide": self.request.decide,
                "seeds": self.request.seeds,
                "only": self.request.only,
                "set": self.request.set,
            },
            "version": env!("CARGO_PKG_VERSION"),
            "git_revision": provenance::git_revision(),
            "sources_sha256": provenance::sources(),
            "models": models::<P>(),
            "command_line": self.command(),
            "timings": {
                "wall_seconds": took.as_secs_f64(),
                "cpu_seconds": provenance::cpu_seconds(),
                "threads": rayon::current_num_threads(),
                "replications_computed": computed,
                "replications_reused": reused,
                "replications_damaged": damaged,
            },
        });
        let data = self.session.paper.data();
        if !data.is_empty() {
            manifest["data"] = data.into_iter().map(|(name, hash)| (name, serde_json::Value::from(hash))).collect();
        }
        manifest
    }

    /// The command that makes this run again. Options that cannot change a result are left out.
    pub(super) fn command(&self) -> String {
        format!("{} reproduce {}{}", program(), P::ABOUT.slug, self.request.options())
    }
}
