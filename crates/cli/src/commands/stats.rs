//! `windlass stats`: how runs end.

use std::process::ExitCode;

use windlass::SystemClock;
use windlass::core::ids::Millis;
use windlass::ports::Clock;

use crate::look::args::StatsArgs;
use crate::look::paper::Paper;
use crate::look::stats;
use crate::{setup, show};

/// Runs counted at most.
const MOST: usize = 1_000_000;

const DAY_MS: u64 = 86_400_000;

pub(crate) async fn stats(args: &StatsArgs) -> anyhow::Result<ExitCode> {
    let store = setup::existing_store(&args.store).await?;
    let since = since(args.days);
    let ends = store.trace_ends(since, MOST).await?;
    let (events, tools) = (store.event_counts(since).await?, store.tool_stats(since).await?);
    let stats = stats::count(&ends, &events, &tools);
    if args.json {
        show::line(&serde_json::to_string(&stats)?);
    } else if store.runs(None, 1).await?.is_empty() {
        show::line(&setup::no_runs(&args.store));
    } else {
        let lines = stats.lines(Paper::stdout(), args.days);
        lines.iter().for_each(|line| show::line(line));
    }
    Ok(ExitCode::SUCCESS)
}

fn since(days: Option<u32>) -> Millis {
    let now = SystemClock::start().now();
    let back = days.map_or(u64::MAX, |days| u64::from(days).saturating_mul(DAY_MS));
    Millis(now.0.saturating_sub(back))
}
