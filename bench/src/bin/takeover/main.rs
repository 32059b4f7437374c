//! How long conversations stand still when their worker dies, freezes or leaves, and how soon one starts
//!
//! Four `windlass worker` processes share one PostgreSQL of their own, with the settings people get.
//! `--bin PATH` is the binary (`cargo xtask bench takeover` gives it); `--conversations N` each; with 0
//! of them only the last part is measured, how soon a conversation starts.

mod clock;
mod lanes;
mod start;
mod workers;

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use rustix::process::Signal;
use tokio::runtime::Runtime;
use windlass_cluster::{Cluster, Disk};

use clock::Spread;
use lanes::Lanes;
use workers::{Worker, Workers};

/// Workers that share the work.
const WORKERS: usize = 4;

/// What we promise, at the default settings.
const DEATH: Duration = Duration::from_secs(15);
const LEAVING: Duration = Duration::from_secs(2);

fn main() -> Result<()> {
    let (binary, conversations) = arguments()?;
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    println!("load average: {}", clock::load_average());
    let cluster = Cluster::start(Disk::Synced)?;
    let url = cluster.url("postgres");
    let missed = match conversations {
        0 => Vec::new(),
        _ => take_over(&runtime, &url, &binary, conversations)?,
    };
    let started = runtime.block_on(start::measure(&url))?;
    println!("enqueue to start: {} (aim: 4 ms in the mean)", started.sent);
    println!("accepted to start: {}", started.accepted);
    println!("load average afterwards: {}", clock::load_average());
    ensure!(missed.is_empty(), "too slow when a worker was {}", missed.join(" and "));
    Ok(())
}

/// Ends workers in every way; gives those that took too long.
fn take_over(
    runtime: &Runtime,
    url: &str,
    binary: &Path,
    conversations: usize,
) -> Result<Vec<&'static str>> {
    let mut workers = Workers::start(binary, url, WORKERS)?;
    let lanes = Lanes { url: url.to_owned() };
    runtime.block_on(lanes.fill(conversations))?;
    let mut missed = Vec::new();
    for (what, signal, aim) in [
        ("killed with -9", Signal::KILL, DEATH),
        ("frozen, as a dead machine looks", Signal::STOP, DEATH),
        ("told to end", Signal::TERM, LEAVING),
    ] {
        let victim = workers.next().context("no worker is left")?;
        let took = runtime.block_on(moved(&lanes, &victim, signal))?;
        println!("{what}: {took} (aim: at most {} s)", aim.as_secs());
        victim.end(signal)?;
        if took.most() > aim {
            missed.push(what);
        }
    }
    Ok(missed)
}

/// How long each of its lanes stood still until another process had written to it.
async fn moved(lanes: &Lanes, victim: &Worker, signal: Signal) -> Result<Spread> {
    let mut left = lanes.of(victim.pid()).await?;
    ensure!(!left.is_empty(), "the worker that was chosen drives nothing");
    let begin = clock::now();
    victim.signal(signal)?;
    let mut took = Spread::default();
    while !left.is_empty() {
        ensure!(begin.elapsed() < 4 * DEATH, "{} lanes did not move at all", left.len());
        let gone = lanes.moved_on(&left).await?;
        let now = begin.elapsed();
        left.retain(|lane| !gone.contains(&lane.id));
        gone.iter().for_each(|_| took.add(now));
        clock::pause(Duration::from_millis(20)).await;
    }
    Ok(took)
}

fn arguments() -> Result<(PathBuf, usize)> {
    let (mut binary, mut conversations) = (None, 100);
    let mut words = std::env::args().skip(1);
    while let Some(word) = words.next() {
        let value = words.next().with_context(|| format!("{word} needs a value"))?;
        match word.as_str() {
            "--bin" => binary = Some(PathBuf::from(value)),
            "--conversations" => conversations = value.parse()?,
            other => bail!("`{other}`: the options are --bin PATH and --conversations N"),
        }
    }
    Ok((binary.context("--bin PATH is missing; say `cargo xtask bench takeover`")?, conversations))
}
