//! Guard process: when the campaign ends in any way, Ctrl-C and SIGKILL included, the kernel closes
//! the pipe between them, and the guard kills every process that still works in the campaign's
//! folder.

use std::io::Read;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ExitCode, Stdio};

use anyhow::{Context, Result};
use rustix::process::Pid;

use crate::process::child::{self, bare_command};
use crate::process::child_registry::ChildRegistry;
use crate::process::process_table::kill_all_under;

/// The argument that makes this program a guard. Not a documented option: it is for internal use.
const GUARD_ARGUMENT: &str = "--guard";

/// A guard of a folder; dropping it kills the processes in the folder.
#[derive(Debug)]
pub(crate) struct FolderGuard<'b> {
    process: Child,
    pid: Pid,
    registry: &'b ChildRegistry,
}

impl<'b> FolderGuard<'b> {
    pub(crate) fn start(registry: &'b ChildRegistry, folder: &Path) -> Result<Self> {
        let ourselves = std::env::current_exe().context("cannot find the path of this program")?;
        let mut command = bare_command(&ourselves);
        command.arg(GUARD_ARGUMENT).arg(folder).process_group(0);
        command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
        registry.start_child(|| {
            let process = command.spawn().context("cannot start the guard")?;
            let pid = child::pid_of(&process)?;
            Ok((pid, Self { process, pid, registry }))
        })
    }
}

impl Drop for FolderGuard<'_> {
    fn drop(&mut self) {
        drop(self.process.stdin.take());
        let _ = self.process.wait();
        self.registry.remove(self.pid);
    }
}

/// The folder to guard, if this process is a guard.
pub(crate) fn guarded_folder() -> Option<PathBuf> {
    let mut words = std::env::args_os().skip(1);
    (words.next()? == GUARD_ARGUMENT).then(|| words.next().map(PathBuf::from)).flatten()
}

/// Waits for the end of the campaign, then kills every process that works in `folder`.
pub(crate) fn run_guard(folder: &Path) -> ExitCode {
    // Nothing is ever sent: this returns when the other end is closed.
    let _ = std::io::stdin().read_to_end(&mut Vec::new());
    kill_all_under(folder);
    ExitCode::SUCCESS
}
