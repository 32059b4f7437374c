//! What `decide` is told. Everything that happens in the world reaches the core as one of these,
//! with its time; an input that yields no record leaves no trace.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::block::ToolUse;
use crate::budget::Spent;
use crate::counsel::{Advice, CounselId};
use crate::drift::Offer;
use crate::facts::Facts;
use crate::ids::{AskId, CallId, Epoch, LaneId, Millis, Seq};
use crate::mail::Mail;
use crate::outcome::Outcome;
use crate::permission::Lean;
use crate::raw::Raw;
use crate::reply::{Reply, Usage};
use crate::settings::Settings;

/// An input.
#[expect(
    clippy::large_enum_variant,
    reason = "an input lives for one decision; a box would only move its bytes"
)]
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Input {
    /// The settings the conversation is to run with from here on.
    #[serde(rename = "configured/1")]
    Configured {
        /// The settings.
        settings: Arc<Settings>,
    },
    /// Mail was drained from the mailbox.
    #[serde(rename = "received/1")]
    Received {
        /// In order of arrival.
        mail: Vec<Mail>,
    },
    /// A new owner took the lane.
    #[serde(rename = "adopted/1")]
    Adopted {
        /// Its epoch.
        epoch: Epoch,
        /// Hash of the prompt and tools it has.
        prompt_hash: Arc<str>,
        /// What they are, part by part, if they are not what the run began with.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        offer: Option<Offer>,
        /// What later runs have, if it is not what the owner before had.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        settings: Option<Arc<Settings>>,
    },
    /// A block of the reply is complete while the model still streams.
    #[serde(rename = "block_ready/1")]
    BlockReady {
        /// Which model call.
        ask: AskId,
        /// Which block.
        index: u16,
        /// The call it holds.
        tool_use: ToolUse,
        /// What is known of the call.
        facts: Facts,
    },
    /// The model answered.
    #[serde(rename = "replied/1")]
    Replied {
        /// Which model call.
        ask: AskId,
        /// The reply.
        reply: Arc<Reply>,
        /// Facts of its calls, in call order.
        facts: Vec<Facts>,
    },
    /// The model call failed.
    #[serde(rename = "model_failed/1")]
    ModelFailed {
        /// Which model call.
        ask: AskId,
        /// How.
        failure: Failure,
    },
    /// A hook answered.
    #[serde(rename = "hook_answered/1")]
    HookAnswered {
        /// About which call.
        call: CallId,
        /// What it said.
        answer: HookAnswer,
        /// Something the model should know.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        context: Option<Arc<str>>,
    },
    /// Somebody answered whom the run waits for.
    #[serde(rename = "counselled/1")]
    Counselled {
        /// Which counsel.
        counsel: CounselId,
        /// What came of it.
        advice: Advice,
    },
    /// A classifier looked at a call.
    #[serde(rename = "classified/1")]
    Classified {
        /// Which call.
        call: CallId,
        /// What it says.
        opinion: Opinion,
        /// What that cost.
        usage: Usage,
    },
    /// A tool came back.
    #[serde(rename = "tool_returned/1")]
    ToolReturned {
        /// Which call.
        call: CallId,
        /// Which attempt at it.
        attempt: u32,
        /// When it was started.
        started_at: Millis,
        /// What it brought.
        outcome: Outcome,
    },
    /// A tool was asked what became of an interrupted call.
    #[serde(rename = "probed/1")]
    Probed {
        /// Which call.
        call: CallId,
        /// What it found.
        finding: Finding,
    },
    /// What all conversations of the profile spent was looked up.
    #[serde(rename = "spending_seen/1")]
    SpendingSeen {
        /// All of them together, with what is set aside for calls in progress.
        total: Spent,
    },
    /// The time that was waited for has come.
    #[serde(rename = "ticked/1")]
    Ticked {},
    /// The lane begins as a copy of another.
    #[serde(rename = "forked/1")]
    Forked {
        /// The lane it comes from.
        parent: LaneId,
        /// The last entry they share.
        at: Seq,
    },
}

/// How a model call failed.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Failure {
    /// What kind of failure.
    pub class: FailureClass,
    /// What the provider said, redacted.
    pub message: Arc<str>,
    /// How long the provider asked us to wait.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry_after_ms: Option<u64>,
    /// What had come of an answer, as it came; kept beside the log.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub raw: Option<Raw>,
}

/// What kind of failure a model call met.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FailureClass {
    /// It may pass, and nothing was billed: 408, 409, 425, 429, 5xx, refused connections.
    Passing,
    /// Nobody listens at an address of this very machine: it passes once somebody starts the server.
    Absent,
    /// It may pass, but the answer had begun: a cut or silent stream. Charged in full.
    Cut,
    /// The request does not fit the window.
    TooLong,
    /// It will not pass: wrong key, unknown model, refused request.
    Lasting,
}

/// What a hook said.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum HookAnswer {
    /// Nothing against it.
    Pass {},
    /// It may run, if no rule holds it back.
    Allow {},
    /// A human is to look at it.
    Ask {},
    /// No.
    Deny {
        /// Why, for the model.
        reason: Arc<str>,
    },
    /// Run it with other arguments; assessed again.
    Change {
        /// The new arguments.
        input: Raw,
        /// Facts of the changed call.
        facts: Box<Facts>,
        /// What it thinks of the changed call.
        #[serde(default)]
        lean: Lean,
    },
}

/// What a classifier thinks of a call.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Opinion {
    /// It may run.
    Allow {},
    /// It should not.
    Deny {
        /// Why.
        reason: Arc<str>,
    },
    /// It cannot tell, or did not answer: a human decides.
    Unsure {
        /// Why.
        why: Arc<str>,
    },
}

/// What became of an interrupted call.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Finding {
    /// It took effect.
    Happened {
        /// What it brought back.
        text: Arc<str>,
    },
    /// It did not.
    DidNotHappen {},
    /// The tool cannot say.
    Unknown {},
}
