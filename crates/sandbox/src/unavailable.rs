//! The sandbox on systems where it does not exist: nothing is started.

use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use windlass_runtime::ports::{BoxFuture, LaunchRequest, LaunchedProcess, ProcessLauncher};

use crate::{Mechanism, Policy};

/// Refuses to start processes: there is no sandbox on this system.
#[derive(Debug, Clone)]
pub struct SandboxLauncher;

impl SandboxLauncher {
    /// Returns the launcher of this system.
    #[must_use]
    pub fn new(_policy: Policy) -> Self {
        Self
    }

    /// Changes nothing: no process is started.
    #[must_use]
    pub fn with_current_policy(
        self,
        _current: impl Fn(Option<&Path>, &[PathBuf]) -> io::Result<Policy> + Send + Sync + 'static,
    ) -> Self {
        self
    }

    /// Returns an error: nothing can be confined here.
    pub async fn probe(&self) -> io::Result<Mechanism> {
        Err(unavailable())
    }
}

impl ProcessLauncher for SandboxLauncher {
    fn launch(&self, _request: LaunchRequest) -> BoxFuture<'_, io::Result<LaunchedProcess>> {
        Box::pin(std::future::ready(Err(unavailable())))
    }

    fn describe_confinement(&self) -> String {
        "not available on this system".to_owned()
    }
}

/// Does nothing: this program is never started as a helper here.
#[must_use]
pub fn run_if_requested() -> Option<ExitCode> {
    None
}

fn unavailable() -> io::Error {
    io::Error::new(io::ErrorKind::Unsupported, "there is no sandbox on this system")
}
