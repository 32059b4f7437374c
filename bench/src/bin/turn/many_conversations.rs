//! Many concurrent conversations: five turns each, 200 ms to the first token.

use std::sync::Arc;

use anyhow::{Context, Result};
use windlass_bench::child_process::{ServerProcess, run_measurement};
use windlass_bench::read_job::FILE_BYTES;
use windlass_bench::time_stats;

use crate::loop_kind::LoopKind;

const NAMES: [&str; 5] = ["usual", "usual-h2", "bare", "pooled", "ours"];
const TURNS: usize = 5;
const WAIT_MS: u64 = 200;

/// Prints wall seconds, CPU milliseconds per conversation and peak kilobytes.
pub(crate) fn run_child(name: &str, url: &str, sessions: usize) -> Result<()> {
    let file = tempfile::NamedTempFile::new()?;
    std::fs::write(file.path(), "x".repeat(FILE_BYTES))?;
    let path: Arc<std::path::Path> = Arc::from(file.path());
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let contender = LoopKind::new(name, &format!("{url}/wait/{WAIT_MS}"))?;
    let idle = peak_kb();
    let (start, cpu) = (time_stats::current_time(), time_stats::cpu_time());
    runtime.block_on(async {
        let all = (0..sessions).map(|_| {
            let (contender, path) = (contender.clone(), Arc::clone(&path));
            tokio::spawn(async move { contender.converse(TURNS, &path).await })
        });
        for conversation in all.collect::<Vec<_>>() {
            conversation.await??;
        }
        anyhow::Ok(())
    })?;
    let wall = start.elapsed().as_secs_f64();
    let cpu = (time_stats::cpu_time() - cpu).as_secs_f64() * 1e3 / sessions as f64;
    println!("{wall} {cpu} {}", (peak_kb() - idle) as f64 / sessions as f64);
    Ok(())
}

pub(crate) fn report(server: &ServerProcess, sessions: usize) -> Result<()> {
    println!(
        "{sessions} conversations at once, {TURNS} turns, {WAIT_MS} ms to the first token (ideal 1.0 s):"
    );
    println!(
        "{:>10} {:>8} {:>14} {:>14} {:>12}",
        "", "wall s", "CPU ms each", "KB each", "connections"
    );
    for name in NAMES {
        server.connections()?;
        let figures = run_measurement(&["many", name, &server.url(name), &sessions.to_string()])?;
        let [wall, cpu, kb] = figures.as_slice() else {
            anyhow::bail!("{name} printed no figures")
        };
        let connections = server.connections().context("the server is gone")?;
        println!("{name:>10} {wall:>8.2} {cpu:>14.2} {kb:>14.1} {connections:>12}");
    }
    println!();
    Ok(())
}

/// Peak memory of this process.
fn peak_kb() -> u64 {
    time_stats::memory_kb("self", "VmHWM").unwrap_or_default()
}
