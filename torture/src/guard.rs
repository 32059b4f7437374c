//! A second process of ours that outlives the first: when that ends in any way, Ctrl-C and SIGKILL
//! included, the kernel closes the pipe between them, and the guard ends whoever still works in the
//! campaign's folder.

use std::io::Read;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ExitCode, Stdio};

use anyhow::{Context, Result};
use rustix::process::Pid;

use crate::brood::Brood;
use crate::child::{self, bare};
use crate::processes::end_all_under;

/// The word that makes this program a guard. Not an option: people have no use for it.
const WORD: &str = "--guard";

/// A guard over a folder. Dropping it makes it strike.
#[derive(Debug)]
pub(crate) struct Guard<'b> {
    process: Child,
    pid: Pid,
    brood: &'b Brood,
}

impl<'b> Guard<'b> {
    pub(crate) fn over(brood: &'b Brood, folder: &Path) -> Result<Self> {
        let ourselves = std::env::current_exe().context("where is this program?")?;
        let mut command = bare(&ourselves);
        command.arg(WORD).arg(folder).process_group(0);
        command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
        brood.add(|| {
            let process = command.spawn().context("the guard cannot be started")?;
            let pid = child::pid(&process)?;
            Ok((pid, Self { process, pid, brood }))
        })
    }
}

impl Drop for Guard<'_> {
    fn drop(&mut self) {
        drop(self.process.stdin.take());
        let _ = self.process.wait();
        self.brood.remove(self.pid);
    }
}

/// The folder to guard, if this process is one.
pub(crate) fn asked_for() -> Option<PathBuf> {
    let mut words = std::env::args_os().skip(1);
    (words.next()? == WORD).then(|| words.next().map(PathBuf::from)).flatten()
}

/// Waits for the end of the one who asked, then ends whoever works in `folder`.
pub(crate) fn stand(folder: &Path) -> ExitCode {
    // Nothing is ever sent: this returns when the other end is closed.
    let _ = std::io::stdin().read_to_end(&mut Vec::new());
    end_all_under(folder);
    ExitCode::SUCCESS
}
