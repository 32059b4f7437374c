//! One conversation at a time: CPU and wall time of a turn.

use anyhow::{Context, Result};
use windlass_bench::child_process::ServerProcess;
use windlass_bench::read_job::{FILE_BYTES, TURNS};
use windlass_bench::time_stats::{self, median};

use crate::contender::{Contender, NAMES};

const LAPS: usize = 100;

/// Microseconds per turn of one contender, by lap.
#[derive(Default)]
struct LapTimes {
    wall: Vec<f64>,
    cpu: Vec<f64>,
}

pub(crate) fn report(server: &ServerProcess) -> Result<()> {
    let all = new_runtime()?.block_on(run_laps(server))?;
    println!(
        "one conversation of {TURNS} turns after another, {LAPS} laps (medians; ratios of one lap to `usual`):"
    );
    println!(
        "{:>8} {:>10} {:>13} {:>10} {:>10}",
        "", "turn µs", "CPU µs/turn", "CPU ratio", "wall ratio"
    );
    let floor = all.first().context("no contender")?;
    for (name, times) in NAMES.iter().zip(&all) {
        println!(
            "{name:>8} {:>10.0} {:>13.0} {:>10.2} {:>10.2}",
            median(times.wall.clone()),
            median(times.cpu.clone()),
            lap_ratio(&times.cpu, &floor.cpu),
            lap_ratio(&times.wall, &floor.wall),
        );
    }
    println!();
    Ok(())
}

/// Runs one contender alone, for a profile or for instruction counting.
pub(crate) fn run_alone(name: &str, url: &str, laps: usize) -> Result<()> {
    let folder = tempfile::tempdir()?;
    let file = tempfile::NamedTempFile::new()?;
    std::fs::write(file.path(), "x".repeat(FILE_BYTES))?;
    new_runtime()?.block_on(async {
        let contender = Contender::new(name, url, TURNS, folder.path()).await?;
        for _ in 0..laps {
            contender.converse(TURNS, file.path()).await?;
        }
        Ok(())
    })
}

fn new_runtime() -> Result<tokio::runtime::Runtime> {
    Ok(tokio::runtime::Builder::new_multi_thread().enable_all().build()?)
}

fn lap_ratio(mine: &[f64], its: &[f64]) -> f64 {
    median(mine.iter().zip(its).map(|(mine, its)| mine / its).collect())
}

/// Runs all laps. The first contender changes from lap to lap; the first lap warms up and is not
/// counted.
async fn run_laps(server: &ServerProcess) -> Result<Vec<LapTimes>> {
    let folder = tempfile::tempdir()?;
    let file = tempfile::NamedTempFile::new()?;
    std::fs::write(file.path(), "x".repeat(FILE_BYTES))?;
    let mut all = Vec::new();
    for name in NAMES {
        let contender = Contender::new(name, &server.url(name), TURNS, folder.path()).await?;
        all.push((contender, LapTimes::default()));
    }
    for lap in 0..=LAPS {
        let first = lap % all.len();
        let (behind, front) = all.split_at_mut(first);
        for (contender, times) in front.iter_mut().chain(behind) {
            let (start, cpu) = (time_stats::current_time(), time_stats::cpu_time());
            contender.converse(TURNS, file.path()).await?;
            let (wall, cpu) = (start.elapsed(), time_stats::cpu_time() - cpu);
            if lap > 0 {
                times.wall.push(wall.as_secs_f64() * 1e6 / TURNS as f64);
                times.cpu.push(cpu.as_secs_f64() * 1e6 / TURNS as f64);
            }
        }
    }
    Ok(all.into_iter().map(|(_, times)| times).collect())
}
