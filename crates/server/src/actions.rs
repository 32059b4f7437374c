//! What can be done to a run: cancel, resume, fork.

use axum::extract::{Path, State};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use windlass::core::log::ids::{RunId, Seq};
use windlass::core::message::content_block::ContentBlock;
use windlass::core::stop::RunState;
use windlass::{ResumeOutcome, ports::RunInfo};

use crate::body::ApiBody;
use crate::caller::Caller;
use crate::deferred_prompts;
use crate::json::ApiJson;
use crate::lookup;
use crate::problem::{Problem, ProblemCode};
use crate::router::ApiState;
use crate::runs::RunFilter;

/// The most runs that one request cancels or resumes.
const MAX_BULK_RUNS: usize = 500;

/// Nothing.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct NoFields {}

/// Where a fork begins.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct NewFork {
    /// The last entry of the log that the fork shares; its end, if not given. A fork begins where no
    /// round of tool calls is open, so it may be an earlier one.
    #[serde(default)]
    at_entry: Option<Seq>,
    /// The first prompt of the fork; without one it waits for its first.
    #[serde(default)]
    prompt: Option<String>,
}

/// A request that is durable, and will be acted on.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct AcceptedAction {
    /// The conversation.
    conversation_id: String,
    /// The run; a run that stopped at a limit continues as a new one.
    run_id: String,
}

/// A conversation that shares the history of another one.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct ForkView {
    /// The new conversation.
    conversation_id: String,
    /// The conversation whose history it shares.
    forked_from_id: String,
    /// The last entry that they share.
    at_entry: Seq,
    /// The run of the prompt, if one was given.
    run_id: Option<String>,
}

fn accepted(run: &RunInfo, run_id: &str) -> Response {
    let body = AcceptedAction {
        conversation_id: run.lane.session_id().to_owned(),
        run_id: run_id.to_owned(),
    };
    (StatusCode::ACCEPTED, ApiJson(body)).into_response()
}

/// `POST /v1/runs/{run_id}/cancel`.
pub(crate) async fn cancel_run(
    State(state): State<ApiState>,
    caller: Caller,
    Path(id): Path<String>,
    ApiBody(NoFields {}): ApiBody<NoFields>,
) -> Result<Response, Problem> {
    let run = lookup::find_run(&state, &caller, &id).await?;
    let id = cancel(&state, &run).await?;
    Ok(accepted(&run, &id))
}

/// `POST /v1/runs/{run_id}/resume`.
pub(crate) async fn resume_run(
    State(state): State<ApiState>,
    caller: Caller,
    Path(id): Path<String>,
    ApiBody(NoFields {}): ApiBody<NoFields>,
) -> Result<Response, Problem> {
    let run = lookup::find_run(&state, &caller, &id).await?;
    let id = resume(&state, &run).await?;
    Ok(accepted(&run, &id))
}

/// Requests that a run is cancelled, and returns its id.
async fn cancel(state: &ApiState, run: &RunInfo) -> Result<String, Problem> {
    if run.cause.is_some() {
        let detail = "the run has ended; there is nothing to cancel";
        return Err(Problem::new(ProblemCode::RunFinished, detail));
    }
    let deferred = deferred_prompts::find_deferred(&state.windlass, run.run.as_str()).await?;
    if let Some(deferred) = deferred
        && deferred.delete(state.windlass.store()).await?
    {
        return Ok(run.run.to_string());
    }
    if !run.cancel_requested {
        state.windlass.session(run.lane.clone()).cancel(Some(run.run.clone())).await?;
    }
    Ok(run.run.to_string())
}

/// Requests that a run is resumed, and returns the id of the run that continues.
async fn resume(state: &ApiState, run: &RunInfo) -> Result<String, Problem> {
    if run.state == RunState::WaitingOnHuman {
        let detail = "the run waits for an answer; see /v1/questions";
        return Err(Problem::new(ProblemCode::NotResumable, detail));
    }
    match Box::pin(state.windlass.resume_run(run)).await? {
        ResumeOutcome::Woken => Ok(run.run.to_string()),
        ResumeOutcome::NextRun(next) => Ok(next.to_string()),
        ResumeOutcome::NotResumable => Err(Problem::new(
            ProblemCode::NotResumable,
            "the run ended for a reason that cannot be resumed; send a new prompt",
        )),
        ResumeOutcome::Superseded => Err(Problem::new(
            ProblemCode::NotResumable,
            "the conversation has a later run; resume that one, or send a new prompt",
        )),
    }
}

/// What became of one of many runs.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct BulkItem {
    /// The run that was meant.
    run_id: String,
    /// The run that continues, or is cancelled.
    accepted_run_id: Option<String>,
    /// Why nothing was done.
    code: Option<ProblemCode>,
    /// The same in a sentence.
    detail: Option<String>,
}

