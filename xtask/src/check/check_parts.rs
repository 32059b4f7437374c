//! The parts of the check, and how long each may take.
//!
//! A budget is for a clean clone on two cores. Together they must stay under 55 minutes: a
//! part that needs more takes it from another, or becomes faster. Exceeding a budget is reported;
//! exceeding it five times fails, because then the part hangs.

use std::time::Duration;

use anyhow::Result;

use crate::invocation::Invocation;
use crate::{cargo, node_env, postgres, prometheus, python_env};

/// One part of the check.
pub(crate) struct CheckPart {
    pub(crate) name: &'static str,
    pub(crate) description: &'static str,
    pub(crate) budget_seconds: u64,
    pub(crate) work: PartWork,
}

/// What a part runs.
#[derive(Clone, Copy)]
pub(crate) enum PartWork {
    /// Programs, run one after the other.
    Programs(fn() -> Result<Vec<Invocation>>),
    /// The text rules of `tidy`, in this process.
    Tidy,
}

impl CheckPart {
    pub(crate) fn budget(&self) -> Duration {
        Duration::from_secs(self.budget_seconds)
    }

    /// The time after which the part is killed. A busy machine is not a failure; a hang is.
    pub(crate) fn hang_limit(&self) -> Duration {
        self.budget() * HANG_FACTOR
    }
}

/// The multiple of its budget after which a part is killed.
pub(crate) const HANG_FACTOR: u32 = 5;

pub(crate) const CHECK_PARTS: &[CheckPart] = &[
    CheckPart {
        name: "fmt",
        description: "formatting",
        budget_seconds: 20,
        work: PartWork::Programs(|| Ok(cargo::format())),
    },
    CheckPart {
        name: "clippy",
        description: "lints, with warnings denied",
        budget_seconds: 300,
        work: PartWork::Programs(|| Ok(cargo::clippy())),
    },
    CheckPart {
        name: "tidy",
        description: "source rules, crate dependencies, spec items and the tests that prove them",
        budget_seconds: 10,
        work: PartWork::Tidy,
    },
    CheckPart {
        name: "test",
        description: "every test of the workspace (installs PostgreSQL first if missing and permitted)",
        budget_seconds: 470,
        work: PartWork::Programs(|| {
            let installed = [postgres::install_steps(), prometheus::install_steps()].concat();
            Ok([installed, cargo::test()].concat())
        }),
    },
    CheckPart {
        name: "docs",
        description: "documentation, with warnings denied",
        budget_seconds: 100,
        work: PartWork::Programs(|| Ok(cargo::document())),
    },
    CheckPart {
        name: "server",
        description: "the API server: every route, attacks, kill -9, generated requests, on both stores",
        budget_seconds: 180,
        work: PartWork::Programs(|| {
            let installed = [postgres::install_steps(), prometheus::install_steps()].concat();
            let tested = [cargo::server_tests(), python_env::api_fuzz_steps()?].concat();
            Ok([installed, tested].concat())
        }),
    },
    CheckPart {
        name: "attack",
        description: "attacks on the sandbox and the permissions, one part of them, as root and as another user",
        budget_seconds: 140,
        work: PartWork::Programs(|| Ok(cargo::attack(&split_words("--subset")))),
    },
    CheckPart {
        name: "terminal",
        description: "the session at a terminal: killed 50 times, keystrokes while text streams",
        budget_seconds: 240,
        work: PartWork::Programs(|| Ok(cargo::terminal())),
    },
    CheckPart {
        name: "python-clients",
        description: "the official Python clients against the scripted server (installs them first)",
        budget_seconds: 120,
        work: PartWork::Programs(python_env::client_test_steps),
    },
    CheckPart {
        name: "sdk",
        description: "programs of both Agent SDKs, against the real binary (installs them first)",
        budget_seconds: 300,
        work: PartWork::Programs(|| {
            Ok([python_env::sdk_test_steps()?, node_env::sdk_test_steps()?].concat())
        }),
    },
    CheckPart {
        name: "mcp",
        description: "the conformance suite of MCP and servers of the registry (installs them first)",
        budget_seconds: 300,
        work: PartWork::Programs(node_env::mcp_test_steps),
    },
    CheckPart {
        name: "acp",
        description: "editors made with the official Python and TypeScript libraries (installs them first)",
        budget_seconds: 90,
        work: PartWork::Programs(|| {
            Ok([python_env::acp_test_steps()?, node_env::acp_test_steps()?].concat())
        }),
    },
    CheckPart {
        name: "dashboard",
        description: "the dashboard is rebuilt, compared, and used in Chromium (installs it first)",
        budget_seconds: 240,
        work: PartWork::Programs(node_env::dashboard_test_steps),
    },
    CheckPart {
        name: "explore",
        description: "every interleaving of the core within bounds (builds in release first)",
        budget_seconds: 220,
        work: PartWork::Programs(|| Ok(cargo::explore(&[]))),
    },
    CheckPart {
        name: "mutants",
        description: "mutation testing: the explorer must find each planted bug",
        budget_seconds: 80,
        work: PartWork::Programs(|| Ok(cargo::explore(&split_words("--mutants")))),
    },
    CheckPart {
        name: "simulate",
        description: "the real driver in 20,000 seeded simulations",
        budget_seconds: 130,
        work: PartWork::Programs(|| Ok(cargo::simulate(&split_words("--seeds 20000")))),
    },
    CheckPart {
        name: "torture",
        description: "the real binary, killed 200 times, then audited",
        budget_seconds: 180,
        work: PartWork::Programs(|| cargo::torture(&split_words("--store sqlite --kills 200"))),
    },
    CheckPart {
        name: "torture-postgres",
        description: "the same on PostgreSQL, with connections cut and the server crashed and frozen",
        budget_seconds: 170,
        work: PartWork::Programs(|| {
            let torture = cargo::torture(&split_words("--store postgres --kills 200"))?;
            Ok([postgres::install_steps(), torture].concat())
        }),
    },
];

fn split_words(text: &str) -> Vec<String> {
    text.split_whitespace().map(str::to_owned).collect()
}
