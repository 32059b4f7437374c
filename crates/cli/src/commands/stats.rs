//! `windlass stats`: statistics about how runs end.

use std::process::ExitCode;

use windlass::SystemClock;
use windlass::core::log::ids::UnixMillis;
use windlass::ports::Clock;
use windlass::stats::count_runs;

use crate::args::inspect_args::StatsArgs;
use crate::inspect::stats;
use crate::setup;
use crate::terminal::{self, OutputStyle};

/// Maximum number of runs that are counted.
pub(crate) const MAX_RUNS: usize = 1_000_000;

const DAY_MS: u64 = 86_400_000;

pub(crate) async fn run(args: &StatsArgs) -> anyhow::Result<ExitCode> {
    let store = setup::open_existing_store(&args.store).await?;
    let since = window_start(args.days);
    let ends = store.list_trace_ends(since, MAX_RUNS).await?;
    let (events, tools) = (store.event_counts(since).await?, store.tool_stats(since).await?);
    let counted = count_runs(&ends, &events, &tools);
    if args.json {
        terminal::print_line(&serde_json::to_string(&counted)?);
    } else if store.list_runs(None, 1).await?.is_empty() {
        terminal::print_line(&setup::no_runs_message(&args.store));
    } else {
        let lines = stats::to_lines(&counted, OutputStyle::stdout(), args.days);
        lines.iter().for_each(|line| terminal::print_line(line));
    }
    Ok(ExitCode::SUCCESS)
}

/// The time at which the last days begin.
pub(crate) fn window_start(days: Option<u32>) -> UnixMillis {
    let now = SystemClock::start().now();
    let back = days.map_or(u64::MAX, |days| u64::from(days).saturating_mul(DAY_MS));
    UnixMillis(now.0.saturating_sub(back))
}
