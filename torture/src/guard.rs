//! A second process of ours that outlives the first: when that ends in any way, Ctrl-C and SIGKILL
//! included, the kernel closes the pipe between them, and the guard ends whoever still works in the
//! campaign's folder.

use std::io::Read;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ExitCode, Stdio};

use anyhow::{Context, Result};

use crate::child::bare;
use crate::processes::end_all_under;

/// The word that makes this program a guard. Not an option: people have no use for it.
const WORD: &str = "--guard";

/// A guard over a folder. Dropping it makes it strike.
#[derive(Debug)]
pub(crate) struct Guard {
    process: Child,
}

impl Guard {
    pub(crate) fn over(folder: &Path) -> Result<Self> {
        let ourselves = std::env::current_exe().context("where is this program?")?;
        let mut command = bare(&ourselves);
        command.arg(WORD).arg(folder).process_group(0);
        command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
        let process = command.spawn().context("the guard cannot be started")?;
        Ok(Self { process })
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        drop(self.process.stdin.take());
        let _ = self.process.wait();
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
