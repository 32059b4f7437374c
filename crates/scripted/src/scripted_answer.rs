//! What the scripted model sees of a request, and what it answers.
//!
//! Not here: sending the answer. An adapter streams the steps over a port or a wire format.

/// What the model sees of one request.
#[derive(Debug, Clone, Copy, Default)]
pub struct RequestView<'a> {
    /// The number of the request, counted from 1. Counted from the conversation (the replies it
    /// already holds, plus one), it stays right after a restart.
    pub ask: u32,
    /// The latest text that a user wrote; it stays the same while tool results are returned.
    pub last_user_text: &'a str,
    /// The tool results that were returned last; empty when a prompt came after them.
    pub results: &'a [ToolResultView<'a>],
    /// The names of the tools on offer.
    pub tools: &'a [&'a str],
    /// The number of bytes of all earlier messages; 0 if they were not counted.
    pub older_bytes: u64,
}

/// One tool result in the last message.
#[derive(Debug, Clone, Copy, Default)]
pub struct ToolResultView<'a> {
    /// The tool that was called.
    pub tool: &'a str,
    /// The text of the result.
    pub text: &'a str,
    /// Whether the result is an error.
    pub is_error: bool,
}

/// One answer: the steps to stream, then the stop, then the usage.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScriptedAnswer {
    /// What happens, in order. [`AnswerStep::Cut`], [`AnswerStep::CutInside`] and
    /// [`AnswerStep::Fail`] come last if at all, and then the stop never arrives.
    pub steps: Vec<AnswerStep>,
    /// Why the model stopped.
    pub stop: ScriptedStop,
    /// The usage of the request.
    pub usage: ScriptedUsage,
}

/// One step of an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AnswerStep {
    /// A text block.
    Say(String),
    /// A thinking block.
    Think(String),
    /// A complete tool call.
    Call {
        /// The id of the call.
        id: String,
        /// The name of the tool.
        name: String,
        /// The input: one complete JSON value, not always an object.
        input_json: String,
    },
    /// A truncated tool call; at most a cut or a failure follows.
    TruncatedCall {
        /// The id of the call.
        id: String,
        /// The name of the tool.
        name: String,
        /// The beginning of the input.
        partial_json: String,
    },
    /// A content block verbatim: one JSON object.
    Raw(String),
    /// A pause of this many milliseconds.
    Delay(u64),
    /// From here on, a pause of this many milliseconds between streamed pieces.
    Pace(u64),
    /// The connection drops here.
    Cut,
    /// The connection drops in the middle of the block directly before this step, which is a
    /// text, thinking, call or raw block.
    CutInside,
    /// The request fails: before any block as a rejected request, after one inside the stream.
    Fail(ScriptedFault),
}

/// Why the model stopped.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScriptedStop {
    /// The stop reason in Anthropic's terms, or any other word that the script gives.
    pub reason: String,
    /// The stop sequence that was met.
    pub sequence: Option<String>,
}

impl ScriptedStop {
    pub(super) fn with_reason(reason: &str) -> Self {
        Self { reason: reason.to_owned(), sequence: None }
    }
}

/// The usage of a request, in tokens.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ScriptedUsage {
    /// Input that is not cached.
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
pub enum ScriptedFault {
    /// The provider rejects the request.
    Status {
        /// The HTTP status, 400 to 599.
        code: u16,
        /// The `retry-after` header verbatim, which may be seconds, a date or something invalid.
        retry_after: Option<String>,
        /// The text of the error.
        message: String,
    },
    /// Nothing more is ever sent.
    Timeout,
    /// The connection cannot be established.
    Connect,
}
