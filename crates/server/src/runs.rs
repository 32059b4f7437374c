//! Lists and shows runs.

use axum::extract::{Path, State};
use schemars::JsonSchema;
use serde::Deserialize;
use windlass::RunQuery;
use windlass::core::log::ids::{RunId, UnixMillis};
use windlass::core::stop::RunState;

use crate::body::ApiQuery;
use crate::caller::Caller;
use crate::json::ApiJson;
use crate::lookup;
use crate::problem::Problem;
use crate::router::ApiState;
use crate::views::{self, Page, RunView, parse_state};
use crate::{deferred_prompts, run_labels};

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
    /// Runs with this tag.
    tag: Option<String>,
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
    caller: Caller,
    ApiQuery(given): ApiQuery<RunListParameters>,
) -> Result<ApiJson<Page<RunView>>, Problem> {
    let limit = check_limit(given.limit)?;
    let cursor = given.cursor.clone();
    let filter = given.filter();
    let query =
        RunQuery { before: cursor.map(RunId::from), ..filter.into_query(&state, &caller).await? };
    let page = Box::pin(state.windlass.list_runs(&query, limit)).await?;
    let last = page.runs.last().filter(|_| page.has_more);
    let next_cursor = last.map(|run| run.run.as_str().to_owned());
    let data = views::run_views(state.windlass.store(), &page.runs).await?;
    Ok(ApiJson(Page { data, next_cursor }))
}

/// `GET /v1/runs/{run_id}`.
pub(crate) async fn show_run(
    State(state): State<ApiState>,
    caller: Caller,
    Path(id): Path<String>,
) -> Result<ApiJson<RunView>, Problem> {
    let run = lookup::find_run(&state, &caller, &id).await?;
    let store = state.windlass.store();
    let mut views = views::run_views(store, std::slice::from_ref(&run)).await?;
    let mut view = views.pop().ok_or_else(|| Problem::not_found("run"))?;
    if run.state == RunState::Queued
        && let Some(deferred) = deferred_prompts::find_deferred(&state.windlass, &id).await?
    {
        view = view.deliver_at(deferred.due_at);
    }
    Ok(ApiJson(view))
}

/// The number of items in one part of a list.
pub(crate) fn check_limit(given: Option<usize>) -> Result<usize, Problem> {
    match given {
        None => Ok(DEFAULT_LIMIT),
        Some(limit @ 1..=MAX_LIMIT) => Ok(limit),
        Some(_) => Err(Problem::invalid(format!("`limit` takes 1 to {MAX_LIMIT}"))),
    }
}

/// Which runs are meant. A field that is not given matches all.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct RunFilter {
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
    /// Runs with this tag.
    tag: Option<String>,
    /// Runs whose prompt or answer contains this text.
    text: Option<String>,
    /// Runs that reached their state at this time or later, in milliseconds since 1970.
    since_ms: Option<u64>,
    /// Runs that reached their state before this time, in milliseconds since 1970.
    until_ms: Option<u64>,
}

impl RunListParameters {
    fn filter(self) -> RunFilter {
        RunFilter {
            state: self.state,
            conversation_id: self.conversation_id,
            agent: self.agent,
            profile: self.profile,
            model: self.model,
            tag: self.tag,
            text: self.text,
            since_ms: self.since_ms,
            until_ms: self.until_ms,
        }
    }
}

impl RunFilter {
    /// Returns whether any run matches.
    pub(crate) fn is_empty(&self) -> bool {
        let texts = [&self.state, &self.conversation_id, &self.agent, &self.profile];
        let texts = texts.into_iter().chain([&self.model, &self.tag, &self.text]);
        texts.flatten().next().is_none() && self.since_ms.is_none() && self.until_ms.is_none()
    }

    /// Returns the query for the runs that the caller sees.
    pub(crate) async fn into_query(
        self,
        state: &ApiState,
        caller: &Caller,
    ) -> Result<RunQuery, Problem> {
        let names = self.state.iter().flat_map(|names| names.split(','));
        let states = names.map(|name| {
            let unknown =
                || Problem::invalid(format!("`state` does not know `{name}`; see /openapi.json"));
            parse_state(name.trim()).ok_or_else(unknown)
        });
        let states = states.collect::<Result<_, _>>()?;
        let lane = match &self.conversation_id {
            Some(id) => Some(lookup::find_conversation(state, caller, id).await?.lane),
            None => None,
        };
        let store = state.windlass.store();
        let runs = match &self.tag {
            Some(tag) => Some(run_labels::tagged_runs(store, caller.tenant(), tag).await?),
            None => None,
        };
        Ok(RunQuery {
            tenant: caller.tenant().map(|tenant| tenant.to_string()),
            runs,
            lane,
            states,
            agent: self.agent,
            profile: self.profile,
            model: self.model,
            text: self.text,
            since: self.since_ms.map(UnixMillis),
            until: self.until_ms.map(UnixMillis),
            before: None,
        })
    }
}
