//! Liveness and readiness.

use axum::extract::State;
use axum::response::{IntoResponse, Response};
use schemars::JsonSchema;
use serde::Serialize;

use crate::json::ApiJson;
use crate::problem::{Problem, ProblemCode};
use crate::router::ApiState;

/// Whether the server works.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct HealthStatus {
    /// `ok`, or `stopping` while the server shuts down.
    status: &'static str,
}

/// `GET /healthz`: the process responds. It needs no token and says nothing else.
pub(crate) async fn liveness() -> Response {
    ApiJson(HealthStatus { status: "ok" }).into_response()
}

/// `GET /readyz`: the server takes requests, and its store responds.
pub(crate) async fn readiness(
    State(state): State<ApiState>,
) -> Result<ApiJson<HealthStatus>, Problem> {
    if state.stop.is_cancelled() {
        let detail = "the server is stopping; use another one";
        return Err(Problem::new(ProblemCode::StoreUnavailable, detail));
    }
    state.windlass.check_store().await?;
    Ok(ApiJson(HealthStatus { status: "ok" }))
}
