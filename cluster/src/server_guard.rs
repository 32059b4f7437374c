//! Guard process that outlives ours: when ours ends in any way, SIGKILL included, the kernel closes
//! the pipe between them, and the guard stops the server and removes its folder.

use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Stdio};

use anyhow::{Context, Result};

use crate::server_programs::ServerPrograms;

const GUARD_SCRIPT: &str =
    r#"cat > "$2/guard"; "$1/pg_ctl" stop -D "$2/data" -m immediate -s; rm -rf "$2""#;

/// The guard process; dropping it makes it stop the server.
#[derive(Debug)]
pub(crate) struct ServerGuard(Child);

impl ServerGuard {
    pub(crate) fn start(programs: &ServerPrograms, folder: &Path) -> Result<Self> {
        let mut shell = ServerPrograms { folder: "/bin".into(), ..programs.clone() }
            .build_command("sh", folder);
        shell.args(["-c", GUARD_SCRIPT, "guard"]).arg(&programs.folder).arg(folder);
        shell.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null()).process_group(0);
        Ok(Self(shell.spawn().context("cannot start the guard")?))
    }
}

impl Drop for ServerGuard {
    fn drop(&mut self) {
        drop(self.0.stdin.take());
        _ = self.0.wait();
    }
}
