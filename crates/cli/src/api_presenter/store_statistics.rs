//! Statistics: those of `windlass stats`, and how they are spread over states, days and models.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;
use serde_json::{Value, json};
use windlass::StopCause;
use windlass::core::log::ids::UnixMillis;
use windlass::messages::format_iso_time;
use windlass::ports::{EventCount, RunInfo, RunTraceEnd, Store, StoreError};
use windlass_server::StatsFilter;

use super::model_latency::{self, LatencySample};
use super::to_json;
use crate::commands::stats::{MAX_RUNS, window_start};

/// What happened on one day, or with one model.
#[derive(Debug, Default, Serialize)]
struct UsageCounts {
    runs: usize,
    stopped_at_cap: usize,
    unexpected: usize,
    failed: usize,
    cost_usd_micros: Option<u64>,
    input_tokens: u64,
    cached_tokens: u64,
    output_tokens: u64,
}

/// The values that a filter can have.
#[derive(Debug, Default, Serialize)]
struct FilterChoices {
    agents: BTreeSet<String>,
    profiles: BTreeSet<String>,
    models: BTreeSet<String>,
}

/// Reads the statistics of the last days, of all runs or of some.
pub(super) async fn read_statistics(
    store: &dyn Store,
    days: Option<u32>,
    filter: &StatsFilter,
) -> Result<Value, StoreError> {
    let since = window_start(days);
    let mut ends = store.list_trace_ends(since, MAX_RUNS).await?;
    let mut runs = store.list_runs(None, MAX_RUNS).await?;
    runs.retain(|run| run.at >= since);
    let choices = filter_choices(&runs);
    ends.retain(|end| {
        passes(filter, [end.agent.as_deref(), end.profile.as_deref(), end.model.as_deref()])
    });
    runs.retain(|run| {
        let it = &run.description;
        passes(filter, [it.agent.as_deref(), it.profile.as_deref(), it.model.as_deref()])
    });
    let mut events = store.event_counts(since).await?;
    // Events do not say which model was called.
    events.retain(|event| {
        passes(filter, [Some(&event.agent), Some(&event.profile), filter.model.as_deref()])
    });
    let latencies = model_latency::sample(store, &runs).await?;
    let counted = windlass::stats::count_runs(&ends, &events, &store.tool_stats(since).await?);
    let spread = json!({
        "states": count_states(&runs),
        "resumable": runs.iter().filter(|run| is_resumable(run)).count(),
        "days": count_days(&ends, &runs),
        "models": count_models(&ends, &runs, latencies),
        "errors": count_errors(&events),
        "choices": choices,
    });
    Ok(join_objects(to_json(&counted), spread))
}

/// One object with the fields of both.
fn join_objects(mut one: Value, other: Value) -> Value {
    if let (Some(fields), Value::Object(more)) = (one.as_object_mut(), other) {
        fields.extend(more);
    }
    one
}

/// Returns whether agent, profile and model are those of the filter.
fn passes(filter: &StatsFilter, [agent, profile, model]: [Option<&str>; 3]) -> bool {
    let fits = |wanted: &Option<String>, found: Option<&str>| {
        wanted.as_deref().is_none_or(|wanted| found.unwrap_or_default() == wanted)
    };
    fits(&filter.agent, agent) && fits(&filter.profile, profile) && fits(&filter.model, model)
}

fn filter_choices(runs: &[RunInfo]) -> FilterChoices {
    let mut choices = FilterChoices::default();
    for run in runs {
        let about = &run.description;
        let text = |text: &Option<std::sync::Arc<str>>| text.as_deref().map(str::to_owned);
        choices.agents.extend(text(&about.agent));
        choices.profiles.extend(text(&about.profile));
        choices.models.extend(text(&about.model));
    }
    choices
}

fn is_resumable(run: &RunInfo) -> bool {
    run.resume_available || run.cause.is_some_and(StopCause::is_resumable)
}

fn count_states(runs: &[RunInfo]) -> BTreeMap<String, usize> {
    let mut states = BTreeMap::new();
    for run in runs {
        let state = to_json(&run.state).as_str().unwrap_or_default().to_owned();
        *states.entry(state).or_default() += 1;
    }
    states
}

/// Errors and retries of model calls, by the name of their event.
fn count_errors(events: &[EventCount]) -> BTreeMap<String, u64> {
    let mut errors = BTreeMap::new();
    let is_error = |name: &str| name.starts_with("agent.model.") || name == "agent.reply.truncated";
    for event in events.iter().filter(|event| is_error(&event.name)) {
        *errors.entry(event.name.to_string()).or_default() += event.count;
    }
    errors
}

impl UsageCounts {
    fn add_end(&mut self, end: &RunTraceEnd) {
        let caps = [StopCause::MaxToolRounds, StopCause::MaxModelCalls].map(StopCause::as_str);
        self.runs += 1;
        self.stopped_at_cap += usize::from(caps.contains(&&*end.cause));
        self.unexpected += usize::from(&*end.cause == StopCause::Unexpected.as_str());
        self.input_tokens = self.input_tokens.saturating_add(end.input_tokens);
        self.cached_tokens = self.cached_tokens.saturating_add(end.cached_tokens);
        self.output_tokens = self.output_tokens.saturating_add(end.output_tokens);
    }

    fn add_run(&mut self, run: &RunInfo) {
        self.failed += usize::from(run.state == windlass::core::stop::RunState::Failed);
        if let Some(cost) = run.usd_micros {
            self.cost_usd_micros = Some(self.cost_usd_micros.unwrap_or(0).saturating_add(cost));
        }
    }
}

/// The finished runs of each day in UTC, oldest day first.
fn count_days(ends: &[RunTraceEnd], runs: &[RunInfo]) -> Vec<Value> {
    let mut days: BTreeMap<String, UsageCounts> = BTreeMap::new();
    for end in ends {
        days.entry(day_of(end.at)).or_default().add_end(end);
    }
    for run in runs.iter().filter(|run| run.cause.is_some()) {
        days.entry(day_of(run.at)).or_default().add_run(run);
    }
    let row =
        |(day, counts): (String, UsageCounts)| join_objects(json!({"day": day}), to_json(&counts));
    days.into_iter().map(row).collect()
}

/// The finished runs by model, the most used first.
fn count_models(
    ends: &[RunTraceEnd],
    runs: &[RunInfo],
    mut latencies: BTreeMap<String, LatencySample>,
) -> Vec<Value> {
    let mut models: BTreeMap<String, UsageCounts> = BTreeMap::new();
    let name =
        |model: &Option<std::sync::Arc<str>>| model.as_deref().unwrap_or_default().to_owned();
    for end in ends {
        models.entry(name(&end.model)).or_default().add_end(end);
    }
    for run in runs.iter().filter(|run| run.cause.is_some()) {
        models.entry(name(&run.description.model)).or_default().add_run(run);
    }
    let mut models: Vec<(String, UsageCounts)> = models.into_iter().collect();
    models.sort_by_key(|(_, counts)| std::cmp::Reverse(counts.runs));
    let row = |(model, counts): (String, UsageCounts)| {
        let latency = latencies.remove(&model);
        join_objects(json!({"model": model, "latency": latency}), to_json(&counts))
    };
    models.into_iter().map(row).collect()
}

fn day_of(at: UnixMillis) -> String {
    format_iso_time(at).chars().take(10).collect()
}
