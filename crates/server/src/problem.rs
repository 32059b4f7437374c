//! Errors as problem details (RFC 9457): a stable code for programs, a sentence for people that
//! says what to do.

use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use schemars::JsonSchema;
use serde::Serialize;
use windlass::DriveError;
use windlass::ports::StoreError;

/// The media type of problem details.
const MEDIA_TYPE: HeaderValue = HeaderValue::from_static("application/problem+json");

/// Why a request was refused or failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Problem {
    code: ProblemCode,
    detail: String,
}

/// The codes of problems. They are part of the API and do not change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum ProblemCode {
    Unauthorized,
    Forbidden,
    RateLimited,
    LimitReached,
    Conflict,
    TokenInUrl,
    HostNotAllowed,
    OriginNotAllowed,
    InvalidRequest,
    LengthRequired,
    UnsupportedMediaType,
    BodyTooLarge,
    NotFound,
    MethodNotAllowed,
    IdempotencyKeyReused,
    ConversationInUse,
    RunFinished,
    NotResumable,
    QuestionClosed,
    CallChanged,
    TooManyStreams,
    Timeout,
    StoreUnavailable,
    Internal,
}

/// Problem details, as JSON.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct ProblemDetails {
    /// A URN that contains the code.
    #[serde(rename = "type")]
    kind: String,
    /// What the code means, in a few words.
    title: &'static str,
    /// The HTTP status.
    status: u16,
    /// The code, for programs.
    code: ProblemCode,
    /// What is wrong in this case, and what to do.
    detail: String,
}

impl ProblemCode {
    /// The status and the title of a code.
    fn row(self) -> (StatusCode, &'static str) {
        match self {
            Self::Unauthorized => (StatusCode::UNAUTHORIZED, "a valid token is required"),
            Self::Forbidden => (StatusCode::FORBIDDEN, "the token may not do this"),
            Self::RateLimited => (StatusCode::TOO_MANY_REQUESTS, "too many requests"),
            Self::LimitReached => (StatusCode::TOO_MANY_REQUESTS, "a limit is reached"),
            Self::Conflict => (StatusCode::CONFLICT, "changed at the same moment"),
            Self::TokenInUrl => (StatusCode::BAD_REQUEST, "tokens in addresses are refused"),
            Self::HostNotAllowed => (StatusCode::MISDIRECTED_REQUEST, "unknown host"),
            Self::OriginNotAllowed => (StatusCode::FORBIDDEN, "cross-site request"),
            Self::InvalidRequest => (StatusCode::BAD_REQUEST, "the request is not valid"),
            Self::LengthRequired => (StatusCode::LENGTH_REQUIRED, "a length is required"),
            Self::UnsupportedMediaType => {
                (StatusCode::UNSUPPORTED_MEDIA_TYPE, "the body is not JSON")
            }
            Self::BodyTooLarge => (StatusCode::PAYLOAD_TOO_LARGE, "the body is too large"),
            Self::NotFound => (StatusCode::NOT_FOUND, "not found"),
            Self::MethodNotAllowed => (StatusCode::METHOD_NOT_ALLOWED, "method not allowed"),
            Self::IdempotencyKeyReused => {
                (StatusCode::UNPROCESSABLE_ENTITY, "the key belongs to another request")
            }
            Self::ConversationInUse => (StatusCode::CONFLICT, "the conversation is in use"),
            Self::RunFinished => (StatusCode::CONFLICT, "the run has ended"),
            Self::NotResumable => (StatusCode::CONFLICT, "the run cannot be resumed"),
            Self::QuestionClosed => (StatusCode::CONFLICT, "the question is not open"),
            Self::CallChanged => (StatusCode::CONFLICT, "the question is about another call"),
            Self::TooManyStreams => (StatusCode::SERVICE_UNAVAILABLE, "too many streams"),
            Self::Timeout => (StatusCode::REQUEST_TIMEOUT, "the request took too long"),
            Self::StoreUnavailable => {
                (StatusCode::SERVICE_UNAVAILABLE, "the store does not respond")
            }
            Self::Internal => (StatusCode::INTERNAL_SERVER_ERROR, "internal error"),
        }
    }

    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Unauthorized => "unauthorized",
            Self::Forbidden => "forbidden",
            Self::RateLimited => "rate_limited",
            Self::LimitReached => "limit_reached",
            Self::Conflict => "conflict",
            Self::TokenInUrl => "token_in_url",
            Self::HostNotAllowed => "host_not_allowed",
            Self::OriginNotAllowed => "origin_not_allowed",
            Self::InvalidRequest => "invalid_request",
            Self::LengthRequired => "length_required",
            Self::UnsupportedMediaType => "unsupported_media_type",
            Self::BodyTooLarge => "body_too_large",
            Self::NotFound => "not_found",
            Self::MethodNotAllowed => "method_not_allowed",
            Self::IdempotencyKeyReused => "idempotency_key_reused",
            Self::ConversationInUse => "conversation_in_use",
            Self::RunFinished => "run_finished",
            Self::NotResumable => "not_resumable",
            Self::QuestionClosed => "question_closed",
            Self::CallChanged => "call_changed",
            Self::TooManyStreams => "too_many_streams",
            Self::Timeout => "timeout",
            Self::StoreUnavailable => "store_unavailable",
            Self::Internal => "internal",
        }
    }
}

