//! The routes of the API.

use std::sync::Arc;

use axum::Router;
use axum::extract::DefaultBodyLimit;
use axum::http::{HeaderMap, Uri};
use axum::middleware::{from_fn_with_state, map_response};
use axum::routing::{get, post};
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;
use windlass::Windlass;

use crate::access::{self, AccessRules};
use crate::change_stream::{self, ChangeWatch};
use crate::config::MAX_BODY_BYTES;
use crate::dashboard::DASHBOARD_FILES;
use crate::presenter::Presenter;
use crate::problem::{Problem, ProblemCode};
use crate::{
    actions, conversations, health, openapi, prompts, questions, reports, response_headers,
    run_record, runs, stream,
};

/// What the handlers share.
#[derive(Clone)]
pub(crate) struct ApiState {
    pub(crate) windlass: Windlass,
    pub(crate) access: Arc<AccessRules>,
    pub(crate) presenter: Arc<dyn Presenter>,
    /// One permit for each stream that may still be opened.
    pub(crate) streams: Arc<Semaphore>,
    /// Says when runs change.
    pub(crate) changes: ChangeWatch,
    /// Cancelled when the server is told to stop.
    pub(crate) stop: CancellationToken,
}

/// Builds the routes.
pub(crate) fn build_router(state: ApiState) -> Router {
    Router::new()
        .route("/healthz", get(health::liveness))
        .route("/readyz", get(health::readiness))
        .route("/openapi.json", get(openapi::show_document))
        .route("/v1/conversations", post(prompts::start_conversation))
        .route(
            "/v1/conversations/{conversation_id}",
            get(conversations::show_conversation).delete(conversations::delete_conversation),
        )
        .route("/v1/conversations/{conversation_id}/prompts", post(prompts::add_prompt))
        .route("/v1/conversations/{conversation_id}/messages", get(conversations::list_messages))
        .route("/v1/conversations/{conversation_id}/stream", get(stream::stream_conversation))
        .route("/v1/runs", get(runs::list_runs))
        .route("/v1/runs/{run_id}", get(runs::show_run))
        .route("/v1/runs/{run_id}/stream", get(stream::stream_run))
        .route("/v1/runs/{run_id}/cancel", post(actions::cancel_run))
        .route("/v1/runs/{run_id}/resume", post(actions::resume_run))
        .route("/v1/runs/{run_id}/fork", post(actions::fork_run))
        .route("/v1/runs/{run_id}/explain", get(reports::explain_run))
        .route("/v1/runs/{run_id}/trace", get(reports::trace_run))
        .route("/v1/runs/{run_id}/events", get(reports::list_run_events))
        .route("/v1/runs/{run_id}/raw", get(reports::list_raw_responses))
        .route("/v1/runs/{run_id}/journal", get(reports::show_journal))
        .route("/v1/questions", get(questions::list_questions))
        .route("/v1/questions/{run_id}/{question_id}/answer", post(questions::answer_question))
        .route("/v1/stats", get(reports::show_stats))
        .route("/v1/events", get(reports::list_events))
        .route("/v1/workers", get(reports::list_workers))
        .route("/v1/runs/{run_id}/timeline", get(run_record::show_timeline))
        .route("/v1/runs/{run_id}/entries", get(run_record::list_entries))
        .route("/v1/events/stream", get(change_stream::stream_changes))
        .merge(dashboard_routes())
        .fallback(unknown_path)
        .method_not_allowed_fallback(wrong_method)
        .layer(DefaultBodyLimit::max(MAX_BODY_BYTES))
        .layer(from_fn_with_state(state.clone(), access::guard_request))
        .layer(map_response(response_headers::add_headers))
        .with_state(state)
}

/// The files of the dashboard.
fn dashboard_routes() -> Router<ApiState> {
    DASHBOARD_FILES.iter().fold(Router::new(), |routes, file| {
        routes
            .route(file.path, get(move |headers: HeaderMap| async move { file.respond(&headers) }))
    })
}

async fn unknown_path(_: Uri) -> Problem {
    Problem::not_found("resource")
}

async fn wrong_method() -> Problem {
    let detail = "this resource has other methods; see /openapi.json";
    Problem::new(ProblemCode::MethodNotAllowed, detail)
}
