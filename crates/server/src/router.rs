//! The routes of the API.

use std::sync::Arc;

use axum::Router;
use axum::extract::DefaultBodyLimit;
use axum::http::Uri;
use axum::middleware::{from_fn_with_state, map_response};
use axum::routing::{get, post};
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;
use windlass::Windlass;

use crate::access::{self, AccessRules};
use crate::config::MAX_BODY_BYTES;
use crate::problem::{Problem, ProblemCode};
use crate::run_options::RunSettingsResolver;
use crate::{conversations, health, prompts, response_headers, runs, stream};

/// What the handlers share.
#[derive(Clone)]
pub(crate) struct ApiState {
    pub(crate) windlass: Windlass,
    pub(crate) access: Arc<AccessRules>,
    pub(crate) run_settings: Arc<dyn RunSettingsResolver>,
    /// One permit for each stream that may still be opened.
    pub(crate) streams: Arc<Semaphore>,
    /// Cancelled when the server is told to stop.
    pub(crate) stop: CancellationToken,
}

/// Builds the routes.
pub(crate) fn build_router(state: ApiState) -> Router {
    Router::new()
        .route("/healthz", get(health::liveness))
        .route("/readyz", get(health::readiness))
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
        .fallback(unknown_path)
        .method_not_allowed_fallback(wrong_method)
        .layer(DefaultBodyLimit::max(MAX_BODY_BYTES))
        .layer(from_fn_with_state(state.clone(), access::guard_request))
        .layer(map_response(response_headers::add_headers))
        .with_state(state)
}

async fn unknown_path(_: Uri) -> Problem {
    Problem::not_found("resource")
}

async fn wrong_method() -> Problem {
    let detail = "this resource has other methods; see /openapi.json";
    Problem::new(ProblemCode::MethodNotAllowed, detail)
}
