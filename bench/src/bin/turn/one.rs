//! One conversation at a time.

use anyhow::{Context, Result};

use crate::child::{Server, measured};
use crate::clock::{self, median};
use crate::job::{Contender, FILE_BYTES, TURNS};

const NAMES: [&str; 3] = ["usual", "bare", "ours"];
const ROUNDS: usize = 7;
const CONVERSATIONS: usize = 40;

/// Prints wall and CPU microseconds per turn.
pub(crate) fn child(name: &str, url: &str) -> Result<()> {
    let file = tempfile::NamedTempFile::new()?;
    std::fs::write(file.path(), "x".repeat(FILE_BYTES))?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let contender = Contender::new(name, url)?;
        contender.converse(TURNS, file.path()).await?;
        let (start, cpu) = (clock::now(), clock::cpu());
        for _ in 0..CONVERSATIONS {
            contender.converse(TURNS, file.path()).await?;
        }
        let turns = (CONVERSATIONS * TURNS) as f64;
        let wall = start.elapsed().as_secs_f64() * 1e6 / turns;
        let cpu = (clock::cpu() - cpu).as_secs_f64() * 1e6 / turns;
        println!("{wall} {cpu} {}", clock::peak_kb());
        Ok(())
    })
}

pub(crate) fn report(server: &Server) -> Result<()> {
    let mut all: Vec<(Vec<f64>, Vec<f64>, f64, usize)> = NAMES.map(|_| Default::default()).into();
    for _ in 0..ROUNDS {
        for (name, (walls, cpus, peak, connections)) in NAMES.iter().zip(&mut all) {
            server.connections()?;
            let figures = measured(&["one", name, &server.url(name)])?;
            walls.push(*figures.first().context("no wall time")?);
            cpus.push(*figures.get(1).context("no CPU time")?);
            *peak = *figures.get(2).context("no peak")?;
            *connections = server.connections()?;
        }
    }
    println!(
        "one conversation of {TURNS} turns after another ({} of them, median of {ROUNDS} runs):",
        CONVERSATIONS + 1
    );
    println!(
        "{:>10} {:>10} {:>12} {:>14} {:>12} {:>10} {:>12}",
        "", "turn µs", "CPU µs/turn", "CPU vs usual", "CPU vs bare", "peak MB", "connections"
    );
    let medians: Vec<f64> = all.iter().map(|(_, cpus, ..)| median(cpus.clone())).collect();
    let [usual, bare, _] = medians.as_slice() else { return Ok(()) };
    for ((name, (walls, _, peak, connections)), cpu) in NAMES.iter().zip(&all).zip(&medians) {
        println!(
            "{name:>10} {:>10.0} {cpu:>12.0} {:>14.2} {:>12.2} {:>10.1} {connections:>12}",
            median(walls.clone()),
            cpu / usual,
            cpu / bare,
            peak / 1e3,
        );
    }
    println!();
    Ok(())
}
