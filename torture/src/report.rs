//! What people read.

use std::path::Path;
use std::time::Duration;

use crate::args::StoreKind;
use crate::fault::Fault;
use crate::tally::Tally;

/// Faults of one run that are shown.
const FAULTS: usize = 3;

/// The last line: what scripts look at.
pub(crate) fn last_line(store: StoreKind, tally: &Tally) {
    println!("{}", line(store, tally));
}

pub(crate) fn line(store: StoreKind, tally: &Tally) -> String {
    let Tally { kills, runs, completed, surfaced, .. } = tally;
    let Tally { needless, lost, duplicated, stale_writes, .. } = tally;
    format!(
        "torture: store={store} kills={kills} runs={runs} completed={completed} \
         surfaced={surfaced} needless={needless} lost={lost} duplicated={duplicated} \
         stale_writes={stale_writes}"
    )
}

pub(crate) fn begin(what: &str) {
    println!("{what}");
}

pub(crate) fn progress(elapsed: Duration, kills: u64, tally: &Tally) {
    println!(
        "  {:>5.1} s  {kills} kills, {} runs, {} completed, {} surfaced, {} faulty",
        elapsed.as_secs_f64(),
        tally.runs,
        tally.completed,
        tally.surfaced,
        tally.faulty,
    );
}

/// How the blows fell.
pub(crate) fn blows(elapsed: Duration, tally: &Tally, coverage: &[(&str, u64)]) {
    let blows = tally.blows;
    println!(
        "  {:.1} s: {} killed at random instants, {} at write boundaries, {} under the eyes of \
         another, {} of these in recovery; {} frozen, {} of them lost their lane",
        elapsed.as_secs_f64(),
        blows.instants,
        blows.boundaries,
        blows.watched,
        blows.in_recovery,
        blows.frozen,
        blows.taken_over,
    );
    let reached = coverage.iter().filter(|(_, deaths)| *deaths > 0).count();
    let points: Vec<String> =
        coverage.iter().map(|(point, deaths)| format!("{point} {deaths}")).collect();
    println!("  boundaries {reached}/{}: {}", coverage.len(), points.join(", "));
}

/// Faults of one place; the first few tell the story.
pub(crate) fn faults(place: &Path, faults: &[Fault]) {
    for fault in faults.iter().take(FAULTS) {
        println!("  {:?}: {} ({})", fault.kind, fault.what, place.display());
    }
    if let Some(more) = faults.len().checked_sub(FAULTS + 1) {
        println!("  and {} more in {}", more + 1, place.display());
    }
}

pub(crate) fn kept(place: &Path) {
    println!("  the evidence is in {}", place.display());
}

pub(crate) fn trouble(error: &anyhow::Error) {
    eprintln!("windlass-torture: {error:#}");
}
