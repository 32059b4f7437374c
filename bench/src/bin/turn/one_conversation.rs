//! One conversation at a time, the contenders alternating in one process: other load of the machine
//! affects all of them, so the ratios within a lap hold on a busy machine, too.

use anyhow::{Context, Result};
use windlass_bench::child_process::ServerProcess;
use windlass_bench::read_job::{FILE_BYTES, TURNS};
use windlass_bench::time_stats::{self, median};

use crate::loop_kind::LoopKind;

const NAMES: [&str; 4] = ["usual", "bare", "pooled", "ours"];
const LAPS: usize = 150;

/// Times of one contender, by lap, in microseconds per turn.
#[derive(Default)]
struct LapTimes {
    wall: Vec<f64>,
    cpu: Vec<f64>,
    connections: usize,
}

impl LapTimes {
    /// The median ratio of its CPU time to the other's in the same lap.
    fn cpu_ratio(&self, other: &Self) -> f64 {
        median(self.cpu.iter().zip(&other.cpu).map(|(mine, its)| mine / its).collect())
    }
}

pub(crate) fn report(server: &ServerProcess) -> Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let all = runtime.block_on(run_laps(server))?;
    println!(
        "one conversation of {TURNS} turns after another, {LAPS} laps in turn (medians; ratios are of one lap):"
    );
    println!(
        "{:>10} {:>10} {:>12} {:>14} {:>12} {:>12}",
        "", "turn µs", "CPU µs/turn", "CPU vs usual", "CPU vs bare", "connections"
    );
    let [usual, bare, ..] = &all;
    for (name, times) in NAMES.iter().zip(&all) {
        println!(
            "{name:>10} {:>10.0} {:>12.0} {:>14.2} {:>12.2} {:>12}",
            median(times.wall.clone()),
            median(times.cpu.clone()),
            times.cpu_ratio(usual),
            times.cpu_ratio(bare),
            times.connections,
        );
    }
    println!();
    Ok(())
}

/// Runs one contender alone, for instruction counting.
pub(crate) fn run_alone(name: &str, url: &str, laps: usize) -> Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let file = tempfile::NamedTempFile::new()?;
    std::fs::write(file.path(), "x".repeat(FILE_BYTES))?;
    let contender = LoopKind::new(name, url)?;
    runtime.block_on(async {
        for _ in 0..laps {
            contender.converse(TURNS, file.path()).await?;
        }
        Ok(())
    })
}

/// Runs all laps. The first contender changes from lap to lap; the first lap warms up and is not
/// counted.
async fn run_laps(server: &ServerProcess) -> Result<[LapTimes; 4]> {
    let file = tempfile::NamedTempFile::new()?;
    std::fs::write(file.path(), "x".repeat(FILE_BYTES))?;
    let contenders = NAMES.map(|name| LoopKind::new(name, &server.url(name)));
    let mut all: [LapTimes; 4] = Default::default();
    server.connections()?;
    for lap in 0..=LAPS {
        for turn in 0..NAMES.len() {
            let who = (lap + turn) % NAMES.len();
            let contender = contenders.get(who).context("unknown contender")?;
            let contender = contender.as_ref().map_err(|error| anyhow::anyhow!("{error:#}"))?;
            let (start, cpu) = (time_stats::current_time(), time_stats::cpu_time());
            contender.converse(TURNS, file.path()).await?;
            let (wall, cpu) = (start.elapsed(), time_stats::cpu_time() - cpu);
            let times = all.get_mut(who).context("unknown contender")?;
            times.connections += server.connections()?;
            if lap > 0 {
                times.wall.push(wall.as_secs_f64() * 1e6 / TURNS as f64);
                times.cpu.push(cpu.as_secs_f64() * 1e6 / TURNS as f64);
            }
        }
    }
    Ok(all)
}
