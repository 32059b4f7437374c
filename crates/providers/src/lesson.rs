//! What a refusal teaches: limits nobody had written down, and ways of asking a server does not
//! take. A call that was refused for such a reason is made once more, differently.

use crate::capabilities::Learned;
use crate::fault::Fault;

/// Something learned from a refusal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Lesson {
    /// A limit, and the call may be made again within it.
    OutputLimit(u64),
    /// A limit that only a shorter conversation keeps.
    Window(u64),
    /// The server does not stream.
    NoStream,
    /// Thoughts of another model or conversation are in the way.
    ForeignThoughts,
}

impl Lesson {
    /// The lesson in a fault, if there is one.
    pub(crate) fn of(fault: &Fault) -> Option<Self> {
        let Fault::Refused { status: 400 | 413 | 422, message, .. } = fault else { return None };
        let text = message.to_lowercase();
        output_limit(&text)
            .or_else(|| window(&text))
            .or_else(|| no_stream(&text))
            .or_else(|| foreign_thoughts(&text))
    }

    /// What it means for the table.
    pub(crate) fn learned(self) -> Option<Learned> {
        match self {
            Self::OutputLimit(tokens) => {
                Some(Learned { most_output_tokens: Some(tokens), ..Learned::default() })
            }
            Self::Window(tokens) => {
                Some(Learned { window_tokens: Some(tokens), ..Learned::default() })
            }
            Self::NoStream | Self::ForeignThoughts => None,
        }
    }
}

/// `max_tokens: 200000 > 128000, which is the maximum allowed…`,
/// `max_tokens is too large: 200000. This model supports at most 16384 completion tokens…`.
fn output_limit(text: &str) -> Option<Lesson> {
    let about = ["max_tokens", "max_completion_tokens", "max_output_tokens"];
    if !about.iter().any(|words| text.contains(words))
        || !text.contains("output") && !text.contains("completion tokens")
    {
        return None;
    }
    // A limit that depends on the prompt is the window's.
    if text.contains("context") {
        return None;
    }
    let limit = number_after(text, &["> ", "at most ", "maximum of ", "less than or equal to "])?;
    (limit > 0).then_some(Lesson::OutputLimit(limit))
}

/// `prompt is too long: 210000 tokens > 200000 maximum`, `maximum context length is 8192 tokens`,
/// `exceeds the available context size (4096 tokens)`.
fn window(text: &str) -> Option<Lesson> {
    if !text.contains("too long") && !text.contains("context") {
        return None;
    }
    let phrases =
        ["context length is ", "context size (", "context size of ", "context window of ", "> "];
    let limit = number_after(text, &phrases)?;
    // Nobody has a window smaller than this; it must be another number.
    (limit >= 512).then_some(Lesson::Window(limit))
}

fn no_stream(text: &str) -> Option<Lesson> {
    let about = text.contains("stream");
    let refused = ["not support", "unsupported", "not allowed", "not implemented"];
    (about && refused.iter().any(|words| text.contains(words))).then_some(Lesson::NoStream)
}

fn foreign_thoughts(text: &str) -> Option<Lesson> {
    let about = text.contains("thinking");
    let reasons = ["signature", "cannot be modified", "produced by", "different model", "tied to"];
    (about && reasons.iter().any(|words| text.contains(words))).then_some(Lesson::ForeignThoughts)
}

fn number_after(text: &str, phrases: &[&str]) -> Option<u64> {
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
