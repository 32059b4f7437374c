//! One measured run of the binary.

use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Instant;

use anyhow::{Result, bail};
use windlass_bench::time_stats;

use crate::process_stats;

/// A running process of the binary.
pub(crate) struct RunningProcess {
    child: Child,
    started: Instant,
    cpu_before: f64,
}

/// Time and memory that a process used.
pub(crate) struct ProcessCost {
    pub(crate) wall_ms: f64,
    pub(crate) cpu_ms: f64,
    pub(crate) peak_kb: u64,
}

#[expect(clippy::disallowed_methods, reason = "the benchmark starts real processes")]
pub(crate) fn start_process(
    binary: &Path,
    place: &Path,
    address: &str,
    more: &[&str],
) -> Result<RunningProcess> {
    let cpu_before = process_stats::children_cpu_ms();
    let started = time_stats::current_time();
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
    Ok(RunningProcess { child, started, cpu_before })
}

impl RunningProcess {
    /// Waits until the process exits.
    pub(crate) fn finish(mut self) -> Result<ProcessCost> {
        let process = self.child.id().to_string();
        let mut peak_kb = 0;
        let ended = loop {
            peak_kb = time_stats::memory_kb(&process, "VmHWM").unwrap_or(peak_kb);
            if let Some(ended) = self.child.try_wait()? {
                break ended;
            }
            process_stats::short_pause();
        };
        if !ended.success() {
            bail!("the binary ended with {ended}");
        }
        let wall_ms = self.started.elapsed().as_secs_f64() * 1e3;
        Ok(ProcessCost {
            wall_ms,
            cpu_ms: process_stats::children_cpu_ms() - self.cpu_before,
            peak_kb,
        })
    }
}
