//! Cost of a turn with a tool, compared to a bare loop that does the same and stores nothing.

use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, ensure};
use tempfile::TempDir;
use windlass_bench::time_stats;

use crate::measured_process::ProcessCost;
use crate::scripted_server::ScriptedServer;
use crate::{measured_process, sibling_binary};

/// Number of turns of the long run.
const TURNS: usize = 20;

/// Number of repetitions of each measurement.
const REPEATS: usize = 30;

/// Bytes of each of the files that are read, one in every turn.
const FILE_BYTES: usize = 886;

pub(crate) fn report(binary: &Path) -> Result<()> {
    let place = TempDir::new()?;
    for turn in 1..=TURNS {
        std::fs::write(place.path().join(file_name(turn)), file_contents(turn))?;
    }
    let long = ScriptedServer::start(binary, place.path(), &build_script())?;
    let short = ScriptedServer::start(binary, place.path(), "when any\n  say \"done\"\n")?;
    let run = |server: &ScriptedServer| -> Result<ProcessCost> {
        measured_process::start_process(binary, place.path(), server.address(), &[])?.finish()
    };
    let (mut longs, mut shorts, mut cpu, mut peaks) = (Vec::new(), Vec::new(), 0.0, Vec::new());
    for _ in 0..REPEATS {
        let (long, short) = (run(&long)?, run(&short)?);
        longs.push(long.wall_ms);
        shorts.push(short.wall_ms);
        cpu += long.cpu_ms - short.cpu_ms;
        peaks.push(long.peak_kb as f64 / 1024.0);
    }
    let per_turn = |long: f64, short: f64| (long - short) / TURNS as f64;
    let (bare_wall, bare_cpu) = measure_bare_loop()?;
    println!(
        "a turn with a tool: {:.2} ms wall in the middle, {:.2} ms at least, {:.2} ms CPU \
         ({TURNS} turns, {REPEATS} times, an answer alone taken off)",
        per_turn(time_stats::median(longs.clone()), time_stats::median(shorts.clone())),
        per_turn(time_stats::minimum(&longs), time_stats::minimum(&shorts)),
        cpu / (TURNS * REPEATS) as f64
    );
    println!("the same in a bare loop: {bare_wall:.2} ms wall, {bare_cpu:.2} ms CPU");
    println!("peak memory of {TURNS} turns: {:.1} MiB", time_stats::median(peaks));
    Ok(())
}

fn file_name(turn: usize) -> String {
    format!("part{turn}.txt")
}

/// Files differ, so that loop detection does not stop the run.
fn file_contents(turn: usize) -> String {
    let line = format!("{}\n", char::from(b'a'.saturating_add(turn as u8)));
    line.repeat(FILE_BYTES / 2)
}

/// Every turn reads another file.
fn build_script() -> String {
    let call = |turn: usize| {
        format!(
            "when ask {turn}\n  call Read {{\"file_path\": \"{}\", \"limit\": 400}}\n",
            file_name(turn)
        )
    };
    let calls: String = (1..=TURNS).map(call).collect();
    calls + "when any\n  say \"done\"\n"
}

/// Wall and CPU milliseconds per turn of the bare loop of `bench turn`.
#[expect(clippy::disallowed_methods, reason = "the benchmark starts real processes")]
fn measure_bare_loop() -> Result<(f64, f64)> {
    let turn = sibling_binary("turn")?;
    let output = Command::new(&turn)
        .arg("one")
        .output()
        .with_context(|| format!("{} is not there; `cargo xtask bench cli`", turn.display()))?;
    ensure!(output.status.success(), "the bare loop failed");
    let table = String::from_utf8(output.stdout)?;
    let bare = table.lines().find_map(|line| line.trim().strip_prefix("bare "));
    let mut figures = bare.context("no figures")?.split_whitespace().map(str::parse::<f64>);
    let mut next = || figures.next().context("no figures")?.context("no figure");
    Ok((next()? / 1e3, next()? / 1e3))
}
