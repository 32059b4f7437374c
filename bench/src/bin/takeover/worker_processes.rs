//! Real worker processes, which are killed when dropped.

use std::path::Path;
use std::process::{Child, Command, Stdio};

use anyhow::{Context, Result, ensure};
use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;

/// A model that takes longer than the whole benchmark.
const SCRIPT: &str = "when any\n  delay 10m\n  say \"done\"\n";

/// Worker processes in a folder of their own.
pub(crate) struct WorkerFleet {
    running: Vec<WorkerProcess>,
    _folder: TempDir,
}

/// One worker process, killed when dropped.
pub(crate) struct WorkerProcess {
    process: Child,
}

impl WorkerFleet {
    pub(crate) fn start(binary: &Path, url: &str, number: usize) -> Result<Self> {
        let folder = tempfile::tempdir()?;
        std::fs::write(folder.path().join("slow.script"), SCRIPT)?;
        let running = (0..number).map(|_| WorkerProcess::start(binary, url, folder.path()));
        Ok(Self { running: running.collect::<Result<_>>()?, _folder: folder })
    }

    /// The next worker that will be stopped.
    pub(crate) fn take_next(&mut self) -> Option<WorkerProcess> {
        self.running.pop()
    }
}

impl WorkerProcess {
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
            .with_context(|| format!("cannot start {}", binary.display()))?;
        Ok(Self { process })
    }

    pub(crate) fn pid(&self) -> i32 {
        Pid::from_child(&self.process).as_raw_nonzero().get()
    }

    pub(crate) fn signal(&self, signal: Signal) -> Result<()> {
        Ok(kill_process(Pid::from_child(&self.process), signal)?)
    }

    /// Waits until the worker exits. One that was told to end must have exited with success.
    pub(crate) fn wait_for_exit(mut self, after: Signal) -> Result<()> {
        if after == Signal::TERM {
            let ended = self.process.wait()?;
            ensure!(ended.success(), "a worker that was told to end said {ended}");
        }
        Ok(())
    }
}

impl Drop for WorkerProcess {
    fn drop(&mut self) {
        // It may have exited already.
        _ = self.process.kill();
        _ = self.process.wait();
    }
}
