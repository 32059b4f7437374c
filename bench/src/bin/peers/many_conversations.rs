//! Many conversations at once: five turns each, 200 ms to the first token.

use std::path::Path;
use std::sync::Arc;

use anyhow::{Context, Result, bail};
use windlass_bench::child_process::{ServerProcess, run_measurement};
use windlass_bench::read_job::FILE_BYTES;
use windlass_bench::time_stats::{self, median};

use crate::contender::{Contender, NAMES};

const TURNS: usize = 5;
const WAIT_MS: u64 = 200;
const LAPS: usize = 3;

/// Wall seconds, CPU milliseconds per conversation, and peak megabytes of the process.
type Figures = [f64; 3];

/// Prints the figures of one contender in this process.
pub(crate) fn run_child(name: &str, url: &str, conversations: usize) -> Result<()> {
    let folder = tempfile::tempdir()?;
    let file = tempfile::NamedTempFile::new()?;
    std::fs::write(file.path(), "x".repeat(FILE_BYTES))?;
    let path: Arc<Path> = Arc::from(file.path());
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let url = format!("{url}/wait/{WAIT_MS}");
    let contender = runtime.block_on(Contender::new(name, &url, TURNS, folder.path()))?;
    let (start, cpu) = (time_stats::current_time(), time_stats::cpu_time());
    runtime.block_on(async {
        let all = (0..conversations).map(|_| {
            let (contender, path) = (contender.clone(), Arc::clone(&path));
            tokio::spawn(async move { contender.converse(TURNS, &path).await })
        });
        for conversation in all.collect::<Vec<_>>() {
            conversation.await??;
        }
        anyhow::Ok(())
    })?;
    let wall = start.elapsed().as_secs_f64();
    let cpu = (time_stats::cpu_time() - cpu).as_secs_f64() * 1e3 / conversations as f64;
    let peak = time_stats::memory_kb("self", "VmHWM").unwrap_or_default() as f64 / 1024.0;
    println!("{wall} {cpu} {peak}");
    Ok(())
}

pub(crate) fn report(server: &ServerProcess, conversations: usize) -> Result<()> {
    println!(
        "{conversations} conversations at once, {TURNS} turns, {WAIT_MS} ms to the first token, ideal 1.2 s \
         ({LAPS} laps, medians; ratios of one lap to `usual`):"
    );
    println!(
        "{:>8} {:>8} {:>12} {:>9} {:>11} {:>10} {:>13}",
        "", "wall s", "CPU ms each", "peak MB", "wall ratio", "CPU ratio", "memory ratio"
    );
    let mut all: Vec<Vec<Figures>> = NAMES.iter().map(|_| Vec::new()).collect();
    for _ in 0..LAPS {
        for (name, laps) in NAMES.iter().zip(&mut all) {
            laps.push(measure(server, name, conversations)?);
        }
    }
    let floor = all.first().context("no contender")?.clone();
    for (name, laps) in NAMES.iter().zip(&all) {
        let [wall, cpu, peak] = [0, 1, 2].map(|figure| median(column(laps, figure)));
        let [wall_ratio, cpu_ratio, peak_ratio] = [0, 1, 2].map(|figure| {
            let both = column(laps, figure).into_iter().zip(column(&floor, figure));
            median(both.map(|(mine, its)| mine / its).collect())
        });
        println!(
            "{name:>8} {wall:>8.2} {cpu:>12.2} {peak:>9.1} {wall_ratio:>11.2} {cpu_ratio:>10.2} {peak_ratio:>13.2}"
        );
    }
    println!();
    Ok(())
}

fn measure(server: &ServerProcess, name: &str, conversations: usize) -> Result<Figures> {
    let arguments = ["many", name, &server.url(name), &conversations.to_string()];
    let figures = run_measurement(&arguments)?;
    match figures.as_slice() {
        [wall, cpu, peak] => Ok([*wall, *cpu, *peak]),
        _ => bail!("{name} printed no figures"),
    }
}

fn column(laps: &[Figures], figure: usize) -> Vec<f64> {
    laps.iter().filter_map(|lap| lap.get(figure).copied()).collect()
}
