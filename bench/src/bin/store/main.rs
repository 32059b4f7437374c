//! Appends per second, latency, CPU and file growth of a store, compared with one fdatasync
//!
//! `--store sqlite|memory|postgres`, `--seconds N` per measurement, `--folder PATH` to measure
//! another disk. For PostgreSQL a private server is started there, and its CPU time is counted too.

mod append_load;
mod bench_args;
mod disk_floor;
mod file_growth;
mod latency_spread;
mod recorded_conversation;
mod tested_store;

use anyhow::Result;
use append_load::AppendLoad;
use bench_args::{StoreBenchArgs, StoreEngine};
use tested_store::TestedStore;
use windlass_bench::time_stats::load_average;

/// The worker that owns the lanes.
const WORKER: &str = "bench";

const CONVERSATIONS: [usize; 4] = [1, 8, 32, 128];

fn main() -> Result<()> {
    let arguments = StoreBenchArgs::parse()?;
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let folder = tempfile::tempdir_in(&arguments.folder)?;
    println!(
        "store: {}, cores: {}, load average: {}",
        arguments.engine,
        core_count(),
        load_average()
    );
    let floor = disk_floor::measure_disk_floor(folder.path())?;
    println!("floor: 4 KiB overwrite + fdatasync  {floor}\n");
    println!("{}", append_load::HEADING);
    let subject = TestedStore::new(arguments.engine, folder.path())?;
    for durability in subject.durabilities() {
        for conversations in CONVERSATIONS {
            let load = AppendLoad { conversations, durability, seconds: arguments.seconds };
            println!("{}", runtime.block_on(subject.measure(&load, folder.path()))?);
        }
    }
    if arguments.engine == StoreEngine::Sqlite {
        println!("\n{}", runtime.block_on(file_growth::measure_growth(folder.path()))?);
    }
    println!("load average afterwards: {}", load_average());
    Ok(())
}

fn core_count() -> usize {
    std::thread::available_parallelism().map_or(0, usize::from)
}
