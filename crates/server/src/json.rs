//! JSON in responses.

use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse, Response};
use serde::Serialize;

use crate::problem::{Problem, ProblemCode};

/// A response body in JSON.
pub(crate) struct ApiJson<T>(pub(crate) T);

impl<T: Serialize> IntoResponse for ApiJson<T> {
    fn into_response(self) -> Response {
        let json = HeaderValue::from_static("application/json");
        match serde_json::to_string(&self.0) {
            Ok(body) => ([(header::CONTENT_TYPE, json)], body).into_response(),
            Err(error) => {
                tracing::error!(target: "windlass::server", error = %error, "encoding_error");
                let detail = "the response could not be encoded; see the log of the server";
                Problem::new(ProblemCode::Internal, detail).into_response()
            }
        }
    }
}
