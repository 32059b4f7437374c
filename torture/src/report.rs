//! Output of a campaign.

use std::path::Path;
use std::time::Duration;

use crate::args::StoreKind;
use crate::campaign_tally::CampaignTally;
use crate::observe::violation::Violation;

/// Maximum number of violations shown per run.
const MAX_SHOWN_VIOLATIONS: usize = 3;

/// Prints the last line, which scripts parse.
pub(crate) fn print_last_line(store: StoreKind, tally: &CampaignTally) {
    println!("{}", format_last_line(store, tally));
}

pub(crate) fn format_last_line(store: StoreKind, tally: &CampaignTally) -> String {
    let CampaignTally { kills, runs, completed, surfaced, .. } = tally;
    let CampaignTally { needless, lost, duplicated, stale_writes, .. } = tally;
    format!(
        "torture: store={store} kills={kills} runs={runs} completed={completed} \
         surfaced={surfaced} needless={needless} lost={lost} duplicated={duplicated} \
         stale_writes={stale_writes}"
    )
}

pub(crate) fn print_start(what: &str) {
    println!("{what}");
}

pub(crate) fn print_progress(elapsed: Duration, kills: u64, tally: &CampaignTally) {
    println!(
        "  {:>5.1} s  {kills} kills, {} runs, {} completed, {} surfaced, {} faulty",
        elapsed.as_secs_f64(),
        tally.runs,
        tally.completed,
        tally.surfaced,
        tally.faulty,
    );
}

/// Prints which faults were applied.
pub(crate) fn print_faults(elapsed: Duration, tally: &CampaignTally, coverage: &[(&str, u64)]) {
    let fault_counts = tally.fault_counts;
    println!(
        "  {:.1} s: {} killed at random instants, {} at write boundaries, {} under the eyes of \
         another, {} of these in recovery; {} frozen, {} of them lost their lane",
        elapsed.as_secs_f64(),
        fault_counts.instants,
        fault_counts.boundaries,
        fault_counts.watched,
        fault_counts.in_recovery,
        fault_counts.frozen,
        fault_counts.taken_over,
    );
    let reached = coverage.iter().filter(|(_, deaths)| *deaths > 0).count();
    let points: Vec<String> =
        coverage.iter().map(|(point, deaths)| format!("{point} {deaths}")).collect();
    println!("  boundaries {reached}/{}: {}", coverage.len(), points.join(", "));
}

/// Prints the violations of one conversation; the first few are enough.
pub(crate) fn print_violations(place: &Path, faults: &[Violation]) {
    for fault in faults.iter().take(MAX_SHOWN_VIOLATIONS) {
        println!("  {:?}: {} ({})", fault.kind, fault.what, place.display());
    }
    if let Some(more) = faults.len().checked_sub(MAX_SHOWN_VIOLATIONS + 1) {
        println!("  and {} more in {}", more + 1, place.display());
    }
}

pub(crate) fn print_kept_folder(place: &Path) {
    println!("  the evidence is in {}", place.display());
}

pub(crate) fn print_error(error: &anyhow::Error) {
    eprintln!("windlass-torture: {error:#}");
}
