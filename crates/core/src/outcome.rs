//! How a call ended, told truthfully: the outcomes differ because the model and the human act
//! differently on each.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::block::{Block, ErrorFlag};
use crate::cut;
use crate::raw::Raw;

/// What a tool brought back.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// It worked: a JSON string or a list of content blocks. Any other JSON is shown as text.
    Done(Raw),
    /// The same, with more than the model needs to know: it is recorded for whoever watches.
    Detailed {
        /// What the model sees.
        content: Raw,
        /// What programs and people see besides, in a shape that the tool chooses.
        detail: Raw,
    },
    /// It failed and says how.
    Failed(ToolError),
    /// It ran out of time.
    TimedOut {
        /// How long it ran.
        after_ms: u64,
    },
    /// It was stopped before it ended.
    Interrupted {
        /// How long it ran.
        after_ms: u64,
    },
}

impl Outcome {
    /// What the model is to see of a call that worked.
    #[must_use]
    pub fn content(&self) -> Option<&Raw> {
        match self {
            Self::Done(content) | Self::Detailed { content, .. } => Some(content),
            Self::Failed(_) | Self::TimedOut { .. } | Self::Interrupted { .. } => None,
        }
    }

    /// What only those who watch are told.
    #[must_use]
    pub fn detail(&self) -> Option<&Raw> {
        match self {
            Self::Detailed { detail, .. } => Some(detail),
            Self::Done(_) | Self::Failed(_) | Self::TimedOut { .. } | Self::Interrupted { .. } => {
                None
            }
        }
    }
}

impl From<Raw> for Outcome {
    fn from(content: Raw) -> Self {
        Self::Done(content)
    }
}

/// The error object a model sees. Never holds a stack trace: that belongs to the event.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct ToolError {
    /// Short, machine-readable, stable across versions.
    pub code: Arc<str>,
    /// What happened, in one sentence.
    pub message: Arc<str>,
    /// What to call or do instead.
    pub hint: Arc<str>,
    /// `false` ends the run: there is no point in going on.
    pub recoverable: bool,
    /// Whether it may pass by itself (time-out, refused connection, 429, 5xx).
    #[serde(default)]
    pub transient: bool,
    /// What it printed before it failed. The model sees it beside the message, which stays a sentence.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output: Option<Arc<str>>,
    /// The whole story, for the event and the trace: what caused it, a stack trace. The model does
    /// not see it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub detail: Option<Arc<str>>,
}

impl ToolError {
    /// A lasting failure the model can work around.
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
        }
    }

    /// The same failure with what was printed before it.
    #[must_use]
    pub fn with_output(mut self, output: &str) -> Self {
        self.output = Some(Arc::from(output)).filter(|output: &Arc<str>| !output.is_empty());
        self
    }

    /// The message, and after it what was printed.
    #[must_use]
    pub fn message_and_output(&self) -> String {
        match &self.output {
            Some(output) => format!("{}\n{output}", self.message),
            None => self.message.to_string(),
        }
    }

    /// All of it, for people: what happened, what to do, and what caused it.
    #[must_use]
    pub fn whole(&self) -> String {
        let Self { code, message, hint, detail, .. } = self;
        let told = format!("{code}: {message} ({hint})");
        detail.as_ref().map_or(told.clone(), |detail| format!("{told}\n{detail}"))
    }

    /// The same failure, as one that may pass by itself.
    #[must_use]
    pub fn passing(mut self) -> Self {
        self.transient = true;
        self
    }

    /// The same failure, as one that ends the run.
    #[must_use]
    pub fn fatal(mut self) -> Self {
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

/// The name of an outcome, as stored and shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OutcomeKind {
    /// It worked.
    Done,
    /// It failed.
    Failed,
    /// Rules or a human said no; it did not run.
    Denied,
    /// It did not run because the run ended or an earlier call was fatal.
    Skipped,
    /// It was stopped half-way; nobody knows what it did.
    Interrupted,
    /// It ran out of time.
    TimedOut,
    /// A human answered it.
    Answered,
}

impl OutcomeKind {
    /// Its name.
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
        }
    }
}

/// The result as the model will see it.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Shown {
    /// How it ended.
    pub kind: OutcomeKind,
    /// Content of the tool result: a JSON string or a list of blocks.
    pub content: Raw,
    /// Whether it tells of an error.
    pub flag: ErrorFlag,
}

/// What programs and models test is `error`; which of the outcomes it was stands beside it.
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

impl Shown {
    /// What the model sees of what the tool brought back, cut to `limit_chars`.
    #[must_use]
    pub fn of(outcome: &Outcome, limit_chars: u64, reach: Reach) -> Self {
        match outcome {
            Outcome::Done(content) | Outcome::Detailed { content, .. } => Self {
                kind: OutcomeKind::Done,
                content: cut::content(&as_content(content), limit_chars),
                flag: ErrorFlag::Fine,
            },
            Outcome::Failed(error) => Self::error(OutcomeKind::Failed, error, limit_chars),
            Outcome::TimedOut { after_ms } => Self::timed_out(*after_ms, reach),
            Outcome::Interrupted { after_ms } => Self::interrupted(*after_ms, reach),
        }
    }

