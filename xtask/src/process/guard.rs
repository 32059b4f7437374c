//! A shell that kills a process group when this process ends.
//!
//! A part of the check runs in its own process group, so that all of it can be killed at once. As a
//! consequence, Ctrl-C no longer reaches it, and neither does a SIGKILL of this process. The guard
//! reads from a pipe whose other end only this process holds: however this process ends, the kernel
//! closes the pipe, and the guard kills the group. Exceeding a budget uses the same mechanism, on
//! purpose.
//!
//! A grandchild that moved itself to another group is not killed; its parent is responsible for it.

use std::io::Write;
use std::os::unix::process::CommandExt;
use std::process::{Child, Stdio};

use anyhow::{Context, Result};

use crate::invocation::Invocation;

use super::build_command;

/// `read` fails at end of file. The signal is sent by the shell itself: not every machine has a
/// kill program.
const GUARD_SCRIPT: &str = "read -r word || kill -s KILL -- \"-$0\"";

pub(super) struct GroupGuard {
    shell: Child,
}

impl GroupGuard {
    /// Starts a guard for the group, which must exist.
    pub(super) fn watch_group(group: u32) -> Result<Self> {
        let mut shell =
            build_command(&Invocation::new("sh", &["-c", GUARD_SCRIPT, &group.to_string()]));
        shell.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null()).process_group(0);
        let shell = shell.spawn().context("cannot start the guard of a process group")?;
        Ok(Self { shell })
    }

    /// Ends the guard, because the group has ended by itself.
    pub(super) fn stand_down(mut self) -> Result<()> {
        if let Some(mut pipe) = self.shell.stdin.take() {
            pipe.write_all(b"done\n").context("the guard of a process group is gone")?;
        }
        self.wait_for_shell()
    }

    /// Kills the group.
    pub(super) fn kill_group(mut self) -> Result<()> {
        drop(self.shell.stdin.take());
        self.wait_for_shell()
    }

    fn wait_for_shell(mut self) -> Result<()> {
        self.shell.wait().map(drop).context("cannot wait for the guard of a process group")
    }
}
