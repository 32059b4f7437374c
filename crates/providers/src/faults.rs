//! What an HTTP status means for the run: wait, make room, or give up.

use windlass_core::input::FailureClass;

/// Words with which providers say that the request does not fit the window. They have no status
/// of their own for it.
const TOO_LONG: &[&str] = &["too long", "context length", "context window", "too large"];

/// The class of a refused request, before any of the answer came.
pub(crate) fn class(status: u16, message: &str) -> FailureClass {
    match status {
        413 => FailureClass::TooLong,
        400 if says_too_long(message) => FailureClass::TooLong,
        408 | 409 | 425 | 429 | 500..=599 => FailureClass::Passing,
        _ => FailureClass::Lasting,
    }
}

/// The class of the same fault once the answer has begun: what was sent is billed, so a fault
/// that may pass counts as a cut.
pub(crate) fn once_begun(class: FailureClass) -> FailureClass {
    match class {
        FailureClass::Passing | FailureClass::Cut => FailureClass::Cut,
        FailureClass::TooLong => FailureClass::TooLong,
        FailureClass::Lasting => FailureClass::Lasting,
    }
}

fn says_too_long(message: &str) -> bool {
    let message = message.to_lowercase();
    TOO_LONG.iter().any(|words| message.contains(words))
}
