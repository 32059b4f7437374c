//! Outcomes of tool calls. The kinds differ because the model and the human act differently on
//! each.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::call::input_request::InputRequest;
use crate::message::content_block::{ContentBlock, ErrorFlag};
use crate::message::raw_json::RawJson;
use crate::message::truncate;
use crate::permission::AddedAccess;

/// What a tool returned.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ToolOutcome {
    /// The call succeeded: a JSON string or a list of content blocks. Any other JSON is shown as
    /// text.
    Done(RawJson),
    /// The call succeeded, with detail for programs and people that the model does not see.
    DoneWithDetail {
        /// The content that the model sees.
        content: RawJson,
        /// The detail for programs and people, in a format that the tool chooses.
        detail: RawJson,
    },
    /// The call failed with this error.
    Failed(ToolError),
    /// The call ran out of time.
    TimedOut {
        /// How long the call ran.
        after_ms: u64,
    },
    /// The call was stopped before it ended.
    Interrupted {
        /// How long the call ran.
        after_ms: u64,
    },
    /// The call cannot end without an answer of the user. It is started again with the answer.
    InputRequested(InputRequest),
}

impl ToolOutcome {
    /// Returns the content that the model sees of a call that succeeded.
    #[must_use]
    pub fn content(&self) -> Option<&RawJson> {
        match self {
            Self::Done(content) | Self::DoneWithDetail { content, .. } => Some(content),
            Self::Failed(_)
            | Self::TimedOut { .. }
            | Self::Interrupted { .. }
            | Self::InputRequested(_) => None,
        }
    }

    /// Returns the detail that the model does not see.
    #[must_use]
    pub fn detail(&self) -> Option<&RawJson> {
        match self {
            Self::DoneWithDetail { detail, .. } => Some(detail),
            Self::Done(_)
            | Self::Failed(_)
            | Self::TimedOut { .. }
            | Self::Interrupted { .. }
            | Self::InputRequested(_) => None,
        }
    }
}

impl From<RawJson> for ToolOutcome {
    fn from(content: RawJson) -> Self {
        Self::Done(content)
    }
}

/// The error object that the model sees. Never contains a stack trace: that belongs to the event.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct ToolError {
    /// Short, machine-readable error code, stable across versions.
    pub code: Arc<str>,
    /// What happened, in one sentence.
    pub message: Arc<str>,
    /// What to call or do instead.
    pub hint: Arc<str>,
    /// Whether the model can continue after the error; `false` ends the run.
    pub recoverable: bool,
    /// Whether the error is transient (time-out, refused connection, 429, 5xx).
    #[serde(default)]
    pub transient: bool,
    /// What the tool printed before it failed. The model sees it beside the message, which stays
    /// one sentence.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output: Option<Arc<str>>,
    /// The full error for the event and the trace: its causes, a stack trace. The model does not
    /// see it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub detail: Option<Arc<str>>,
    /// What the sandbox kept the call from, if that is why it failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub blocked: Option<Arc<AddedAccess>>,
}

impl ToolError {
    /// Creates a permanent error that the model can work around.
    #[must_use]
    pub fn new(code: &str, message: &str, hint: &str) -> Self {
        Self {
            code: Arc::from(code),
            message: Arc::from(message),
            hint: Arc::from(hint),
            recoverable: true,
            transient: false,
            output: None,
            detail: None,
            blocked: None,
        }
    }

    /// Returns the error with the output that was printed before it.
    #[must_use]
    pub fn with_output(mut self, output: &str) -> Self {
        self.output = Some(Arc::from(output)).filter(|output: &Arc<str>| !output.is_empty());
        self
    }

    /// Returns the error with what the sandbox kept the call from.
    #[must_use]
    pub fn with_blocked(mut self, blocked: AddedAccess) -> Self {
        self.blocked = Some(blocked).filter(|blocked| !blocked.is_empty()).map(Arc::new);
        self
    }

    /// Returns the message, followed by the output.
    #[must_use]
    pub fn message_and_output(&self) -> String {
        match &self.output {
            Some(output) => format!("{}\n{output}", self.message),
            None => self.message.to_string(),
        }
    }

    /// Returns the full error for people: the message, the hint, and the causes.
    #[must_use]
    pub fn full_text(&self) -> String {
        let Self { code, message, hint, detail, .. } = self;
        let text = format!("{code}: {message} ({hint})");
        detail.as_ref().map_or(text.clone(), |detail| format!("{text}\n{detail}"))
    }

    /// Returns the error marked as transient.
    #[must_use]
    pub fn into_transient(mut self) -> Self {
        self.transient = true;
        self
    }

    /// Returns the error marked as fatal: it ends the run.
    #[must_use]
    pub fn into_fatal(mut self) -> Self {
        self.recoverable = false;
        self
    }

    /// The tool does not exist.
    #[must_use]
    pub fn unknown_tool(tool: &str) -> Self {
        Self::new(
            "unknown_tool",
            &format!("there is no tool named {tool:?}"),
            "use one of the tools offered in this conversation",
        )
    }

