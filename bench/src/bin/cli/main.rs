//! The command line as a whole process: start-up time, cost of a turn, memory, binary size
//!
//! `windlass -p` with SQLite calls the scripted server over a real socket. Times are of whole
//! processes on a shared machine: compare within one run, and trust the minimum more than the
//! median.

mod measured_process;
mod parallel_reads;
mod process_stats;
mod scripted_server;
mod startup_time;
mod turn_cost;

use std::path::PathBuf;

use anyhow::{Context, Result, bail};
use windlass_bench::time_stats;

fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let binary = match arguments.as_slice() {
        [] => sibling_binary("windlass")?,
        [flag, path] if flag == "--bin" => PathBuf::from(path),
        other => bail!("`{}`: the only option is --bin FILE", other.join(" ")),
    };
    let size = std::fs::metadata(&binary)
        .with_context(|| format!("{} is not there; `cargo xtask bench cli`", binary.display()))?
        .len();
    println!("load average: {}", time_stats::load_average());
    println!("binary: {:.1} MiB", size as f64 / f64::from(1 << 20));
    startup_time::report(&binary)?;
    turn_cost::report(&binary)?;
    parallel_reads::report()?;
    println!("load average afterwards: {}", time_stats::load_average());
    Ok(())
}

/// A binary of the same build.
fn sibling_binary(name: &str) -> Result<PathBuf> {
    let own = std::env::current_exe()?;
    Ok(own.parent().context("no folder")?.join(name))
}
