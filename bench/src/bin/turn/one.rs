//! One conversation at a time, everybody in turn and in one process: whatever else the machine does
//! meanwhile hits them alike, so the ratios within a lap hold on a busy machine, too.

use anyhow::{Context, Result};

use crate::child::Server;
use crate::clock::{self, median};
use crate::job::{Contender, FILE_BYTES, TURNS};

const NAMES: [&str; 3] = ["usual", "bare", "ours"];
const LAPS: usize = 150;

/// What one contender needed, lap by lap, in microseconds per turn.
#[derive(Default)]
struct Times {
    wall: Vec<f64>,
    cpu: Vec<f64>,
    connections: usize,
}

impl Times {
    /// The median of how many times as much CPU as the other it needed in the same lap.
    fn against(&self, other: &Self) -> f64 {
        median(self.cpu.iter().zip(&other.cpu).map(|(mine, its)| mine / its).collect())
    }
}

pub(crate) fn report(server: &Server) -> Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let all = runtime.block_on(race(server))?;
    println!(
        "one conversation of {TURNS} turns after another, {LAPS} laps in turn (medians; ratios are of one lap):"
    );
    println!(
        "{:>10} {:>10} {:>12} {:>14} {:>12} {:>12}",
        "", "turn µs", "CPU µs/turn", "CPU vs usual", "CPU vs bare", "connections"
    );
    let [usual, bare, _] = &all;
    for (name, times) in NAMES.iter().zip(&all) {
        println!(
            "{name:>10} {:>10.0} {:>12.0} {:>14.2} {:>12.2} {:>12}",
            median(times.wall.clone()),
            median(times.cpu.clone()),
            times.against(usual),
            times.against(bare),
            times.connections,
        );
    }
    println!();
    Ok(())
}

/// One of them with no clock and nobody beside it, for those who count instructions.
pub(crate) fn alone(name: &str, url: &str, laps: usize) -> Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let file = tempfile::NamedTempFile::new()?;
    std::fs::write(file.path(), "x".repeat(FILE_BYTES))?;
    let contender = Contender::new(name, url)?;
    runtime.block_on(async {
        for _ in 0..laps {
            contender.converse(TURNS, file.path()).await?;
        }
        Ok(())
    })
}

/// Who begins changes from lap to lap; the first lap warms up and is not counted.
async fn race(server: &Server) -> Result<[Times; 3]> {
    let file = tempfile::NamedTempFile::new()?;
    std::fs::write(file.path(), "x".repeat(FILE_BYTES))?;
    let contenders = NAMES.map(|name| Contender::new(name, &server.url(name)));
    let mut all: [Times; 3] = Default::default();
    server.connections()?;
    for lap in 0..=LAPS {
        for turn in 0..NAMES.len() {
            let who = (lap + turn) % NAMES.len();
            let contender = contenders.get(who).context("nobody")?;
            let contender = contender.as_ref().map_err(|error| anyhow::anyhow!("{error:#}"))?;
            let (start, cpu) = (clock::now(), clock::cpu());
            contender.converse(TURNS, file.path()).await?;
            let (wall, cpu) = (start.elapsed(), clock::cpu() - cpu);
            let times = all.get_mut(who).context("nobody")?;
            times.connections += server.connections()?;
            if lap > 0 {
                times.wall.push(wall.as_secs_f64() * 1e6 / TURNS as f64);
                times.cpu.push(cpu.as_secs_f64() * 1e6 / TURNS as f64);
            }
        }
    }
    Ok(all)
}
