//! Delay of conversations after their worker dies, freezes or stops, and delay of a prompt's start
//!
//! Four `windlass worker` processes share one private PostgreSQL server, with the default settings.
//! `--bin PATH` is the binary (`cargo xtask bench takeover` gives it); `--conversations N` each;
//! with 0 of them only the last part is measured, how soon a conversation starts.

mod duration_spread;
mod lane_observer;
mod start_latency;
mod worker_processes;

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use rustix::process::Signal;
use tokio::runtime::Runtime;
use windlass_bench::time_stats;
use windlass_cluster::{DiskMode, PostgresCluster};

use duration_spread::DurationSpread;
use lane_observer::LaneObserver;
use worker_processes::{WorkerFleet, WorkerProcess};

/// Number of workers that share the conversations.
const WORKERS: usize = 4;

/// The promised limit, at the default settings.
const CRASH_TAKEOVER_LIMIT: Duration = Duration::from_secs(15);
const SHUTDOWN_TAKEOVER_LIMIT: Duration = Duration::from_secs(2);

fn main() -> Result<()> {
    let (binary, conversations) = parse_arguments()?;
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    println!("load average: {}", time_stats::load_average());
    let cluster = PostgresCluster::start(DiskMode::Synced)?;
    let url = cluster.url("postgres");
    let missed = match conversations {
        0 => Vec::new(),
        _ => measure_takeovers(&runtime, &url, &binary, conversations)?,
    };
    let started = runtime.block_on(start_latency::measure_start_latency(&url))?;
    println!("enqueue to start: {} (aim: 4 ms in the mean)", started.sent);
    println!("accepted to start: {}", started.accepted);
    println!("load average afterwards: {}", time_stats::load_average());
    ensure!(missed.is_empty(), "too slow when a worker was {}", missed.join(" and "));
    Ok(())
}

/// Ends workers in every way; returns those whose takeover took too long.
fn measure_takeovers(
    runtime: &Runtime,
    url: &str,
    binary: &Path,
    conversations: usize,
) -> Result<Vec<&'static str>> {
    let mut workers = WorkerFleet::start(binary, url, WORKERS)?;
    let lanes = LaneObserver { url: url.to_owned() };
    runtime.block_on(lanes.send_prompts(conversations))?;
    let mut missed = Vec::new();
    for (what, signal, aim) in [
        ("killed with -9", Signal::KILL, CRASH_TAKEOVER_LIMIT),
        ("frozen, as a dead machine looks", Signal::STOP, CRASH_TAKEOVER_LIMIT),
        ("told to end", Signal::TERM, SHUTDOWN_TAKEOVER_LIMIT),
    ] {
        let victim = workers.take_next().context("no worker is left")?;
        let took = runtime.block_on(measure_standstill(&lanes, &victim, signal))?;
        println!("{what}: {took} (aim: at most {} s)", aim.as_secs());
        victim.wait_for_exit(signal)?;
        if took.maximum() > aim {
            missed.push(what);
        }
    }
    Ok(missed)
}

/// How long each of its lanes stood still until another process wrote to it.
async fn measure_standstill(
    lanes: &LaneObserver,
    victim: &WorkerProcess,
    signal: Signal,
) -> Result<DurationSpread> {
    let mut left = lanes.lanes_of_worker(victim.pid()).await?;
    ensure!(!left.is_empty(), "the worker that was chosen drives nothing");
    let begin = time_stats::current_time();
    victim.signal(signal)?;
    let mut took = DurationSpread::default();
    while !left.is_empty() {
        ensure!(
            begin.elapsed() < 4 * CRASH_TAKEOVER_LIMIT,
            "{} lanes did not move at all",
            left.len()
        );
        let gone = lanes.taken_over_lanes(&left).await?;
        let now = begin.elapsed();
        left.retain(|lane| !gone.contains(&lane.id));
        gone.iter().for_each(|_| took.add(now));
        time_stats::pause(Duration::from_millis(20)).await;
    }
    Ok(took)
}

fn parse_arguments() -> Result<(PathBuf, usize)> {
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
