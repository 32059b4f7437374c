//! The binary as people start it: time to the first request, a turn's cost, memory, size
//!
//! `windlass -p` with SQLite asks the scripted server over a real socket. Times are of whole
//! processes on a shared machine: compare within one run.

mod child;
mod server;
mod time;

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use tempfile::TempDir;

use child::Ran;
use server::Server;

/// Turns of the long run.
const TURNS: usize = 20;

/// How often each figure is taken.
const REPEATS: usize = 15;

/// Reads that run side by side, and how long each takes.
const READS: usize = 6;
const READ_MS: u64 = 100;

fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let binary = match arguments.as_slice() {
        [] => beside()?,
        [flag, path] if flag == "--bin" => PathBuf::from(path),
        other => bail!("`{}`: the only option is --bin FILE", other.join(" ")),
    };
    let size = std::fs::metadata(&binary)
        .with_context(|| format!("{} is not built; `cargo build --release`", binary.display()))?
        .len();
    println!("load average: {}", time::load_average());
    println!("binary: {:.1} MiB", size as f64 / f64::from(1 << 20));
    first_request(&binary)?;
    turns(&binary)?;
    side_by_side(&binary)?;
    println!("load average afterwards: {}", time::load_average());
    Ok(())
}

/// The binary of the same build.
fn beside() -> Result<PathBuf> {
    let own = std::env::current_exe()?;
    Ok(own.parent().context("no folder")?.join("windlass"))
}

fn first_request(binary: &Path) -> Result<()> {
    let place = TempDir::new()?;
    let mut server = Server::start(binary, place.path(), "when any\n  say \"hi\"\n")?;
    let mut waits = Vec::new();
    let mut peaks = Vec::new();
    for _ in 0..REPEATS {
        let started = time::now();
        let child = child::start(binary, place.path(), server.address(), &[])?;
        waits.push(server.next_request()?.duration_since(started).as_secs_f64() * 1e3);
        peaks.push(child.finish()?.peak_kb as f64);
    }
    println!("start to first request: {:.1} ms (median of {REPEATS})", time::median(waits));
    println!("peak memory of one answer: {:.1} MiB", time::median(peaks) / 1024.0);
    Ok(())
}

fn turns(binary: &Path) -> Result<()> {
    let place = TempDir::new()?;
    std::fs::write(place.path().join("a.txt"), "something to read\n")?;
    let mut script = String::new();
    for turn in 1..=TURNS {
        script.push_str(&format!(
            "when ask {turn}\n  call Read {{\"file_path\": \"a.txt\", \"offset\": {turn}}}\n"
        ));
    }
    script.push_str("when any\n  say \"done\"\n");
    let server = Server::start(binary, place.path(), &script)?;
    let run = |script_of: &Server| -> Result<Ran> {
        child::start(binary, place.path(), script_of.address(), &["--set", "tool_rounds=50"])?
            .finish()
    };
    let one = Server::start(binary, place.path(), "when any\n  say \"done\"\n")?;
    let (mut walls, mut cpus, mut peaks) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..REPEATS {
        let (long, short) = (run(&server)?, run(&one)?);
        let per_turn = |long: f64, short: f64| (long - short) / TURNS as f64;
        walls.push(per_turn(long.wall_ms, short.wall_ms));
        cpus.push(per_turn(long.cpu_ms, short.cpu_ms));
        peaks.push(long.peak_kb as f64);
    }
    println!(
        "a turn with a tool: {:.2} ms wall, {:.2} ms CPU ({TURNS} turns, the answer alone taken off)",
        time::median(walls),
        time::median(cpus)
    );
    println!("peak memory of {TURNS} turns: {:.1} MiB", time::median(peaks) / 1024.0);
    Ok(())
}

fn side_by_side(binary: &Path) -> Result<()> {
    let place = TempDir::new()?;
    let calls = |count: usize| -> String {
        // Reads of a named pipe would block for ever; a read-only command that waits does not.
        let call = format!("  call Bash {{\"command\": \"sleep {}\"}}\n", READ_MS as f64 / 1e3);
        format!("when ask 1\n{}when any\n  say \"done\"\n", call.repeat(count))
    };
    let flags = ["--allowedTools", "Bash"];
    let time_of = |count: usize| -> Result<f64> {
        let server = Server::start(binary, place.path(), &calls(count))?;
        let mut walls = Vec::new();
        for _ in 0..5 {
            walls.push(
                child::start(binary, place.path(), server.address(), &flags)?.finish()?.wall_ms,
            );
        }
        Ok(time::median(walls))
    };
    let (none, many) = (time_of(0)?, time_of(READS)?);
    println!("{READS} commands of {READ_MS} ms in one reply: {:.0} ms", many - none);
    Ok(())
}
