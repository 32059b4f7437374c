//! Reads bodies and parameters of requests.

use axum::body::Bytes;
use axum::extract::{FromRequest, FromRequestParts, Query, Request};
use axum::http::StatusCode;
use axum::http::request::Parts;
use axum::response::IntoResponse;
use serde::de::DeserializeOwned;

use crate::config::MAX_BODY_BYTES;
use crate::problem::{Problem, ProblemCode};

/// The body of a request, read from JSON.
pub(crate) struct ApiBody<T>(pub(crate) T);

/// The parameters in the address of a request.
pub(crate) struct ApiQuery<T>(pub(crate) T);

impl<T: DeserializeOwned, S: Send + Sync> FromRequest<S> for ApiBody<T> {
    type Rejection = Problem;

    async fn from_request(request: Request, state: &S) -> Result<Self, Problem> {
        let bytes =
            Bytes::from_request(request, state).await.map_err(|rejection| {
                match rejection.into_response().status() {
                    StatusCode::PAYLOAD_TOO_LARGE => body_too_large(MAX_BODY_BYTES),
                    _ => Problem::invalid("the body did not arrive completely; send it again"),
                }
            })?;
        parse_body(&bytes).map(Self)
    }
}

/// Parses a body. No body is an empty object.
fn parse_body<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, Problem> {
    let text = if bytes.is_empty() { b"{}" } else { bytes };
    serde_json::from_slice(text).map_err(|error| {
        Problem::invalid(format!("the body is not what this resource takes: {error}"))
    })
}

/// The problem with a body over the limit.
pub(crate) fn body_too_large(limit: usize) -> Problem {
    let detail = format!("a body may have {limit} bytes; send less");
    Problem::new(ProblemCode::BodyTooLarge, detail)
}

impl<T: DeserializeOwned, S: Send + Sync> FromRequestParts<S> for ApiQuery<T> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Problem> {
        match Query::<T>::try_from_uri(&parts.uri) {
            Ok(Query(parameters)) => Ok(Self(parameters)),
            Err(rejection) => Err(Problem::invalid(format!(
                "a parameter is not valid: {}",
                rejection.body_text()
            ))),
        }
    }
}
