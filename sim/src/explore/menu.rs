//! What the model, the provider, the tools and the hooks of the explored world can say.

use std::sync::Arc;

use windlass_core::block::Block;
use windlass_core::facts::Facts;
use windlass_core::input::{Failure, FailureClass, HookAnswer, Opinion};
use windlass_core::outcome::{Outcome, ToolError};
use windlass_core::permission::Lean;
use windlass_core::raw::Raw;
use windlass_core::reply::{CutBlock, Reply, StopReason, Usage};

use super::tools;

/// A reply with its name and the facts of its calls.
#[derive(Debug)]
pub(crate) struct Line {
    pub(crate) name: &'static str,
    pub(crate) reply: Arc<Reply>,
    pub(crate) facts: Vec<Facts>,
}

/// The reply called `name`: `stop reason: part part …`, where a part is `text`, `thought`, `cut`,
/// `#stop string`, or a tool; `tool=id` gives the call its id and `tool!` arguments that are no object.
pub(crate) fn line(name: &'static str) -> Line {
    let (stop, parts) = name.split_once(':').unwrap_or((name, ""));
    let parts: Vec<&str> = parts.split_whitespace().collect();
    let blocks: Vec<Block> = (0u8..).zip(&parts).filter_map(|(at, part)| block(at, part)).collect();
    let facts = blocks.iter().filter_map(Block::as_tool_use).map(|call| tools::facts(&call.name));
    let facts = facts.collect();
    let cut = parts.contains(&"cut").then(cut_block);
    let stop_sequence = parts.iter().find_map(|part| part.strip_prefix('#')).map(stop_string);
    let usage = Usage { input_tokens: 1, output_tokens: 1, ..Usage::default() };
    let stop_reason = StopReason::from(stop);
    let reply = Reply { blocks, cut, stop_reason, stop_sequence, usage, envelope: None };
    Line { name, reply: Arc::new(reply), facts }
}

fn block(at: u8, part: &str) -> Option<Block> {
    match part {
        "text" => Some(Block::text("t")),
        "blank" => Some(Block::text(" ")),
        "thought" => Raw::parse(r#"{"type":"thinking","thinking":"h"}"#).ok().map(Block::new),
        "cut" => None,
        part if part.starts_with('#') => None,
        call => Some(tool_use(at, call)),
    }
}

fn tool_use(at: u8, part: &str) -> Block {
    let (name, id) = part.split_once('=').map_or((part, format!("c{at}")), named);
    match name.strip_suffix('!') {
        Some(name) => Block::tool_use(&id, name, &Raw::encode(&[1])),
        None => Block::tool_use(&id, name, &Raw::parse("{}").unwrap_or_else(|_| Raw::string(""))),
    }
}

fn named<'a>((name, id): (&'a str, &str)) -> (&'a str, String) {
    (name, id.to_owned())
}

fn cut_block() -> CutBlock {
    CutBlock { name: Arc::from("read"), partial: Arc::from("{") }
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
pub(crate) enum Fault {
    Passing,
    PassingLater,
    Cut,
    TooLong,
    Lasting,
}

pub(crate) fn failure(fault: Fault) -> Failure {
    let (class, retry_after_ms) = match fault {
        Fault::Passing => (FailureClass::Passing, None),
        Fault::PassingLater => (FailureClass::Passing, Some(70)),
        Fault::Cut => (FailureClass::Cut, None),
        Fault::TooLong => (FailureClass::TooLong, None),
        Fault::Lasting => (FailureClass::Lasting, None),
    };
    Failure { class, message: Arc::from("x"), retry_after_ms, raw: None }
}

/// Characters of a big result.
const BIG_CHARS: usize = 600;

/// How a tool can come back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Back {
    Done,
    /// With a result that fills a small window.
    Big,
    Passing,
    Recoverable,
    Fatal,
    TimedOut,
    Interrupted,
}

pub(crate) fn outcome(back: Back) -> Outcome {
    let error = ToolError::new("e", "m", "h");
    match back {
        Back::Done => Outcome::Done(Raw::string("ok")),
        Back::Big => Outcome::Done(Raw::string(&"b".repeat(BIG_CHARS))),
        Back::Passing => Outcome::Failed(error.passing()),
        Back::Recoverable => Outcome::Failed(error),
        Back::Fatal => Outcome::Failed(error.passing().fatal()),
        Back::TimedOut => Outcome::TimedOut { after_ms: 1 },
        Back::Interrupted => Outcome::Interrupted { after_ms: 1 },
    }
}

/// What a hook can say.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Say {
    Pass,
    /// Nothing against it, and something the model should know.
    Tell,
    Allow,
    Ask,
    Deny,
    /// Before: the call becomes a once-only one. After: the result is another.
    Change,
    /// The call becomes one the rules ask about.
    Worsen,
}

pub(crate) fn hook_answer(say: Say) -> HookAnswer {
    match say {
        Say::Pass | Say::Tell => HookAnswer::Pass {},
        Say::Allow => HookAnswer::Allow {},
        Say::Ask => HookAnswer::Ask {},
        Say::Deny => HookAnswer::Deny { reason: Arc::from("n") },
        Say::Change => HookAnswer::Change {
            input: Raw::parse(r#"{"v":2}"#).unwrap_or_else(|_| Raw::string("")),
            facts: Box::new(tools::facts("pay")),
            lean: Lean::Neutral,
        },
        Say::Worsen => HookAnswer::Change {
            input: Raw::string("no object"),
            facts: Box::new(tools::facts("read")),
            lean: Lean::Neutral,
        },
    }
}

/// What a classifier can say.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Think {
    Allow,
    Deny,
    Unsure,
}

pub(crate) fn opinion(think: Think) -> Opinion {
    match think {
        Think::Allow => Opinion::Allow {},
        Think::Deny => Opinion::Deny { reason: Arc::from("n") },
        Think::Unsure => Opinion::Unsure { why: Arc::from("u") },
    }
}
