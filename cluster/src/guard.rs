//! A process that outlives ours: when ours ends in any way, SIGKILL included, the kernel closes the
//! pipe between them, and the guard stops the server and removes its folder.

use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Stdio};

use anyhow::{Context, Result};

use crate::command::Programs;

const STAND: &str =
    r#"cat > "$2/guard"; "$1/pg_ctl" stop -D "$2/data" -m immediate -s; rm -rf "$2""#;

/// Dropping it makes it strike.
#[derive(Debug)]
pub(crate) struct Guard(Child);

impl Guard {
    pub(crate) fn over(programs: &Programs, folder: &Path) -> Result<Self> {
        let mut shell =
            Programs { folder: "/bin".into(), ..programs.clone() }.command("sh", folder);
        shell.args(["-c", STAND, "guard"]).arg(&programs.folder).arg(folder);
        shell.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null()).process_group(0);
        Ok(Self(shell.spawn().context("the guard cannot be started")?))
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        drop(self.0.stdin.take());
        _ = self.0.wait();
    }
}
