//! 1,000 and 10,000 conversations in one process
//!
//! Each has a prompt, five rounds with a tool, and an answer; the model takes 200 ms to its first
//! token. The ideal is six such waits: 1.2 s.

mod parked_lanes;
mod process_stats;
mod slow_model;

use std::process::Command;
use std::sync::Arc;
use std::time::Instant;

use anyhow::{Result, bail, ensure};
use windlass::memory::MemoryStore;
use windlass::ports::Store;
use windlass::sqlite::SqliteStore;
use windlass::{RunOutcome, Windlass};
use windlass_bench::time_stats;

use slow_model::SlowModel;

/// Number of rounds with a tool.
const ROUNDS: u32 = 5;

fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match words.as_slice() {
        [] => run_all_sizes(&[1_000, 10_000], ParkedPart::Too),
        ["--conversations", number] => run_all_sizes(&[number.parse()?], ParkedPart::Not),
        ["--parked"] => run_all_sizes(&[], ParkedPart::Too),
        ["--one", store, number] => measure_store(store, number.parse()?),
        other => bail!("`{}`: say --conversations NUMBER, or --parked", other.join(" ")),
    }
}

/// Whether parked conversations are measured.
#[derive(PartialEq, Eq)]
enum ParkedPart {
    Too,
    Not,
}

fn run_all_sizes(sizes: &[usize], parked: ParkedPart) -> Result<()> {
    println!("load average: {}", time_stats::load_average());
    println!(
        "{:>8} {:>8} {:>9} {:>14} {:>14}",
        "store", "number", "wall s", "CPU ms each", "KiB each"
    );
    for size in sizes {
        run_in_process("memory", *size)?;
        run_in_process("sqlite", *size)?;
    }
    if parked == ParkedPart::Too {
        let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
        let folder = tempfile::tempdir()?;
        runtime.block_on(parked_lanes::measure_idle_worker(folder.path()))?;
    }
    println!("load average afterwards: {}", time_stats::load_average());
    Ok(())
}

/// Measures in a separate process: memory that one measurement leaves is not counted for another.
#[expect(clippy::disallowed_methods, reason = "a measurement has a process of its own")]
fn run_in_process(store: &str, size: usize) -> Result<()> {
    let mut command = Command::new(std::env::current_exe()?);
    let ended = command.args(["--one", store, &size.to_string()]).status()?;
    ensure!(ended.success(), "{store} with {size}: {ended}");
    Ok(())
}

/// Measures one store: SQLite keeps its data on the disk, the memory store in the process.
fn measure_store(name: &str, size: usize) -> Result<()> {
    let folder = tempfile::tempdir()?;
    let store: Arc<dyn Store> = match name {
        "memory" => Arc::new(MemoryStore::default()),
        "sqlite" => Arc::new(SqliteStore::open(folder.path().join("scale.db"))?),
        other => bail!("{other} is no store that is measured here"),
    };
    measure_conversations(name, store, size)
}

fn measure_conversations(name: &str, store: Arc<dyn Store>, size: usize) -> Result<()> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let (cpu, memory) = (process_stats::cpu_ms(), process_stats::resident_kb());
    let begin = time_stats::current_time();
    let (wall, peak) = runtime.block_on(run_conversations(store, size, begin))?;
    let each = |total: f64| total / size as f64;
    println!(
        "{name:>8} {size:>8} {wall:>9.2} {:>14.2} {:>14.1}",
        each(process_stats::cpu_ms() - cpu),
        each(peak.saturating_sub(memory) as f64)
    );
    Ok(())
}

/// Runs all conversations; returns the seconds it took and the memory while all were running.
async fn run_conversations(
    store: Arc<dyn Store>,
    size: usize,
    begin: Instant,
) -> Result<(f64, u64)> {
    let windlass = Windlass::builder()
        .model(SlowModel { rounds: ROUNDS })
        .shared_store(store)
        .tool(slow_model::LookTool)
        .allow_by_default()
        .start()
        .await?;
    let mut runs = Vec::with_capacity(size);
    for number in 0..size {
        let session = windlass.session(format!("conversation:{number}"));
        runs.push(tokio::spawn(async move { session.send("go").await?.wait_for_end().await }));
    }
    let watched = tokio::spawn(process_stats::track_peak_memory());
    for run in runs {
        match run.await?? {
            RunOutcome::Finished(ended) if ended.counters.tool_rounds == ROUNDS => {}
            other => bail!("a run ended otherwise: {other:?}"),
        }
    }
    let wall = begin.elapsed().as_secs_f64();
    watched.abort();
    Ok((wall, process_stats::peak_kb()))
}
