//! Lists and shows runs.

use axum::extract::{Path, State};
use schemars::JsonSchema;
use serde::Deserialize;
use windlass::RunQuery;
use windlass::core::log::ids::{RunId, UnixMillis};

use crate::body::ApiQuery;
use crate::json::ApiJson;
use crate::lookup;
use crate::problem::Problem;
use crate::router::ApiState;
use crate::views::{Page, RunView, parse_state};

/// Runs in one part of a list, if no number is given.
const DEFAULT_LIMIT: usize = 50;

/// The most items in one part of a list.
const MAX_LIMIT: usize = 500;

/// Which runs are listed.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct RunListParameters {
    /// Runs at most, 1 to 500 (50 if not given).
    limit: Option<usize>,
    /// Continues a list after the part that gave this cursor.
    cursor: Option<String>,
    /// Runs in one of these states, separated by commas.
    state: Option<String>,
    /// Runs of this conversation.
    conversation_id: Option<String>,
    /// Runs that this agent drives.
    agent: Option<String>,
    /// Runs under this profile.
    profile: Option<String>,
    /// Runs that call this model.
    model: Option<String>,
    /// Runs whose prompt or answer contains this text.
    text: Option<String>,
    /// Runs that reached their state at this time or later, in milliseconds since 1970.
    since_ms: Option<u64>,
    /// Runs that reached their state before this time, in milliseconds since 1970.
    until_ms: Option<u64>,
}

/// `GET /v1/runs`.
pub(crate) async fn list_runs(
    State(state): State<ApiState>,
    ApiQuery(given): ApiQuery<RunListParameters>,
) -> Result<ApiJson<Page<RunView>>, Problem> {
    let limit = check_limit(given.limit)?;
    let query = run_query(&state, given).await?;
    let page = Box::pin(state.windlass.list_runs(&query, limit)).await?;
    let last = page.runs.last().filter(|_| page.has_more);
    let next_cursor = last.map(|run| run.run.as_str().to_owned());
    Ok(ApiJson(Page { data: page.runs.iter().map(RunView::new).collect(), next_cursor }))
}

/// `GET /v1/runs/{run_id}`.
pub(crate) async fn show_run(
    State(state): State<ApiState>,
    Path(id): Path<String>,
) -> Result<ApiJson<RunView>, Problem> {
    Ok(ApiJson(RunView::new(&lookup::find_run(&state, &id).await?)))
}

/// The number of items in one part of a list.
pub(crate) fn check_limit(given: Option<usize>) -> Result<usize, Problem> {
    match given {
        None => Ok(DEFAULT_LIMIT),
        Some(limit @ 1..=MAX_LIMIT) => Ok(limit),
        Some(_) => Err(Problem::invalid(format!("`limit` takes 1 to {MAX_LIMIT}"))),
    }
}

async fn run_query(state: &ApiState, given: RunListParameters) -> Result<RunQuery, Problem> {
    let names = given.state.iter().flat_map(|names| names.split(','));
    let states = names.map(|name| {
        let unknown =
            || Problem::invalid(format!("`state` does not know `{name}`; see /openapi.json"));
        parse_state(name.trim()).ok_or_else(unknown)
    });
    let lane = match &given.conversation_id {
        Some(id) => Some(lookup::find_conversation(state, id).await?.lane),
        None => None,
    };
    Ok(RunQuery {
        lane,
        states: states.collect::<Result<_, _>>()?,
        agent: given.agent,
        profile: given.profile,
        model: given.model,
        text: given.text,
        since: given.since_ms.map(UnixMillis),
        until: given.until_ms.map(UnixMillis),
        before: given.cursor.map(RunId::from),
    })
}
