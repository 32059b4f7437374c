//! The routes of the API.

use std::sync::Arc;

use axum::Router;
use axum::extract::DefaultBodyLimit;
use axum::http::{HeaderMap, Uri};
use axum::middleware::{from_fn_with_state, map_response};
use axum::routing::{delete, get, post, put};
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;
use windlass::Windlass;

use crate::access::{self, AccessRules, UPLOAD_PATH};
use crate::authenticator::Authenticator;
use crate::change_stream::{self, ChangeWatch};
use crate::config::MAX_BODY_BYTES;
use crate::dashboard::DASHBOARD_FILES;
use crate::files::MAX_UPLOAD_BYTES;
use crate::metrics::{self, Metrics};
use crate::outbound::Outbound;
use crate::presenter::Presenter;
use crate::problem::{Problem, ProblemCode};
use crate::{
    actions, conversations, files, health, mcp, openapi, prompts, questions, reports,
    response_headers, run_feedback, run_record, runs, schedules, stream, tenants, tokens, webhooks,
};

/// What the handlers share.
#[derive(Clone)]
pub(crate) struct ApiState {
    pub(crate) windlass: Windlass,
    pub(crate) access: Arc<AccessRules>,
    pub(crate) authenticator: Arc<Authenticator>,
    pub(crate) presenter: Arc<dyn Presenter>,
    pub(crate) outbound: Arc<dyn Outbound>,
    pub(crate) metrics: Arc<Metrics>,
    /// One permit for each connection that may still be accepted.
    pub(crate) connections: Arc<Semaphore>,
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
        .route("/v1/runs/cancel", post(actions::cancel_runs))
        .route("/v1/runs/resume", post(actions::resume_runs))
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
        .route(
            "/v1/runs/{run_id}/scores",
            get(run_feedback::list_scores).post(run_feedback::add_score),
        )
        .route(
            "/v1/runs/{run_id}/notes",
            get(run_feedback::list_notes).post(run_feedback::add_note),
        )
        .route("/v1/questions", get(questions::list_questions))
        .route("/v1/questions/answer", post(questions::answer_equal))
        .route("/v1/questions/{run_id}/{question_id}/answer", post(questions::answer_question))
        .route("/v1/stats", get(reports::show_stats))
        .route("/v1/events", get(reports::list_events))
        .route("/v1/workers", get(reports::list_workers))
        .route("/v1/runs/{run_id}/timeline", get(run_record::show_timeline))
        .route("/v1/runs/{run_id}/entries", get(run_record::list_entries))
        .route("/v1/events/stream", get(change_stream::stream_changes))
        .route("/metrics", get(metrics::show_metrics))
        .route("/mcp", post(mcp::answer_message))
        .merge(administration_routes())
        .merge(dashboard_routes())
        .fallback(unknown_path)
        .method_not_allowed_fallback(wrong_method)
        .layer(DefaultBodyLimit::max(MAX_BODY_BYTES))
        .layer(from_fn_with_state(state.clone(), access::guard_request))
        .layer(from_fn_with_state(state.clone(), metrics::observe))
        .layer(map_response(response_headers::add_headers))
        .with_state(state)
}

/// What a server keeps beside conversations.
fn administration_routes() -> Router<ApiState> {
    Router::new()
        .route(
            UPLOAD_PATH,
            get(files::list_files)
                .post(files::upload_file)
                .layer(DefaultBodyLimit::max(MAX_UPLOAD_BYTES)),
        )
        .route("/v1/files/{file_id}", get(files::show_file).delete(files::delete_file))
        .route("/v1/tokens", get(tokens::list_tokens).post(tokens::create_token))
        .route("/v1/tokens/{token_id}", delete(tokens::revoke_token))
        .route("/v1/tenants", get(tenants::list_tenants))
        .route("/v1/tenants/{tenant}", put(tenants::set_limits))
        .route("/v1/webhooks", get(webhooks::list_webhooks).post(webhooks::create_webhook))
        .route(
            "/v1/webhooks/{webhook_id}",
            get(webhooks::show_webhook).delete(webhooks::delete_webhook),
        )
        .route("/v1/webhooks/{webhook_id}/deliveries", get(webhooks::list_deliveries))
        .route(
            "/v1/webhooks/{webhook_id}/deliveries/{delivery_id}/retry",
            post(webhooks::retry_delivery),
        )
        .route("/v1/schedules", get(schedules::list_schedules).post(schedules::create_schedule))
        .route(
            "/v1/schedules/{schedule_id}",
            get(schedules::show_schedule)
                .put(schedules::replace_schedule)
                .delete(schedules::delete_schedule),
        )
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
