//! What an HTTP status means for the run: wait, make room, or give up.

use windlass_core::input::FailureClass;

/// Words with which providers say that the request does not fit the window. They have no status
/// of their own for it.
const TOO_LONG: &[&str] = &[
    "too long",
    "context length",
    "context_length",
    "context window",
    "context size",
    "too large",
];

/// Words with which providers say that waiting will not help, although the status says it would.
const USED_UP: &[&str] = &["insufficient_quota", "credit balance"];

/// The class of a refused request, before any of the answer came.
pub(crate) fn class(status: u16, message: &str) -> FailureClass {
    match status {
        413 => FailureClass::TooLong,
        400 if says(message, TOO_LONG) => FailureClass::TooLong,
        429 if says(message, USED_UP) => FailureClass::Lasting,
        408 | 409 | 425 | 429 | 500..=599 => FailureClass::Passing,
        _ => FailureClass::Lasting,
    }
}

/// The class of the same fault once the answer has begun: what was sent is billed, so a fault
/// that may pass counts as a cut.
pub(crate) fn once_begun(class: FailureClass) -> FailureClass {
    match class {
        FailureClass::Passing | FailureClass::Absent | FailureClass::Cut => FailureClass::Cut,
        FailureClass::TooLong => FailureClass::TooLong,
        FailureClass::Lasting => FailureClass::Lasting,
    }
}

fn says(message: &str, phrases: &[&str]) -> bool {
    let message = message.to_lowercase();
    phrases.iter().any(|words| message.contains(words))
}
