//! What the commands `explain`, `trace`, `logs`, `raw`, `journal`, `stats` and `doctor` know.

use axum::extract::{Path, State};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use crate::body::ApiQuery;
use crate::caller::Caller;
use crate::json::ApiJson;
use crate::lookup;
use crate::presenter::{EventFilter, RunReport, StatsFilter, StoreReport};
use crate::problem::Problem;
use crate::router::ApiState;
use crate::runs::check_limit;

/// The time that statistics are about.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct StatsParameters {
    /// Runs that ended within this many days; all if not given.
    days: Option<u32>,
    /// Runs of this agent; all if not given.
    agent: Option<String>,
    /// Runs under this profile; all if not given.
    profile: Option<String>,
    /// Runs that call this model; all if not given.
    model: Option<String>,
}

/// Which events are listed, newest first.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct EventListParameters {
    /// Events at most, 1 to 500 (50 if not given).
    limit: Option<usize>,
    /// Events whose name contains this text.
    name: Option<String>,
    /// Events whose fields contain this text.
    text: Option<String>,
}

impl EventListParameters {
    fn into_filter(self) -> Result<EventFilter, Problem> {
        let limit = check_limit(self.limit)?;
        Ok(EventFilter { limit, name: self.name, text: self.text })
    }
}

async fn report_run(
    state: ApiState,
    caller: Caller,
    id: String,
    report: RunReport,
) -> Result<ApiJson<Value>, Problem> {
    let run = lookup::find_run(&state, &caller, &id).await?;
    Ok(ApiJson(state.presenter.report_run(report, run).await?))
}

/// `GET /v1/runs/{run_id}/explain`.
pub(crate) async fn explain_run(
    State(state): State<ApiState>,
    caller: Caller,
    Path(id): Path<String>,
) -> Result<ApiJson<Value>, Problem> {
    report_run(state, caller, id, RunReport::Explain).await
}

/// `GET /v1/runs/{run_id}/trace`.
pub(crate) async fn trace_run(
    State(state): State<ApiState>,
    caller: Caller,
    Path(id): Path<String>,
) -> Result<ApiJson<Value>, Problem> {
    report_run(state, caller, id, RunReport::Trace).await
}

/// `GET /v1/runs/{run_id}/events`.
pub(crate) async fn list_run_events(
    State(state): State<ApiState>,
    caller: Caller,
    Path(id): Path<String>,
    ApiQuery(given): ApiQuery<EventListParameters>,
) -> Result<ApiJson<Value>, Problem> {
    report_run(state, caller, id, RunReport::Events(given.into_filter()?)).await
}

/// `GET /v1/runs/{run_id}/raw`.
pub(crate) async fn list_raw_responses(
    State(state): State<ApiState>,
    caller: Caller,
    Path(id): Path<String>,
) -> Result<ApiJson<Value>, Problem> {
    report_run(state, caller, id, RunReport::Raw).await
}

/// `GET /v1/runs/{run_id}/journal`.
pub(crate) async fn show_journal(
    State(state): State<ApiState>,
    caller: Caller,
    Path(id): Path<String>,
) -> Result<ApiJson<Value>, Problem> {
    report_run(state, caller, id, RunReport::Journal).await
}

/// `GET /v1/stats`.
pub(crate) async fn show_stats(
    State(state): State<ApiState>,
    caller: Caller,
    ApiQuery(given): ApiQuery<StatsParameters>,
) -> Result<ApiJson<Value>, Problem> {
    caller.check_operator()?;
    let StatsParameters { days, agent, profile, model } = given;
    let report = StoreReport::Stats { days, filter: StatsFilter { agent, profile, model } };
    Ok(ApiJson(state.presenter.report_store(report).await?))
}

/// `GET /v1/events`.
pub(crate) async fn list_events(
    State(state): State<ApiState>,
    caller: Caller,
    ApiQuery(given): ApiQuery<EventListParameters>,
) -> Result<ApiJson<Value>, Problem> {
    let report = StoreReport::Events(given.into_filter()?, caller.tenant().cloned());
    Ok(ApiJson(state.presenter.report_store(report).await?))
}

/// `GET /v1/workers`.
pub(crate) async fn list_workers(
    State(state): State<ApiState>,
    caller: Caller,
) -> Result<ApiJson<Value>, Problem> {
    caller.check_operator()?;
    Ok(ApiJson(state.presenter.report_store(StoreReport::Workers).await?))
}
