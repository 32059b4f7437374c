//! The guard: a shell that leads a command's process group and ends it when we stop holding its
//! hand.
//!
//! It waits on a pipe whose other end only we hold. Whatever way we go, the kernel closes it. The
//! guard is started first and the command joins its group, so the group's number cannot be given
//! to somebody else while the guard lives, and the guard needs to be told nothing.

use std::io;
use std::path::Path;
use std::process::Stdio;

use rustix::process::{Pid, Signal, kill_process_group};
use tokio::process::Child;

use super::environment::PATH;
use super::survivors::MARK;
use crate::limits::GRACE_MS;

/// Signals meant for the command's group must not end the guard before its work is done. The
/// number in `$$` is both the guard and the group. `kill` is the shell's own: not every machine
/// has the program.
const SCRIPT: &str = r#"
trap '' HUP INT QUIT TERM USR1 USR2 ALRM TSTP TTIN TTOU
read -r word
kill -s TERM 0
sleep "$1"
for place in $(grep -lasF "$2=$$." /proc/[0-9]*/environ); do
  place=${place#/proc/}
  kill -s KILL "${place%/environ}"
done
kill -s KILL 0
"#;

#[derive(Debug)]
pub(super) struct Guard {
    shell: Child,
    group: Pid,
    duty: Duty,
}

#[derive(Debug, PartialEq, Eq)]
enum Duty {
    Watching,
    Over,
}

impl Guard {
    /// Starts a guard over a group that has no other member yet.
    pub(super) fn start() -> io::Result<Self> {
        let grace = format!("{}.{:03}", GRACE_MS / 1_000, GRACE_MS % 1_000);
        let mut shell = super::command("/bin/sh", Path::new("/"));
        shell.args(["-c", SCRIPT, "windlass-guard", &grace, MARK]).env("PATH", PATH);
        shell.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null()).process_group(0);
        let shell = shell.spawn()?;
        let group = pid_of(&shell).ok_or_else(|| io::Error::other("the guard ended at once"))?;
        Ok(Self { shell, group, duty: Duty::Watching })
    }

    /// The group it leads, which is also its own number.
    pub(super) fn group(&self) -> Pid {
        self.group
    }

    /// Sends a signal to the whole group, the guard included; it heeds nothing but KILL.
    pub(super) fn signal(&self, signal: Signal) {
        // A group that is gone is what was wanted.
        kill_process_group(self.group, signal).unwrap_or_default();
    }

    /// Ends the guard and whatever is left of its group.
    pub(super) async fn dismiss(&mut self) {
        if self.duty == Duty::Watching {
            self.signal(Signal::KILL);
            self.duty = Duty::Over;
            drop(self.shell.wait().await);
        }
    }
}

impl Drop for Guard {
    /// Closing the pipe is enough, unless the command has killed its guard.
    fn drop(&mut self) {
        let is_gone = !matches!(self.shell.try_wait(), Ok(None));
        if self.duty == Duty::Watching && is_gone {
            self.signal(Signal::KILL);
        }
    }
}

fn pid_of(child: &Child) -> Option<Pid> {
    Pid::from_raw(i32::try_from(child.id()?).ok()?)
}
