//! The record of one run: its timeline, and the entries of its log as they are.

use axum::extract::{Path, State};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;
use windlass::core::log::ids::Seq;
use windlass::messages::{RunTimeline, TimelineBuilder};

use crate::body::ApiQuery;
use crate::caller::Caller;
use crate::json::ApiJson;
use crate::lookup;
use crate::problem::Problem;
use crate::router::ApiState;
use crate::runs::check_limit;
use crate::views::Page;

/// Entries that are read from the log at once.
const PAGE_ENTRIES: usize = 256;

/// Which entries are listed.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct EntryListParameters {
    /// Entries at most, 1 to 500 (50 if not given).
    limit: Option<usize>,
    /// Begins after the entry with this number.
    cursor: Option<Seq>,
}

/// `GET /v1/runs/{run_id}/timeline`.
pub(crate) async fn show_timeline(
    State(state): State<ApiState>,
    caller: Caller,
    Path(id): Path<String>,
) -> Result<ApiJson<RunTimeline>, Problem> {
    let run = lookup::find_run(&state, &caller, &id).await?;
    let session = state.windlass.session(run.lane);
    let mut builder = TimelineBuilder::new(run.run);
    let mut after = 0;
    while !builder.is_complete() {
        let entries = session.read_entries(after, PAGE_ENTRIES).await?;
        let Some(last) = entries.last() else { break };
        after = last.seq;
        entries.iter().for_each(|entry| builder.push(entry));
    }
    let queued = || Problem::not_found("timeline yet: the run has not started, so there is no one");
    Ok(ApiJson(builder.finish_reading().ok_or_else(queued)?))
}

/// `GET /v1/runs/{run_id}/entries`: the log of the conversation of the run, oldest first.
pub(crate) async fn list_entries(
    State(state): State<ApiState>,
    caller: Caller,
    Path(id): Path<String>,
    ApiQuery(given): ApiQuery<EntryListParameters>,
) -> Result<ApiJson<Page<Value>>, Problem> {
    let limit = check_limit(given.limit)?;
    let run = lookup::find_run(&state, &caller, &id).await?;
    let session = state.windlass.session(run.lane);
    let entries = session.read_entries(given.cursor.unwrap_or_default(), limit).await?;
    let next_cursor =
        entries.last().filter(|_| entries.len() == limit).map(|it| it.seq.to_string());
    let data = entries.iter().map(|entry| serde_json::to_value(entry).unwrap_or_default());
    Ok(ApiJson(Page { data: data.collect(), next_cursor }))
}
