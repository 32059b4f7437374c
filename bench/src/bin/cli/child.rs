//! One run of the binary, measured.

use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Instant;

use anyhow::{Result, bail};

use crate::time;

/// A running process.
pub(crate) struct Running {
    child: Child,
    started: Instant,
    cpu_before: f64,
}

/// What it took.
pub(crate) struct Ran {
    pub(crate) wall_ms: f64,
    pub(crate) cpu_ms: f64,
    pub(crate) peak_kb: u64,
}

#[expect(clippy::disallowed_methods, reason = "the benchmark starts real processes")]
pub(crate) fn start(binary: &Path, place: &Path, address: &str, more: &[&str]) -> Result<Running> {
    let cpu_before = time::cpu_of_children_ms();
    let started = time::now();
    let child = Command::new(binary)
        .args(["-p", "go", "--model", "claude-sonnet-4-5", "--output-format", "json"])
        .args(["--store", "bench.db"])
        .args(more)
        .current_dir(place)
        .env("ANTHROPIC_BASE_URL", address)
        .env("ANTHROPIC_API_KEY", "none")
        .env("WINDLASS_HOME", place.join("home"))
        .env("HOME", place.join("user"))
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()?;
    Ok(Running { child, started, cpu_before })
}

impl Running {
    /// Waits for its end.
    pub(crate) fn finish(mut self) -> Result<Ran> {
        let status = format!("/proc/{}/status", self.child.id());
        let mut peak_kb = 0;
        let ended = loop {
            peak_kb = time::peak_kb(&status).unwrap_or(peak_kb);
            if let Some(ended) = self.child.try_wait()? {
                break ended;
            }
            time::breathe();
        };
        if !ended.success() {
            bail!("the binary ended with {ended}");
        }
        let wall_ms = self.started.elapsed().as_secs_f64() * 1e3;
        Ok(Ran { wall_ms, cpu_ms: time::cpu_of_children_ms() - self.cpu_before, peak_kb })
    }
}