    /// An error object under the given outcome name.
    #[must_use]
    pub fn error(kind: OutcomeKind, error: &ToolError, limit_chars: u64) -> Self {
        let fits = |object: &Raw| object.text().chars().count() as u64 <= limit_chars;
        let mut object = error_object(kind, error, u64::MAX, u64::MAX);
        let mut output_chars = limit_chars;
        // How much escapes make of the output is known only once it is written.
        for _ in 0..OUTPUT_CUTS {
            if fits(&object) {
                break;
            }
            output_chars /= 2;
            object = error_object(kind, error, limit_chars, output_chars);
        }
        Self { kind, content: Raw::string(object.text()), flag: ErrorFlag::Error }
    }

    /// Rules or a human said no.
    #[must_use]
    pub fn denied(reason: &str) -> Self {
        let error = ToolError::new(
            "denied",
            reason,
            "do not repeat this call; go on without it or ask the user",
        );
        Self::error(OutcomeKind::Denied, &error, cut::SENTENCE_CHARS)
    }

    /// It never ran.
    #[must_use]
    pub fn skipped(reason: &str) -> Self {
        let error = ToolError::new("skipped", reason, "it did not run and had no effect");
        Self::error(OutcomeKind::Skipped, &error, cut::SENTENCE_CHARS)
    }

    /// It was stopped half-way.
    #[must_use]
    pub fn interrupted(after_ms: u64, reach: Reach) -> Self {
        let message = format!("interrupted after {}{}", seconds(after_ms), reach.unknown_effects());
        let error = ToolError::new("interrupted", &message, reach.hint());
        Self::error(OutcomeKind::Interrupted, &error, cut::SENTENCE_CHARS)
    }

    /// It failed in passing, and the run ends before it is tried again.
    #[must_use]
    pub fn not_retried(reach: Reach) -> Self {
        let message = "it failed in passing and was not tried again";
        let error = ToolError::new("not_retried", message, reach.hint());
        Self::error(OutcomeKind::Failed, &error, cut::SENTENCE_CHARS)
    }

    /// Its process died while it ran.
    #[must_use]
    pub fn lost(reach: Reach) -> Self {
        let message = format!("its process ended while it ran{}", reach.unknown_effects());
        let error = ToolError::new("interrupted", &message, reach.hint());
        Self::error(OutcomeKind::Interrupted, &error, cut::SENTENCE_CHARS)
    }

    /// Its result is missing from a history that others wrote.
    #[must_use]
    pub fn unrecorded() -> Self {
        let error =
            ToolError::new("interrupted", "interrupted; effects unknown", Reach::Unknown.hint());
        Self::error(OutcomeKind::Interrupted, &error, cut::SENTENCE_CHARS)
    }

    /// It ran out of time.
    #[must_use]
    pub fn timed_out(after_ms: u64, reach: Reach) -> Self {
        let message = format!("timed out after {}{}", seconds(after_ms), reach.unknown_effects());
        let error = ToolError::new("timed_out", &message, reach.hint());
        Self::error(OutcomeKind::TimedOut, &error, cut::SENTENCE_CHARS)
    }

    /// It brought this text.
    #[must_use]
    pub fn done(text: &str, limit_chars: u64) -> Self {
        let content = cut::content(&Raw::string(text), limit_chars);
        Self { kind: OutcomeKind::Done, content, flag: ErrorFlag::Fine }
    }

    /// A human answered in the tool's place.
    #[must_use]
    pub fn answered(text: &str, limit_chars: u64) -> Self {
        let content = cut::content(&Raw::string(text), limit_chars);
        Self { kind: OutcomeKind::Answered, content, flag: ErrorFlag::Fine }
    }
}

/// How often the output is halved until an error object fits its limit.
const OUTPUT_CUTS: usize = 6;

/// Each part gets its share of the limit, small enough for escapes to grow in.
fn error_object(kind: OutcomeKind, error: &ToolError, limit_chars: u64, output_chars: u64) -> Raw {
    let output = error.output.as_ref().map(|output| cut::text(output, output_chars));
    Raw::encode(&ErrorObject {
        error: true,
        kind: kind.as_str(),
        code: &cut::text(&error.code, limit_chars / 80),
        message: &cut::text(&error.message, limit_chars / 10),
        hint: &cut::text(&error.hint, limit_chars / 40),
        recoverable: error.recoverable,
        output: output.as_deref(),
    })
}

/// A tool result's content is a string or a list of blocks; the API refuses anything else.
fn as_content(content: &Raw) -> Raw {
    let is_block = |block: &Block| !block.is_blank() && !block.is_broken();
    let fits = match content.text().chars().next() {
        Some('"') => true,
        Some('[') => content.read::<Vec<Block>>().is_ok_and(|blocks| blocks.iter().all(is_block)),
        Some(_) | None => false,
    };
    if fits { content.clone() } else { Raw::string(content.text()) }
}

/// Whether a call that did not end properly may have changed something.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Reach {
    /// It only looks; nothing changed.
    Harmless,
    /// It may have changed something.
    Unknown,
}

impl Reach {
    fn unknown_effects(self) -> &'static str {
        match self {
            Self::Harmless => "; it changes nothing",
            Self::Unknown => "; effects unknown",
        }
    }

    fn hint(self) -> &'static str {
        match self {
            Self::Harmless => "call it again if the answer is still needed",
            Self::Unknown => "check what it did before doing it again",
        }
    }
}

fn seconds(ms: u64) -> String {
    format!("{}.{} s", ms / 1000, ms % 1000 / 100)
}