    /// The arguments were not a JSON object.
    #[must_use]
    pub fn not_an_object() -> Self {
        Self::new(
            "invalid_input",
            "the arguments are not a JSON object",
            "send the arguments as one JSON object that fits the tool's schema",
        )
    }
}

/// The kind of an outcome, as stored and shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OutcomeKind {
    /// The call succeeded.
    Done,
    /// The call failed.
    Failed,
    /// Rules or a human denied the call; it did not run.
    Denied,
    /// The call did not run because the run ended or an earlier call was fatal.
    Skipped,
    /// The call was interrupted; effects unknown.
    Interrupted,
    /// The call ran out of time.
    TimedOut,
    /// A human answered the call.
    Answered,
    /// A hook deferred the call: it did not run, and the run ended with it.
    Deferred,
}

impl OutcomeKind {
    /// Returns the name of the kind.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Done => "done",
            Self::Failed => "failed",
            Self::Denied => "denied",
            Self::Skipped => "skipped",
            Self::Interrupted => "interrupted",
            Self::TimedOut => "timed out",
            Self::Answered => "answered",
            Self::Deferred => "deferred",
        }
    }
}

/// The result of a call as the model sees it.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct CallResult {
    /// The kind of the outcome.
    pub kind: OutcomeKind,
    /// Content of the tool result: a JSON string or a list of blocks.
    pub content: RawJson,
    /// Whether the result is an error.
    pub error_flag: ErrorFlag,
}

/// The JSON of an error. Programs and models test for `error`; the kind of the outcome stands
/// beside it.
#[derive(Serialize)]
struct ErrorObject<'a> {
    error: bool,
    kind: &'a str,
    code: &'a str,
    message: &'a str,
    hint: &'a str,
    recoverable: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    output: Option<&'a str>,
}

impl CallResult {
    /// Returns what the model sees of the tool's outcome, truncated to `limit_chars`.
    #[must_use]
    pub fn from_outcome(outcome: &ToolOutcome, limit_chars: u64, reach: SideEffects) -> Self {
        match outcome {
            ToolOutcome::Done(content) | ToolOutcome::DoneWithDetail { content, .. } => Self {
                kind: OutcomeKind::Done,
                content: truncate::truncate_content(&to_result_content(content), limit_chars),
                error_flag: ErrorFlag::Success,
            },
            ToolOutcome::Failed(error) => Self::from_error(OutcomeKind::Failed, error, limit_chars),
            ToolOutcome::TimedOut { after_ms } => Self::from_timeout(*after_ms, reach),
            ToolOutcome::Interrupted { after_ms } => Self::from_interruption(*after_ms, reach),
            ToolOutcome::InputRequested(request) => Self::from_unanswered_request(request, reach),
        }
    }

    /// Returns an error object with the given kind of outcome.
    #[must_use]
    pub fn from_error(kind: OutcomeKind, error: &ToolError, limit_chars: u64) -> Self {
        let fits = |object: &RawJson| object.text().chars().count() as u64 <= limit_chars;
        let mut object = error_object(kind, error, u64::MAX, u64::MAX);
        let mut output_chars = limit_chars;
        // The size of the escaped output is known only after it is written.
        for _ in 0..MAX_OUTPUT_HALVINGS {
            if fits(&object) {
                break;
            }
            output_chars /= 2;
            object = error_object(kind, error, limit_chars, output_chars);
        }
        Self { kind, content: RawJson::string(object.text()), error_flag: ErrorFlag::Error }
    }

    /// Returns the result of a call that rules or a human denied.
    #[must_use]
    pub fn from_denial(reason: &str) -> Self {
        let error = ToolError::new(
            "denied",
            reason,
            "do not repeat this call; continue without it or ask the user",
        );
        Self::from_error(OutcomeKind::Denied, &error, truncate::MAX_SENTENCE_CHARS)
    }

    /// Returns the result of a call that never ran.
    #[must_use]
    pub fn from_skip(reason: &str) -> Self {
        let error = ToolError::new("skipped", reason, "it did not run and had no effect");
        Self::from_error(OutcomeKind::Skipped, &error, truncate::MAX_SENTENCE_CHARS)
    }

    /// Returns the result of a call that a hook deferred. The model reads it in the next run.
    #[must_use]
    pub fn from_deferral() -> Self {
        let message = "the call was deferred; it has not run";
        let error = ToolError::new("deferred", message, "call it again if it is still needed");
        Self::from_error(OutcomeKind::Deferred, &error, truncate::MAX_SENTENCE_CHARS)
    }

    /// Returns the result of a call that was interrupted.
    #[must_use]
    pub fn from_interruption(after_ms: u64, reach: SideEffects) -> Self {
        let message =
            format!("interrupted after {}{}", format_seconds(after_ms), reach.effects_clause());
        let error = ToolError::new("interrupted", &message, reach.hint());
        Self::from_error(OutcomeKind::Interrupted, &error, truncate::MAX_SENTENCE_CHARS)
    }

