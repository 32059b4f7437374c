//! The guard: a shell that leads a command's process group and ends it when our end of its pipe
//! closes.
//!
//! It waits on a pipe whose other end only we hold. However this process ends, the kernel closes
//! it. The guard is started first and the command joins its group, so the group id cannot be reused
//! while the guard lives, and the guard needs no further information.

use std::io;
use std::path::Path;
use std::process::Stdio;

use rustix::process::{Pid, Signal, kill_process_group};
use tokio::process::Child;

use super::environment::DEFAULT_PATH;
use super::group_processes::GROUP_VARIABLE;
use crate::limits::TERMINATION_GRACE_MS;

/// The guard's script. Signals for the command's group must not end the guard before its work is
/// done. The number in `$$` is both the guard and the group. `kill` is the shell's builtin: not
/// every machine has the program.
const GUARD_SCRIPT: &str = r#"
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
pub(super) struct ProcessGuard {
    shell: Child,
    group: Pid,
    is_dismissed: bool,
}

impl ProcessGuard {
    /// Starts a guard over a group that has no other member yet.
    pub(super) fn start() -> io::Result<Self> {
        let grace = format!("{}.{:03}", TERMINATION_GRACE_MS / 1_000, TERMINATION_GRACE_MS % 1_000);
        let mut shell = super::new_command("/bin/sh", Path::new("/"));
        shell
            .args(["-c", GUARD_SCRIPT, "windlass-guard", &grace, GROUP_VARIABLE])
            .env("PATH", DEFAULT_PATH);
        shell.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null()).process_group(0);
        let shell = shell.spawn()?;
        let group = pid_of(&shell).ok_or_else(|| io::Error::other("the guard ended at once"))?;
        Ok(Self { shell, group, is_dismissed: false })
    }

    /// Returns the group it leads, which is also its own process id.
    pub(super) fn group(&self) -> Pid {
        self.group
    }

    /// Sends a signal to the whole group, the guard included; the guard ignores everything but
    /// SIGKILL.
    pub(super) fn send_signal(&self, signal: Signal) {
        // A group that has ended already is fine.
        kill_process_group(self.group, signal).unwrap_or_default();
    }

    /// Ends the guard and what is left of its group.
    pub(super) async fn dismiss(&mut self) {
        if !self.is_dismissed {
            self.send_signal(Signal::KILL);
            self.is_dismissed = true;
            drop(self.shell.wait().await);
        }
    }
}

impl Drop for ProcessGuard {
    /// Closing the pipe is enough, unless the command has killed its guard.
    fn drop(&mut self) {
        let is_gone = !matches!(self.shell.try_wait(), Ok(None));
        if !self.is_dismissed && is_gone {
            self.send_signal(Signal::KILL);
        }
    }
}

fn pid_of(child: &Child) -> Option<Pid> {
    Pid::from_raw(i32::try_from(child.id()?).ok()?)
}
