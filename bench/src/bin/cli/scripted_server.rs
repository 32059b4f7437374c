//! The scripted server, as a process of the same binary.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use windlass_bench::time_stats;

/// A running server, ended when dropped.
pub(crate) struct ScriptedServer {
    child: Child,
    address: String,
    requests: Receiver<Instant>,
}

impl ScriptedServer {
    #[expect(clippy::disallowed_methods, reason = "the benchmark starts real processes")]
    pub(crate) fn start(binary: &Path, place: &Path, script: &str) -> Result<Self> {
        let file = tempfile::Builder::new().suffix(".script").tempfile_in(place)?;
        std::fs::write(file.path(), script)?;
        let (_, path) = file.keep()?;
        let mut child = Command::new(binary)
            .args(["scripted", "--script"])
            .arg(path)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .context("the scripted server did not start")?;
        let out = child.stdout.take().context("no output")?;
        let mut line = String::new();
        BufReader::new(out).read_line(&mut line)?;
        let address = line.trim().rsplit(' ').next().unwrap_or_default().to_owned();
        let (sender, requests) = channel();
        let err = BufReader::new(child.stderr.take().context("no error stream")?);
        std::thread::spawn(move || {
            for _ in err.lines().map_while(Result::ok) {
                if sender.send(time_stats::current_time()).is_err() {
                    return;
                }
            }
        });
        Ok(Self { child, address, requests })
    }

    pub(crate) fn address(&self) -> &str {
        &self.address
    }

    /// Waits for the next request; returns when it was answered.
    pub(crate) fn next_request(&mut self) -> Result<Instant> {
        self.requests.recv_timeout(Duration::from_secs(10)).context("no request came")
    }
}

impl Drop for ScriptedServer {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
