//! What a turn with a tool costs, beside a bare loop that does the same and keeps nothing.

use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, ensure};
use tempfile::TempDir;

use crate::child::Ran;
use crate::server::Server;
use crate::{beside, child, time};

/// Turns of the long run.
const TURNS: usize = 20;

/// How often each figure is taken.
const REPEATS: usize = 30;

/// Bytes of each of the files that are read, one in every turn.
const FILE_BYTES: usize = 886;

pub(crate) fn report(binary: &Path) -> Result<()> {
    let place = TempDir::new()?;
    for turn in 1..=TURNS {
        std::fs::write(place.path().join(name(turn)), contents(turn))?;
    }
    let long = Server::start(binary, place.path(), &script())?;
    let short = Server::start(binary, place.path(), "when any\n  say \"done\"\n")?;
    let run = |server: &Server| -> Result<Ran> {
        child::start(binary, place.path(), server.address(), &[])?.finish()
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
    let (bare_wall, bare_cpu) = bare()?;
    println!(
        "a turn with a tool: {:.2} ms wall in the middle, {:.2} ms at least, {:.2} ms CPU \
         ({TURNS} turns, {REPEATS} times, an answer alone taken off)",
        per_turn(time::median(longs.clone()), time::median(shorts.clone())),
        per_turn(time::least(&longs), time::least(&shorts)),
        cpu / (TURNS * REPEATS) as f64
    );
    println!("the same in a bare loop: {bare_wall:.2} ms wall, {bare_cpu:.2} ms CPU");
    println!("peak memory of {TURNS} turns: {:.1} MiB", time::median(peaks));
    Ok(())
}

fn name(turn: usize) -> String {
    format!("part{turn}.txt")
}

/// No two files are the same: whoever finds the same again and again goes in circles.
fn contents(turn: usize) -> String {
    let line = format!("{}\n", char::from(b'a'.saturating_add(turn as u8)));
    line.repeat(FILE_BYTES / 2)
}

/// Each turn reads another file, as somebody does who looks for something.
fn script() -> String {
    let call = |turn: usize| {
        format!(
            "when ask {turn}\n  call Read {{\"file_path\": \"{}\", \"limit\": 400}}\n",
            name(turn)
        )
    };
    let calls: String = (1..=TURNS).map(call).collect();
    calls + "when any\n  say \"done\"\n"
}

/// Wall and CPU milliseconds of a turn of the bare loop that `bench turn` has.
#[expect(clippy::disallowed_methods, reason = "the benchmark starts real processes")]
fn bare() -> Result<(f64, f64)> {
    let turn = beside("turn")?;
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
