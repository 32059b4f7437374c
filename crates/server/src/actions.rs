//! What can be done to a run: cancel, resume, fork.

use axum::extract::{Path, State};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use windlass::core::log::ids::Seq;
use windlass::core::stop::RunState;
use windlass::{ResumeOutcome, ports::RunInfo};

use crate::body::ApiBody;
use crate::json::ApiJson;
use crate::lookup;
use crate::problem::{Problem, ProblemCode};
use crate::router::ApiState;

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
    Path(id): Path<String>,
    ApiBody(NoFields {}): ApiBody<NoFields>,
) -> Result<Response, Problem> {
    let run = lookup::find_run(&state, &id).await?;
    if run.cause.is_some() {
        let detail = "the run has ended; there is nothing to cancel";
        return Err(Problem::new(ProblemCode::RunFinished, detail));
    }
    if !run.cancel_requested {
        state.windlass.session(run.lane.clone()).cancel(Some(run.run.clone())).await?;
    }
    Ok(accepted(&run, run.run.as_str()))
}

/// `POST /v1/runs/{run_id}/resume`.
pub(crate) async fn resume_run(
    State(state): State<ApiState>,
    Path(id): Path<String>,
    ApiBody(NoFields {}): ApiBody<NoFields>,
) -> Result<Response, Problem> {
    let run = lookup::find_run(&state, &id).await?;
    if run.state == RunState::WaitingOnHuman {
        let detail = "the run waits for an answer; see /v1/questions";
        return Err(Problem::new(ProblemCode::NotResumable, detail));
    }
    match Box::pin(state.windlass.resume_run(&run)).await? {
        ResumeOutcome::Woken => Ok(accepted(&run, run.run.as_str())),
        ResumeOutcome::NextRun(next) => Ok(accepted(&run, next.as_str())),
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

/// `POST /v1/runs/{run_id}/fork`.
pub(crate) async fn fork_run(
    State(state): State<ApiState>,
    Path(id): Path<String>,
    ApiBody(body): ApiBody<NewFork>,
) -> Result<Response, Problem> {
    let run = lookup::find_run(&state, &id).await?;
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
        Some(prompt) => Some(fork.enqueue(prompt).await?.to_string()),
        None => None,
    };
    let conversation_id = fork.lane().session_id().to_owned();
    let location = format!("/v1/conversations/{conversation_id}");
    let forked_from_id = run.lane.session_id().to_owned();
    let body = ForkView { conversation_id, forked_from_id, at_entry: at, run_id: next };
    Ok((StatusCode::CREATED, [(header::LOCATION, location)], ApiJson(body)).into_response())
}
