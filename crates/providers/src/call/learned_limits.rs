//! Learns from rejected requests: limits that the catalog does not know, and features that a server
//! does not support. A call that was rejected for such a reason is made once more, adjusted.

use crate::catalog::capabilities::LearnedLimits;
use crate::error::call_error::CallError;

/// What was learned from a rejected request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RejectionHint {
    /// An output limit; the call may be made again within it.
    OutputLimit(u64),
    /// A context window; only a shorter conversation fits into it.
    Window(u64),
    /// The server does not support streaming.
    StreamingUnsupported,
    /// The server rejects thinking blocks of another model or conversation.
    ForeignThinking,
}

impl RejectionHint {
    /// Returns the hint in an error, if there is one.
    pub(crate) fn from_error(fault: &CallError) -> Option<Self> {
        let CallError::HttpStatus { status: 400 | 413 | 422, message, .. } = fault else {
            return None;
        };
        let text = message.to_lowercase();
        parse_output_limit(&text)
            .or_else(|| parse_window(&text))
            .or_else(|| parse_streaming_unsupported(&text))
            .or_else(|| parse_foreign_thinking(&text))
    }

    /// Returns the limits to record in the capability table, if the hint is a limit.
    pub(crate) fn to_learned_limits(self) -> Option<LearnedLimits> {
        match self {
            Self::OutputLimit(tokens) => {
                Some(LearnedLimits { max_output_tokens: Some(tokens), ..LearnedLimits::default() })
            }
            Self::Window(tokens) => {
                Some(LearnedLimits { window_tokens: Some(tokens), ..LearnedLimits::default() })
            }
            Self::StreamingUnsupported | Self::ForeignThinking => None,
        }
    }
}

/// Parses the output limit of messages like `max_tokens: 200000 > 128000, which is the maximum
/// allowed…`, `max_tokens is too large: 200000. This model supports at most 16384 completion
/// tokens…`.
fn parse_output_limit(text: &str) -> Option<RejectionHint> {
    let about = ["max_tokens", "max_completion_tokens", "max_output_tokens"];
    if !about.iter().any(|words| text.contains(words))
        || !text.contains("output") && !text.contains("completion tokens")
    {
        return None;
    }
    // A limit that depends on the prompt is that of the window.
    if text.contains("context") {
        return None;
    }
    let limit =
        parse_number_after(text, &["> ", "at most ", "maximum of ", "less than or equal to "])?;
    (limit > 0).then_some(RejectionHint::OutputLimit(limit))
}

/// Parses the window of messages like `prompt is too long: 210000 tokens > 200000 maximum`,
/// `maximum context length is 8192 tokens`, `exceeds the available context size (4096 tokens)`.
fn parse_window(text: &str) -> Option<RejectionHint> {
    if !text.contains("too long") && !text.contains("context") {
        return None;
    }
    let phrases =
        ["context length is ", "context size (", "context size of ", "context window of ", "> "];
    let limit = parse_number_after(text, &phrases)?;
    // No model has a smaller window; the number means something else.
    (limit >= 512).then_some(RejectionHint::Window(limit))
}

fn parse_streaming_unsupported(text: &str) -> Option<RejectionHint> {
    let about = text.contains("stream");
    let refused = ["not support", "unsupported", "not allowed", "not implemented"];
    (about && refused.iter().any(|words| text.contains(words)))
        .then_some(RejectionHint::StreamingUnsupported)
}

fn parse_foreign_thinking(text: &str) -> Option<RejectionHint> {
    let about = text.contains("thinking");
    let reasons = ["signature", "cannot be modified", "produced by", "different model", "tied to"];
    (about && reasons.iter().any(|words| text.contains(words)))
        .then_some(RejectionHint::ForeignThinking)
}

fn parse_number_after(text: &str, phrases: &[&str]) -> Option<u64> {
    phrases.iter().find_map(|phrase| {
        let (_, rest) = text.split_once(phrase)?;
        let digits: String = rest
            .chars()
            .take_while(|c| c.is_ascii_digit() || *c == ',' || *c == '_')
            .filter(char::is_ascii_digit)
            .collect();
        digits.parse().ok()
    })
}
