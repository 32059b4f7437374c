//! Why a query failed.

use std::path::PathBuf;

use windlass_core::log::input::ModelFailure;
use windlass_messages::ResultMessage;
use windlass_runtime::DriveError;
use windlass_runtime::feed::SubscriptionError;
use windlass_runtime::ports::StoreError;

use crate::{BuildError, RewindError};

/// Why a query or a client failed. Each message says what to do.
#[derive(Debug, thiserror::Error)]
pub enum QueryError {
    /// No model was named, and no key of a provider is set.
    #[error(
        "no model; name one with `.model(…)`, or set the key of a provider such as ANTHROPIC_API_KEY"
    )]
    NoModel,
    /// The model cannot be called: its key is missing, or its address cannot be used.
    #[error("cannot call {model}: {reason}")]
    ModelUnavailable {
        /// The model.
        model: String,
        /// Why it cannot be called.
        reason: String,
    },
    /// A tool is not known.
    #[error("unknown tool `{name}`; available: {known}")]
    UnknownTool {
        /// The name that was given.
        name: String,
        /// The names of the built-in tools.
        known: String,
    },
    /// The folder cannot be used.
    #[error("cannot use the folder {}: {source}", folder.display())]
    Folder {
        /// The folder that was given.
        folder: PathBuf,
        /// Why it cannot be used.
        source: std::io::Error,
    },
    /// A hook is not valid.
    #[error("invalid hook: {0}")]
    Hook(String),
    /// Something else that was given is not valid, or the store does not respond.
    #[error(transparent)]
    Build(#[from] BuildError),
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The run cannot be driven.
    #[error(transparent)]
    Drive(#[from] DriveError),
    /// The log of a sub-agent cannot be read.
    #[error(transparent)]
    Subscription(#[from] SubscriptionError),
    /// The conversation cannot go back.
    #[error(transparent)]
    Rewind(#[from] RewindError),
    /// The run has no result; the message says why.
    #[error("{}", describe(.0))]
    NoResult(Box<ResultMessage>),
    /// The answer does not have the requested type.
    #[error("the answer does not have the requested type: {0}")]
    Answer(serde_json::Error),
    /// The stream ended without a result.
    #[error("the stream ended without a result; read the conversation again with `.resume(…)`")]
    Incomplete,
}

impl QueryError {
    pub(super) fn model_unavailable(model: &str, failure: &ModelFailure) -> Self {
        let reason = failure.message.to_string();
        Self::ModelUnavailable { model: model.to_owned(), reason }
    }
}

fn describe(result: &ResultMessage) -> String {
    let errors = result.errors.iter().flatten().chain(&result.result);
    let text = errors.map(String::as_str).collect::<Vec<_>>().join("; ");
    if text.is_empty() { result.terminal_reason.clone() } else { text }
}
