//! What the scripted model is asked and what it answers.
//!
//! Not here: sending it. An adapter streams the steps over a port or a wire format.

/// What the model sees of one request.
#[derive(Debug, Clone, Copy, Default)]
pub struct Seen<'a> {
    /// Which request this is, counted from 1. Count it from the conversation (replies it already
    /// holds, plus one) and it stays right after a restart.
    pub ask: u32,
    /// The latest text a user wrote; it stays the same while tool results come back.
    pub last_user_text: &'a str,
    /// The tool results that came back last; empty when a prompt came after them.
    pub results: &'a [SeenResult<'a>],
    /// The names of the tools on offer.
    pub tools: &'a [&'a str],
    /// Bytes of everything said before; 0 if nobody counted.
    pub older_bytes: u64,
}

/// One tool result in the last message.
#[derive(Debug, Clone, Copy, Default)]
pub struct SeenResult<'a> {
    /// The tool that was called.
    pub tool: &'a str,
    /// What it said.
    pub text: &'a str,
    /// Whether it said so as an error.
    pub is_error: bool,
}

/// One answer: the steps to stream, then the stop, then the bill.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    /// What happens, in order. [`Step::Cut`], [`Step::CutInside`] and [`Step::Fail`] come last if
    /// at all, and then the stop never arrives.
    pub steps: Vec<Step>,
    /// Why the model stopped.
    pub stop: Stop,
    /// What the request cost.
    pub usage: Usage,
}

/// One thing that happens while answering.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step {
    /// A text block.
    Say(String),
    /// A thinking block.
    Think(String),
    /// A complete tool call.
    Call {
        /// The call's id.
        id: String,
        /// The tool.
        name: String,
        /// Its input: one complete JSON value, not always an object.
        input_json: String,
    },
    /// A tool call that breaks off; at most a cut or a failure follows.
    TruncatedCall {
        /// The call's id.
        id: String,
        /// The tool.
        name: String,
        /// The beginning of its input.
        partial_json: String,
    },
    /// A content block verbatim: one JSON object.
    Raw(String),
    /// Nothing, for so many milliseconds.
    Delay(u64),
    /// From here on, so many milliseconds between streamed pieces.
    Pace(u64),
    /// The connection drops here.
    Cut,
    /// The connection drops in the middle of the block directly before this step, which is a
    /// text, thinking, call or raw block.
    CutInside,
    /// The request fails: before any block as a refused request, after one inside the stream.
    Fail(Fault),
}

/// Why the model stopped.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stop {
    /// The stop reason in Anthropic's words, or any other word the script gives.
    pub reason: String,
    /// The stop sequence that was hit.
    pub sequence: Option<String>,
}

impl Stop {
    pub(super) fn because(reason: &str) -> Self {
        Self { reason: reason.to_owned(), sequence: None }
    }
}

/// What a request cost, in tokens.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Usage {
    /// Fresh input.
    pub input: u64,
    /// Output.
    pub output: u64,
    /// Input read from the cache.
    pub cache_read: u64,
    /// Input written to the cache.
    pub cache_write: u64,
}

/// How a request fails.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fault {
    /// The provider says no.
    Status {
        /// The HTTP status, 400 to 599.
        code: u16,
        /// The `retry-after` header verbatim, which may be seconds, a date or nonsense.
        retry_after: Option<String>,
        /// The error's text.
        message: String,
    },
    /// Nothing more ever comes.
    Timeout,
    /// The connection cannot be made.
    Connect,
}
