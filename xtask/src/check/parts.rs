//! What the check consists of, and how long each part may take.
//!
//! A budget covers a clean clone on two cores. Together they stay under half an hour, for ever: a
//! part that needs more takes it from another, or becomes faster. Going over is said; going over
//! five times fails, because then it hangs.

use std::time::Duration;

use anyhow::Result;

use crate::invocation::Invocation;
use crate::{cargo, postgres, python};

/// One step of the check.
pub(crate) struct Part {
    pub(crate) name: &'static str,
    pub(crate) does: &'static str,
    pub(crate) budget_seconds: u64,
    pub(crate) work: Work,
}

/// How a part is done.
#[derive(Clone, Copy)]
pub(crate) enum Work {
    /// Programs to run one after the other.
    Programs(fn() -> Result<Vec<Invocation>>),
    /// The text rules, in this process.
    Tidy,
}

impl Part {
    pub(crate) fn budget(&self) -> Duration {
        Duration::from_secs(self.budget_seconds)
    }

    /// How long it may take before it is ended. A busy machine is not a failure; a hang is.
    pub(crate) fn patience(&self) -> Duration {
        self.budget() * PATIENCE
    }
}

/// How many budgets a part may use before it is ended.
pub(crate) const PATIENCE: u32 = 5;

pub(crate) const PARTS: &[Part] = &[
    Part {
        name: "fmt",
        does: "is the code formatted",
        budget_seconds: 20,
        work: Work::Programs(|| Ok(cargo::format())),
    },
    Part {
        name: "clippy",
        does: "lints, with warnings denied",
        budget_seconds: 300,
        work: Work::Programs(|| Ok(cargo::clippy())),
    },
    Part {
        name: "tidy",
        does: "house rules, crate edges, spec items and the tests that prove them",
        budget_seconds: 10,
        work: Work::Tidy,
    },
    Part {
        name: "test",
        does: "every test of the workspace (installs PostgreSQL first if it is missing and it may)",
        budget_seconds: 470,
        work: Work::Programs(|| Ok([postgres::installed(), cargo::test()].concat())),
    },
    Part {
        name: "docs",
        does: "documentation, with warnings denied",
        budget_seconds: 100,
        work: Work::Programs(|| Ok(cargo::document())),
    },
    Part {
        name: "python-clients",
        does: "the official Python clients talk to the scripted server (installs them first)",
        budget_seconds: 120,
        work: Work::Programs(python::clients),
    },
    Part {
        name: "explore",
        does: "every interleaving of the core within bounds (builds in release first)",
        budget_seconds: 220,
        work: Work::Programs(|| Ok(cargo::explore(&[]))),
    },
    Part {
        name: "mutants",
        does: "planted bugs, each of which the explorer must find",
        budget_seconds: 80,
        work: Work::Programs(|| Ok(cargo::explore(&words("--mutants")))),
    },
    Part {
        name: "simulate",
        does: "the real driver in 20,000 seeded worlds",
        budget_seconds: 130,
        work: Work::Programs(|| Ok(cargo::simulate(&words("--seeds 20000")))),
    },
    Part {
        name: "torture",
        does: "the real binary killed 200 times, then audited",
        budget_seconds: 180,
        work: Work::Programs(|| cargo::torture(&words("--store sqlite --kills 200"))),
    },
    Part {
        name: "torture-postgres",
        does: "the same on a PostgreSQL that is cut off, crashed and frozen meanwhile",
        budget_seconds: 170,
        work: Work::Programs(|| {
            let torture = cargo::torture(&words("--store postgres --kills 200"))?;
            Ok([postgres::installed(), torture].concat())
        }),
    },
];

fn words(text: &str) -> Vec<String> {
    text.split_whitespace().map(str::to_owned).collect()
}