    /// Returns the result of a call that failed with a transient error when the run ends before the
    /// retry.
    #[must_use]
    pub fn from_unretried_failure(reach: SideEffects) -> Self {
        let message = "a transient failure was not retried";
        let error = ToolError::new("not_retried", message, reach.hint());
        Self::from_error(OutcomeKind::Failed, &error, truncate::MAX_SENTENCE_CHARS)
    }

    /// Returns the result of a call that needs an answer of the user and does not get one.
    #[must_use]
    pub fn from_unanswered_request(request: &InputRequest, reach: SideEffects) -> Self {
        let from = &request.from;
        let message = format!("{from} asked the user in the call, and was not answered");
        let message = message + reach.effects_clause();
        let error = ToolError::new("not_answered", &message, reach.hint());
        Self::from_error(OutcomeKind::Interrupted, &error, truncate::MAX_SENTENCE_CHARS)
    }

    /// Returns the result of a call whose process died while it ran.
    #[must_use]
    pub fn from_lost_call(reach: SideEffects) -> Self {
        let message = format!("the process ended while the call ran{}", reach.effects_clause());
        let error = ToolError::new("interrupted", &message, reach.hint());
        Self::from_error(OutcomeKind::Interrupted, &error, truncate::MAX_SENTENCE_CHARS)
    }

    /// Returns the result of a call whose result is missing from an imported history.
    #[must_use]
    pub fn from_missing_record() -> Self {
        let error = ToolError::new(
            "interrupted",
            "interrupted; effects unknown",
            SideEffects::Unknown.hint(),
        );
        Self::from_error(OutcomeKind::Interrupted, &error, truncate::MAX_SENTENCE_CHARS)
    }

    /// Returns the result of a call that ran out of time.
    #[must_use]
    pub fn from_timeout(after_ms: u64, reach: SideEffects) -> Self {
        let message =
            format!("timed out after {}{}", format_seconds(after_ms), reach.effects_clause());
        let error = ToolError::new("timed_out", &message, reach.hint());
        Self::from_error(OutcomeKind::TimedOut, &error, truncate::MAX_SENTENCE_CHARS)
    }

    /// Returns this text as the result of a call.
    #[must_use]
    pub fn from_text(text: &str, limit_chars: u64) -> Self {
        let content = truncate::truncate_content(&RawJson::string(text), limit_chars);
        Self { kind: OutcomeKind::Done, content, error_flag: ErrorFlag::Success }
    }

    /// Returns the result of a call that a human answered in the tool's place.
    #[must_use]
    pub fn from_human(text: &str, limit_chars: u64) -> Self {
        let content = truncate::truncate_content(&RawJson::string(text), limit_chars);
        Self { kind: OutcomeKind::Answered, content, error_flag: ErrorFlag::Success }
    }
}

/// How often the output is halved until an error object fits its limit.
const MAX_OUTPUT_HALVINGS: usize = 6;

/// Builds the JSON of an error. Each part gets its share of the limit, with a margin for escapes.
fn error_object(
    kind: OutcomeKind,
    error: &ToolError,
    limit_chars: u64,
    output_chars: u64,
) -> RawJson {
    let output = error.output.as_ref().map(|output| truncate::truncate_text(output, output_chars));
    RawJson::encode(&ErrorObject {
        error: true,
        kind: kind.as_str(),
        code: &truncate::truncate_text(&error.code, limit_chars / 80),
        message: &truncate::truncate_text(&error.message, limit_chars / 10),
        hint: &truncate::truncate_text(&error.hint, limit_chars / 40),
        recoverable: error.recoverable,
        output: output.as_deref(),
    })
}

/// Converts the content of a tool result to a string or a list of blocks; the API rejects anything
/// else.
fn to_result_content(content: &RawJson) -> RawJson {
    let is_block = |block: &ContentBlock| !block.is_blank() && !block.is_malformed();
    let fits = match content.text().chars().next() {
        Some('"') => true,
        Some('[') => {
            content.read::<Vec<ContentBlock>>().is_ok_and(|blocks| blocks.iter().all(is_block))
        }
        Some(_) | None => false,
    };
    if fits { content.clone() } else { RawJson::string(content.text()) }
}

/// Whether a call that did not end properly may have had side effects.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SideEffects {
    /// The call is read-only; nothing changed.
    None,
    /// The call may have changed something.
    Unknown,
}

impl SideEffects {
    fn effects_clause(self) -> &'static str {
        match self {
            Self::None => "; it changes nothing",
            Self::Unknown => "; effects unknown",
        }
    }

    fn hint(self) -> &'static str {
        match self {
            Self::None => "call it again if the result is still needed",
            Self::Unknown => "check what it did before calling it again",
        }
    }
}

fn format_seconds(ms: u64) -> String {
    format!("{}.{} s", ms / 1000, ms % 1000 / 100)
}
