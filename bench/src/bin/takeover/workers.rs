//! Real worker processes, and an end for each of them whatever happens.

use std::path::Path;
use std::process::{Child, Command, Stdio};

use anyhow::{Context, Result, ensure};
use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;

/// A model that takes longer than anything here.
const SCRIPT: &str = "when any\n  delay 10m\n  say \"done\"\n";

/// Workers in a folder of their own.
pub(crate) struct Workers {
    running: Vec<Worker>,
    _folder: TempDir,
}

/// One of them. Dropping it kills it.
pub(crate) struct Worker {
    process: Child,
}

impl Workers {
    pub(crate) fn start(binary: &Path, url: &str, number: usize) -> Result<Self> {
        let folder = tempfile::tempdir()?;
        std::fs::write(folder.path().join("slow.script"), SCRIPT)?;
        let running = (0..number).map(|_| Worker::start(binary, url, folder.path()));
        Ok(Self { running: running.collect::<Result<_>>()?, _folder: folder })
    }

    /// The next to be struck.
    pub(crate) fn next(&mut self) -> Option<Worker> {
        self.running.pop()
    }
}

impl Worker {
    #[expect(clippy::disallowed_methods, reason = "the benchmark runs the real binary")]
    fn start(binary: &Path, url: &str, folder: &Path) -> Result<Self> {
        let process = Command::new(binary)
            .args(["worker", "--script", "slow.script", "--store", url])
            .current_dir(folder)
            .env("WINDLASS_HOME", folder.join("home"))
            .env("HOME", folder.join("user"))
            .stdin(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .with_context(|| format!("{} cannot be started", binary.display()))?;
        Ok(Self { process })
    }

    pub(crate) fn pid(&self) -> i32 {
        Pid::from_child(&self.process).as_raw_nonzero().get()
    }

    pub(crate) fn signal(&self, signal: Signal) -> Result<()> {
        Ok(kill_process(Pid::from_child(&self.process), signal)?)
    }

    /// Sees it off. One that was told to end must have ended well.
    pub(crate) fn end(mut self, after: Signal) -> Result<()> {
        if after == Signal::TERM {
            let ended = self.process.wait()?;
            ensure!(ended.success(), "a worker that was told to end said {ended}");
        }
        Ok(())
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        // One that has ended already is as good.
        _ = self.process.kill();
        _ = self.process.wait();
    }
}
