//! Errors of a model call, and the failure class that each of them has for the run.

use windlass_core::log::input::{FailureClass, ModelFailure};

use crate::error::retry_class;
use crate::limits::{MAX_MESSAGE_CHARS, MAX_REPLY_BYTES};
use crate::secret::Redactor;
use crate::wire::sse::EventTooLarge;

/// An error of one model call.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum CallError {
    /// The server could not be reached.
    #[error("{0}")]
    Unreachable(String),
    /// Nothing listens on an address of this machine.
    #[error("{0}")]
    ServerNotRunning(String),
    /// No TLS connection could be established.
    #[error("{0}")]
    TlsFailed(String),
    /// The configuration cannot work.
    #[error("{0}")]
    Misconfigured(String),
    /// The server rejected the request.
    #[error("{status} {kind}: {message}{advice}")]
    HttpStatus {
        /// The HTTP status.
        status: u16,
        /// The provider's name for the error.
        kind: String,
        /// The provider's message.
        message: String,
        /// What the user can do.
        advice: &'static str,
        /// How long the provider asked to wait.
        retry_after_ms: Option<u64>,
    },
    /// The server reported an error inside the stream.
    #[error("{kind}: {message}")]
    ErrorEvent {
        /// The HTTP status that the error would have had.
        status: u16,
        /// The provider's name for the error.
        kind: String,
        /// The provider's message.
        message: String,
    },
    /// The stream ended before the reply was complete.
    #[error("the stream ended before the reply was complete ({0})")]
    StreamCut(String),
    /// The response cannot be parsed.
    #[error("{0}; if it happens again, check that the base URL points to a model API")]
    Malformed(String),
    /// Something other than a model API responded.
    #[error("{0}")]
    NotAModelApi(String),
    /// An event is larger than any that a model sends.
    #[error(transparent)]
    EventTooLarge(#[from] EventTooLarge),
    /// A reply is larger than any that a model sends.
    #[error(
        "the reply exceeds {MAX_REPLY_BYTES} bytes; check that the base URL points to a model API"
    )]
    ReplyTooLarge,
    /// Nothing but pings arrived for too long.
    #[error("no data received for {0} ms")]
    IdleTimeout(u64),
    /// The whole call took too long.
    #[error("the call exceeded its time limit of {0} ms")]
    TotalTimeout(u64),
    /// The connection was not established in time.
    #[error("connecting took longer than {0} ms; check the base URL and the network")]
    ConnectTimeout(u64),
    /// The rate limiter tells the run to retry later.
    #[error("{reason}")]
    RateLimited {
        /// Why the call has to wait.
        reason: String,
        /// How long to wait.
        retry_after_ms: u64,
    },
}

impl CallError {
    /// An event is not valid JSON.
    pub(crate) fn invalid_event_json(error: &serde_json::Error) -> Self {
        Self::Malformed(format!("an event is not valid JSON: {error}"))
    }

    /// The events of a stream contradict each other.
    pub(crate) fn malformed_stream(what: &str) -> Self {
        Self::Malformed(format!("malformed stream: {what}"))
    }

    /// Returns the failure that the core receives if the response has started, and is billed.
    pub(crate) fn to_failure_once_started(&self, redactor: &Redactor) -> ModelFailure {
        let failure = self.to_failure(redactor);
        ModelFailure { class: retry_class::class_once_started(failure.class), ..failure }
    }

    /// Returns the failure that the core receives if the response has not started.
    pub(crate) fn to_failure(&self, redactor: &Redactor) -> ModelFailure {
        let class = self.failure_class();
        let text = redactor.redact(&self.to_string());
        let message =
            windlass_core::message::truncate::truncate_text(&text, MAX_MESSAGE_CHARS).into();
        ModelFailure { class, message, retry_after_ms: self.retry_after_ms(), raw: None }
    }

    /// Returns the failure class before the response has started.
    pub(crate) fn failure_class(&self) -> FailureClass {
        match self {
            Self::HttpStatus { status, kind, message, .. }
            | Self::ErrorEvent { status, kind, message } => {
                retry_class::classify_status(*status, &format!("{kind}: {message}"))
            }
            Self::ServerNotRunning(_) => FailureClass::ServerNotRunning,
            Self::Unreachable(_)
            | Self::StreamCut(_)
            | Self::IdleTimeout(_)
            | Self::TotalTimeout(_)
            | Self::ConnectTimeout(_)
            | Self::Malformed(_)
            | Self::RateLimited { .. } => FailureClass::Transient,
            Self::TlsFailed(_)
            | Self::Misconfigured(_)
            | Self::NotAModelApi(_)
            | Self::EventTooLarge(_)
            | Self::ReplyTooLarge => FailureClass::Permanent,
        }
    }

    fn retry_after_ms(&self) -> Option<u64> {
        match self {
            Self::HttpStatus { retry_after_ms, .. } => *retry_after_ms,
            Self::RateLimited { retry_after_ms, .. } => Some(*retry_after_ms),
            _ => None,
        }
    }
}
