//! The binary as people start it: time to the first request, a turn's cost, memory, size
//!
//! `windlass -p` with SQLite asks the scripted server over a real socket. Times are of whole
//! processes on a shared machine: compare within one run, and trust the least more than the middle.

mod child;
mod parallel;
mod server;
mod start;
mod time;
mod turns;

use std::path::PathBuf;

use anyhow::{Context, Result, bail};

fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let binary = match arguments.as_slice() {
        [] => beside("windlass")?,
        [flag, path] if flag == "--bin" => PathBuf::from(path),
        other => bail!("`{}`: the only option is --bin FILE", other.join(" ")),
    };
    let size = std::fs::metadata(&binary)
        .with_context(|| format!("{} is not there; `cargo xtask bench cli`", binary.display()))?
        .len();
    println!("load average: {}", time::load_average());
    println!("binary: {:.1} MiB", size as f64 / f64::from(1 << 20));
    start::report(&binary)?;
    turns::report(&binary)?;
    parallel::report()?;
    println!("load average afterwards: {}", time::load_average());
    Ok(())
}

/// A binary of the same build.
fn beside(name: &str) -> Result<PathBuf> {
    let own = std::env::current_exe()?;
    Ok(own.parent().context("no folder")?.join(name))
}
