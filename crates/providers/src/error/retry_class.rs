//! Retry classification of HTTP errors: whether a failed call can be retried, needs a shorter
//! prompt, or has failed for good.

use windlass_core::log::input::FailureClass;

/// Phrases with which providers say that the request does not fit the window. They have no status
/// of their own for it.
const CONTEXT_TOO_LONG_PHRASES: &[&str] = &[
    "too long",
    "context length",
    "context_length",
    "context window",
    "context size",
    "too large",
];

/// Phrases with which providers say that waiting will not help, although the status suggests it.
const QUOTA_EXHAUSTED_PHRASES: &[&str] = &["insufficient_quota", "credit balance"];

/// The failure class of a rejected request, before the response has started.
pub fn classify_status(status: u16, message: &str) -> FailureClass {
    match status {
        413 => FailureClass::ContextTooLong,
        400 if contains_any(message, CONTEXT_TOO_LONG_PHRASES) => FailureClass::ContextTooLong,
        429 if contains_any(message, QUOTA_EXHAUSTED_PHRASES) => FailureClass::Permanent,
        408 | 409 | 425 | 429 | 500..=599 => FailureClass::Transient,
        _ => FailureClass::Permanent,
    }
}

/// The failure class of the same error once the response has started: what was sent is billed, so a
/// transient error counts as a cut.
pub fn class_once_started(class: FailureClass) -> FailureClass {
    match class {
        FailureClass::Transient | FailureClass::ServerNotRunning | FailureClass::StreamCut => {
            FailureClass::StreamCut
        }
        FailureClass::ContextTooLong => FailureClass::ContextTooLong,
        FailureClass::Permanent => FailureClass::Permanent,
    }
}

fn contains_any(message: &str, phrases: &[&str]) -> bool {
    let message = message.to_lowercase();
    phrases.iter().any(|words| message.contains(words))
}
