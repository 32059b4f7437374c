//! The possible replies and results of model, provider, tools and hooks in the explored world.

use std::sync::Arc;

use windlass_core::call::call_facts::CallFacts;
use windlass_core::call::outcome::{ToolError, ToolOutcome};
use windlass_core::log::input::{Classification, FailureClass, HookDecision, ModelFailure};
use windlass_core::message::content_block::ContentBlock;
use windlass_core::message::raw_json::RawJson;
use windlass_core::message::reply::{ModelReply, StopReason, TokenUsage, TruncatedBlock};
use windlass_core::permission::HookPreference;

use super::tools;
use crate::hostile::tools::asks_user;

/// A reply with its name and the facts of its calls.
#[derive(Debug)]
pub(crate) struct ReplyChoice {
    pub(crate) name: &'static str,
    pub(crate) reply: Arc<ModelReply>,
    pub(crate) facts: Vec<CallFacts>,
}

/// Returns the reply called `name`: `stop reason: part part …`, where a part is `text`, `thought`,
/// `cut`, `#stop string`, or a tool; `tool=id` gives the call its id and `tool!` arguments that are
/// not an object.
pub(crate) fn line(name: &'static str) -> ReplyChoice {
    let (stop, parts) = name.split_once(':').unwrap_or((name, ""));
    let parts: Vec<&str> = parts.split_whitespace().collect();
    let blocks: Vec<ContentBlock> =
        (0u8..).zip(&parts).filter_map(|(at, part)| block(at, part)).collect();
    let facts =
        blocks.iter().filter_map(ContentBlock::as_tool_use).map(|call| tools::facts(&call.name));
    let facts = facts.collect();
    let truncated_block = parts.contains(&"cut").then(cut_block);
    let stop_sequence = parts.iter().find_map(|part| part.strip_prefix('#')).map(stop_string);
    let usage = TokenUsage { input_tokens: 1, output_tokens: 1, ..TokenUsage::default() };
    let stop_reason = StopReason::from(stop);
    let reply =
        ModelReply { blocks, truncated_block, stop_reason, stop_sequence, usage, envelope: None };
    ReplyChoice { name, reply: Arc::new(reply), facts }
}

fn block(at: u8, part: &str) -> Option<ContentBlock> {
    match part {
        "text" => Some(ContentBlock::text("t")),
        "blank" => Some(ContentBlock::text(" ")),
        "thought" => {
            RawJson::parse(r#"{"type":"thinking","thinking":"h"}"#).ok().map(ContentBlock::new)
        }
        "cut" => None,
        part if part.starts_with('#') => None,
        call => Some(tool_use(at, call)),
    }
}

fn tool_use(at: u8, part: &str) -> ContentBlock {
    let (name, id) = part.split_once('=').map_or((part, format!("c{at}")), with_owned_id);
    match name.strip_suffix('!') {
        Some(name) => ContentBlock::tool_use(&id, name, &RawJson::encode(&[1])),
        None => ContentBlock::tool_use(
            &id,
            name,
            &RawJson::parse("{}").unwrap_or_else(|_| RawJson::string("")),
        ),
    }
}

fn with_owned_id<'a>((name, id): (&'a str, &str)) -> (&'a str, String) {
    (name, id.to_owned())
}

fn cut_block() -> TruncatedBlock {
    TruncatedBlock { name: Arc::from("read"), partial: Arc::from("{") }
}

fn stop_string(name: &str) -> Arc<str> {
    match name {
        "user" => Arc::from("\nUser:"),
        "end" => Arc::from("\n---END---"),
        other => Arc::from(other),
    }
}

/// How a model call can fail.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ModelFaultChoice {
    Passing,
    PassingLater,
    Cut,
    TooLong,
    Lasting,
}

