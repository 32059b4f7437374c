//! Statistics: those of `windlass stats`, and how they are spread over states and days.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use windlass::StopCause;
use windlass::core::log::ids::UnixMillis;
use windlass::messages::format_iso_time;
use windlass::ports::{RunInfo, RunTraceEnd, Store, StoreError};

use super::to_json;
use crate::commands::stats::{MAX_RUNS, window_start};
use crate::inspect::stats;

/// What happened on one day.
#[derive(Default)]
struct DayCounts {
    runs: usize,
    stopped_at_cap: usize,
    cost_usd_micros: Option<u64>,
}

/// Reads the statistics of the last days, of all agents or of one.
pub(super) async fn read_statistics(
    store: &dyn Store,
    days: Option<u32>,
    agent: Option<&str>,
) -> Result<Value, StoreError> {
    let since = window_start(days);
    let is_wanted = |name: Option<&str>| agent.is_none_or(|agent| name == Some(agent));
    let mut ends = store.list_trace_ends(since, MAX_RUNS).await?;
    ends.retain(|end| is_wanted(end.agent.as_deref()));
    let mut events = store.event_counts(since).await?;
    events.retain(|event| is_wanted(Some(&event.agent)));
    let mut runs = store.list_runs(None, MAX_RUNS).await?;
    runs.retain(|run| run.at >= since && is_wanted(run.description.agent.as_deref()));
    let counted = stats::count_runs(&ends, &events, &store.tool_stats(since).await?);
    let mut statistics = to_json(&counted);
    if let Some(fields) = statistics.as_object_mut() {
        fields.insert("states".to_owned(), count_states(&runs));
        fields.insert("days".to_owned(), count_days(&ends, &runs));
    }
    Ok(statistics)
}

fn count_states(runs: &[RunInfo]) -> Value {
    let mut states: BTreeMap<String, usize> = BTreeMap::new();
    for run in runs {
        let state = to_json(&run.state).as_str().unwrap_or_default().to_owned();
        *states.entry(state).or_default() += 1;
    }
    to_json(&states)
}

/// The finished runs of each day in UTC, newest day first.
fn count_days(ends: &[RunTraceEnd], runs: &[RunInfo]) -> Value {
    let mut days: BTreeMap<String, DayCounts> = BTreeMap::new();
    let caps = [StopCause::MaxToolRounds, StopCause::MaxModelCalls].map(StopCause::as_str);
    for end in ends {
        let day = days.entry(day_of(end.at)).or_default();
        day.runs += 1;
        day.stopped_at_cap += usize::from(caps.contains(&&*end.cause));
    }
    for run in runs.iter().filter(|run| run.cause.is_some()) {
        let day = days.entry(day_of(run.at)).or_default();
        if let Some(cost) = run.usd_micros {
            day.cost_usd_micros = Some(day.cost_usd_micros.unwrap_or(0).saturating_add(cost));
        }
    }
    let row = |(day, counts): (String, DayCounts)| {
        let DayCounts { runs, stopped_at_cap, cost_usd_micros } = counts;
        json!({
            "day": day,
            "runs": runs,
            "stopped_at_cap": stopped_at_cap,
            "cost_usd_micros": cost_usd_micros,
        })
    };
    Value::Array(days.into_iter().rev().map(row).collect())
}

fn day_of(at: UnixMillis) -> String {
    format_iso_time(at).chars().take(10).collect()
}
