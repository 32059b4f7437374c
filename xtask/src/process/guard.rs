//! A shell that kills a process group when we stop holding its hand.
//!
//! A part of the check runs in its own process group, so that all of it can be ended at once. The
//! price is that Ctrl-C no longer reaches it, and a SIGKILL of ours never did. The guard waits on
//! a pipe whose other end only we hold: whatever way we go, the kernel closes it, and the group
//! dies with us. Running over budget is the same path, taken on purpose.
//!
//! A grandchild that moved itself to another group is out of reach; that one is its parent's.

use std::io::Write;
use std::os::unix::process::CommandExt;
use std::process::{Child, Stdio};

use anyhow::{Context, Result};

use crate::invocation::Invocation;

use super::command;

/// `read` fails at end of file. The signal is sent by the shell itself: not every machine has a
/// kill program.
const SCRIPT: &str = "read -r word || kill -s KILL -- \"-$0\"";

pub(super) struct Guard {
    shell: Child,
}

impl Guard {
    /// Watches over the group, which must exist.
    pub(super) fn over(group: u32) -> Result<Self> {
        let mut shell = command(&Invocation::new("sh", &["-c", SCRIPT, &group.to_string()]));
        shell.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null()).process_group(0);
        let shell = shell.spawn().context("the guard of a process group could not be started")?;
        Ok(Self { shell })
    }

    /// The group ended by itself.
    pub(super) fn stand_down(mut self) -> Result<()> {
        if let Some(mut pipe) = self.shell.stdin.take() {
            pipe.write_all(b"done\n").context("the guard of a process group is gone")?;
        }
        self.ended()
    }

    /// Kills the group.
    pub(super) fn strike(mut self) -> Result<()> {
        drop(self.shell.stdin.take());
        self.ended()
    }

    fn ended(mut self) -> Result<()> {
        self.shell.wait().map(drop).context("the guard of a process group cannot be awaited")
    }
}