impl Problem {
    pub(crate) fn new(code: ProblemCode, detail: impl Into<String>) -> Self {
        Self { code, detail: detail.into() }
    }

    pub(crate) fn not_found(what: &str) -> Self {
        Self::new(ProblemCode::NotFound, format!("there is no {what} here; check its id"))
    }

    pub(crate) fn invalid(detail: impl Into<String>) -> Self {
        Self::new(ProblemCode::InvalidRequest, detail)
    }

    /// The code of the problem.
    pub(crate) fn code(&self) -> ProblemCode {
        self.code
    }

    /// What is wrong, and what to do.
    pub(crate) fn detail(&self) -> &str {
        &self.detail
    }

    /// The problem as JSON.
    pub(crate) fn details(&self) -> ProblemDetails {
        let (status, title) = self.code.row();
        ProblemDetails {
            kind: format!("urn:windlass:problem:{}", self.code.as_str()),
            title,
            status: status.as_u16(),
            code: self.code,
            detail: self.detail.clone(),
        }
    }
}

impl From<StoreError> for Problem {
    fn from(error: StoreError) -> Self {
        let code = match &error {
            StoreError::LaneNotFound { .. } => ProblemCode::NotFound,
            StoreError::Invalid { .. } => ProblemCode::InvalidRequest,
            StoreError::LimitReached { .. } => ProblemCode::LimitReached,
            StoreError::Fenced { .. }
            | StoreError::Busy { .. }
            | StoreError::DiskFull { .. }
            | StoreError::ReadOnly { .. }
            | StoreError::Locked { .. }
            | StoreError::Unreachable { .. }
            | StoreError::Broken { .. } => ProblemCode::StoreUnavailable,
            StoreError::Corrupt { .. }
            | StoreError::NewerSchema { .. }
            | StoreError::OlderSchema { .. } => ProblemCode::Internal,
        };
        match code {
            // Paths and addresses of the store are for operators, who find them in the log.
            ProblemCode::StoreUnavailable | ProblemCode::Internal => {
                tracing::warn!(target: "windlass::server", error = %error, "store_error");
                Self::new(
                    code,
                    "nothing was changed, or it cannot be known; try again, and see the log of the server",
                )
            }
            _ => Self::new(code, error.to_string()),
        }
    }
}

impl From<DriveError> for Problem {
    fn from(error: DriveError) -> Self {
        match error {
            DriveError::Store(error) => error.into(),
            other => {
                tracing::warn!(target: "windlass::server", error = %other, "log_error");
                let detail = "the log of the conversation cannot be read; see `windlass doctor`";
                Self::new(ProblemCode::Internal, detail)
            }
        }
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let (status, _) = self.code.row();
        let body = serde_json::to_string(&self.details()).unwrap_or_default();
        let mut response = (status, [(header::CONTENT_TYPE, MEDIA_TYPE)], body).into_response();
        if matches!(self.code, ProblemCode::RateLimited | ProblemCode::LimitReached) {
            response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from_static("1"));
        }
        if self.code == ProblemCode::Unauthorized {
            let scheme = HeaderValue::from_static("Bearer");
            response.headers_mut().insert(header::WWW_AUTHENTICATE, scheme);
        }
        response
    }
}