pub(crate) fn failure(fault: ModelFaultChoice) -> ModelFailure {
    let (class, retry_after_ms) = match fault {
        ModelFaultChoice::Passing => (FailureClass::Transient, None),
        ModelFaultChoice::PassingLater => (FailureClass::Transient, Some(70)),
        ModelFaultChoice::Cut => (FailureClass::StreamCut, None),
        ModelFaultChoice::TooLong => (FailureClass::ContextTooLong, None),
        ModelFaultChoice::Lasting => (FailureClass::Permanent, None),
    };
    ModelFailure { class, message: Arc::from("x"), retry_after_ms, raw: None }
}

/// Characters of a large result.
const BIG_CHARS: usize = 600;

/// How a tool call can return.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ToolReturnChoice {
    Done,
    /// The result fills a small window.
    Big,
    Passing,
    Recoverable,
    Fatal,
    TimedOut,
    Interrupted,
    /// The tool asks the user first.
    Asks,
}

pub(crate) fn outcome(back: ToolReturnChoice) -> ToolOutcome {
    let error = ToolError::new("e", "m", "h");
    match back {
        ToolReturnChoice::Done => ToolOutcome::Done(RawJson::string("ok")),
        ToolReturnChoice::Big => ToolOutcome::Done(RawJson::string(&"b".repeat(BIG_CHARS))),
        ToolReturnChoice::Passing => ToolOutcome::Failed(error.into_transient()),
        ToolReturnChoice::Recoverable => ToolOutcome::Failed(error),
        ToolReturnChoice::Fatal => ToolOutcome::Failed(error.into_transient().into_fatal()),
        ToolReturnChoice::TimedOut => ToolOutcome::TimedOut { after_ms: 1 },
        ToolReturnChoice::Interrupted => ToolOutcome::Interrupted { after_ms: 1 },
        ToolReturnChoice::Asks => asks_user("?"),
    }
}

/// The possible responses of a hook.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum HookChoice {
    Pass,
    /// No objection, and context for the model.
    Tell,
    Allow,
    Ask,
    Deny,
    /// Pre-hook: the call becomes a once-only one. Post-hook: the result is replaced.
    Change,
    /// The call becomes one that needs approval.
    Worsen,
    /// A human must approve, for a reason.
    AskWhy,
    /// No objection, and the run ends after the round.
    Stop,
    /// The call is denied, and the run ends after the round.
    DenyAndStop,
    /// The call is deferred.
    Defer,
}

impl HookChoice {
    /// Why the hook ends the run, if it does.
    pub(crate) fn stop(self) -> Option<Arc<str>> {
        matches!(self, Self::Stop | Self::DenyAndStop).then(|| Arc::from("e"))
    }
}

pub(crate) fn hook_answer(say: HookChoice) -> HookDecision {
    match say {
        HookChoice::Pass | HookChoice::Tell | HookChoice::Stop => HookDecision::Pass {},
        HookChoice::AskWhy => HookDecision::Ask { reason: Some(Arc::from("y")) },
        HookChoice::Defer => HookDecision::Defer {},
        HookChoice::Allow => HookDecision::Allow {},
        HookChoice::Ask => HookDecision::Ask { reason: None },
        HookChoice::Deny | HookChoice::DenyAndStop => HookDecision::Deny { reason: Arc::from("n") },
        HookChoice::Change => HookDecision::Change {
            input: RawJson::parse(r#"{"v":2}"#).unwrap_or_else(|_| RawJson::string("")),
            facts: Box::new(tools::facts("pay")),
            preference: HookPreference::Neutral,
            reason: None,
        },
        HookChoice::Worsen => HookDecision::Change {
            input: RawJson::string("no object"),
            facts: Box::new(tools::facts("read")),
            preference: HookPreference::Neutral,
            reason: None,
        },
    }
}

/// The possible results of a classifier.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ClassifierChoice {
    Allow,
    Deny,
    Unsure,
}

pub(crate) fn classification_of(think: ClassifierChoice) -> Classification {
    match think {
        ClassifierChoice::Allow => Classification::Allow {},
        ClassifierChoice::Deny => Classification::Deny { reason: Arc::from("n") },
        ClassifierChoice::Unsure => Classification::Unsure { why: Arc::from("u") },
    }
}
