//! A thousand and ten thousand conversations in one process
//!
//! Each has a prompt, five rounds with a tool, and an answer; the model takes 200 ms to its first
//! token. The ideal is six such waits: 1.2 s.

mod model;
mod parked;
mod place;

use std::process::Command;
use std::sync::Arc;
use std::time::Instant;

use anyhow::{Result, bail, ensure};
use windlass::memory::MemoryStore;
use windlass::ports::Store;
use windlass::sqlite::SqliteStore;
use windlass::{End, Windlass};

use model::Slow;

/// Rounds with a tool.
const ROUNDS: u32 = 5;

fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match words.as_slice() {
        [] => told(&[1_000, 10_000], Parked::Too),
        ["--conversations", number] => told(&[number.parse()?], Parked::Not),
        ["--parked"] => told(&[], Parked::Too),
        ["--one", store, number] => one(store, number.parse()?),
        other => bail!("`{}`: say --conversations NUMBER, or --parked", other.join(" ")),
    }
}

/// Whether conversations are looked at that only wait.
#[derive(PartialEq, Eq)]
enum Parked {
    Too,
    Not,
}

fn told(sizes: &[usize], parked: Parked) -> Result<()> {
    println!("load average: {}", place::load_average());
    println!(
        "{:>8} {:>8} {:>9} {:>14} {:>14}",
        "store", "number", "wall s", "CPU ms each", "KiB each"
    );
    for size in sizes {
        alone("memory", *size)?;
        alone("sqlite", *size)?;
    }
    if parked == Parked::Too {
        let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
        let folder = tempfile::tempdir()?;
        runtime.block_on(parked::measure(folder.path()))?;
    }
    println!("load average afterwards: {}", place::load_average());
    Ok(())
}

/// Each in a process of its own: what one of them leaves in memory is not counted for another.
#[expect(clippy::disallowed_methods, reason = "a measurement has a process of its own")]
fn alone(store: &str, size: usize) -> Result<()> {
    let mut command = Command::new(std::env::current_exe()?);
    let ended = command.args(["--one", store, &size.to_string()]).status()?;
    ensure!(ended.success(), "{store} with {size}: {ended}");
    Ok(())
}

/// The store's own copies are in memory with the one, and on the disk with the other.
fn one(name: &str, size: usize) -> Result<()> {
    let folder = tempfile::tempdir()?;
    let store: Arc<dyn Store> = match name {
        "memory" => Arc::new(MemoryStore::default()),
        "sqlite" => Arc::new(SqliteStore::open(folder.path().join("scale.db"))?),
        other => bail!("{other} is no store that is measured here"),
    };
    measure(name, store, size)
}

fn measure(name: &str, store: Arc<dyn Store>, size: usize) -> Result<()> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let (cpu, memory) = (place::cpu_ms(), place::resident_kb());
    let begin = place::now();
    let (wall, peak) = runtime.block_on(all(store, size, begin))?;
    let each = |total: f64| total / size as f64;
    println!(
        "{name:>8} {size:>8} {wall:>9.2} {:>14.2} {:>14.1}",
        each(place::cpu_ms() - cpu),
        each(peak.saturating_sub(memory) as f64)
    );
    Ok(())
}

/// Runs all of them; gives the seconds it took and the memory when all were under way.
async fn all(store: Arc<dyn Store>, size: usize, begin: Instant) -> Result<(f64, u64)> {
    let windlass = Windlass::builder()
        .model(Slow { rounds: ROUNDS })
        .shared_store(store)
        .tool(model::Look)
        .allow_everything_else()
        .start()
        .await?;
    let mut runs = Vec::with_capacity(size);
    for number in 0..size {
        let session = windlass.session(format!("conversation:{number}"));
        runs.push(tokio::spawn(async move { session.send("go").await?.end().await }));
    }
    let watched = tokio::spawn(place::watch_memory());
    for run in runs {
        match run.await?? {
            End::Finished(ended) if ended.counters.tool_rounds == ROUNDS => {}
            other => bail!("a run ended otherwise: {other:?}"),
        }
    }
    let wall = begin.elapsed().as_secs_f64();
    watched.abort();
    Ok((wall, place::peak_kb()))
}