/// What became of many runs, the newest first.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct BulkResult {
    /// The runs that matched.
    data: Vec<BulkItem>,
    /// Whether more runs match: the same request again continues.
    has_more: bool,
}

/// What is done to many runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum BulkAction {
    Cancel,
    Resume,
}

/// `POST /v1/runs/cancel`: runs that match and have not ended.
pub(crate) async fn cancel_runs(
    State(state): State<ApiState>,
    caller: Caller,
    ApiBody(filter): ApiBody<RunFilter>,
) -> Result<ApiJson<BulkResult>, Problem> {
    act_on_runs(&state, &caller, filter, BulkAction::Cancel).await
}

/// `POST /v1/runs/resume`: runs that match and can be resumed.
pub(crate) async fn resume_runs(
    State(state): State<ApiState>,
    caller: Caller,
    ApiBody(filter): ApiBody<RunFilter>,
) -> Result<ApiJson<BulkResult>, Problem> {
    act_on_runs(&state, &caller, filter, BulkAction::Resume).await
}

async fn act_on_runs(
    state: &ApiState,
    caller: &Caller,
    filter: RunFilter,
    action: BulkAction,
) -> Result<ApiJson<BulkResult>, Problem> {
    if filter.is_empty() {
        let detail = "the filter is empty, and would mean every run; say which, for instance by \
                      `state`";
        return Err(Problem::invalid(detail));
    }
    let mut query = filter.into_query(state, caller).await?;
    let wanted = |run: &RunInfo| match action {
        BulkAction::Cancel => run.cause.is_none() && !run.cancel_requested,
        BulkAction::Resume => {
            run.resume_available || run.cause.is_some_and(|cause| cause.is_resumable())
        }
    };
    let mut result = BulkResult { data: Vec::new(), has_more: false };
    loop {
        let page = Box::pin(state.windlass.list_runs(&query, MAX_BULK_RUNS)).await?;
        query.before = page.runs.last().map(|run| run.run.clone());
        for run in page.runs.iter().filter(|run| wanted(run)) {
            if result.data.len() == MAX_BULK_RUNS {
                result.has_more = true;
                return Ok(ApiJson(result));
            }
            let done = match action {
                BulkAction::Cancel => cancel(state, run).await,
                BulkAction::Resume => resume(state, run).await,
            };
            result.data.push(BulkItem::new(run, done)?);
        }
        if !page.has_more {
            return Ok(ApiJson(result));
        }
    }
}

impl BulkItem {
    /// A store that does not respond is a problem of the whole request.
    fn new(run: &RunInfo, done: Result<String, Problem>) -> Result<Self, Problem> {
        let run_id = run.run.to_string();
        match done {
            Ok(id) => Ok(Self { run_id, accepted_run_id: Some(id), code: None, detail: None }),
            Err(problem) if problem.code() == ProblemCode::StoreUnavailable => Err(problem),
            Err(problem) => Ok(Self {
                run_id,
                accepted_run_id: None,
                code: Some(problem.code()),
                detail: Some(problem.detail().to_owned()),
            }),
        }
    }
}

/// `POST /v1/runs/{run_id}/fork`.
pub(crate) async fn fork_run(
    State(state): State<ApiState>,
    caller: Caller,
    Path(id): Path<String>,
    ApiBody(body): ApiBody<NewFork>,
) -> Result<Response, Problem> {
    let run = lookup::find_run(&state, &caller, &id).await?;
    let session = state.windlass.session(run.lane.clone());
    let at = Box::pin(session.last_closed_round(body.at_entry.unwrap_or(Seq::MAX))).await?;
    if at == 0 {
        let detail = "there is no entry up to there where a fork could begin; give a later one";
        return Err(Problem::invalid(detail));
    }
    if body.prompt.as_deref().is_some_and(|prompt| prompt.trim().is_empty()) {
        return Err(Problem::invalid("`prompt` is empty; give a text, or leave it out"));
    }
    let fork = Box::pin(session.fork(Some(at))).await?;
    let next = match &body.prompt {
        Some(prompt) => {
            let next = RunId::from(uuid::Uuid::now_v7().to_string());
            let blocks = vec![ContentBlock::text(prompt)];
            fork.enqueue_for_tenant(&run.tenant, &next, blocks, None).await?;
            Some(next.to_string())
        }
        None => None,
    };
    let conversation_id = fork.lane().session_id().to_owned();
    let location = format!("/v1/conversations/{conversation_id}");
    let forked_from_id = run.lane.session_id().to_owned();
    let body = ForkView { conversation_id, forked_from_id, at_entry: at, run_id: next };
    Ok((StatusCode::CREATED, [(header::LOCATION, location)], ApiJson(body)).into_response())
}
