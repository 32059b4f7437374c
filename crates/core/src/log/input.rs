//! Inputs of `decide`: everything that happens outside reaches the core as one of these, with its
//! time. An input that yields no record leaves no trace.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::budget::spending::Spending;
use crate::call::call_facts::CallFacts;
use crate::call::outcome::ToolOutcome;
use crate::log::ids::{CallId, Epoch, LaneId, ModelCallId, Seq, UnixMillis};
use crate::log::inbox::{InboxCommand, InboxMessage};
use crate::message::content_block::ToolUse;
use crate::message::raw_json::RawJson;
use crate::message::reply::{ModelReply, TokenUsage};
use crate::message::response_envelope::ResponseEnvelope;
use crate::permission::{ContentSource, HookPreference, PermissionRule};
use crate::run::prompt_change::PromptFingerprint;
use crate::run::review::{ReviewId, ReviewResult};
use crate::settings::conversation_settings::{Settings, ToolSpec};

/// An input of `decide`.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Input {
    /// The settings of the conversation from here on.
    #[serde(rename = "configured/1")]
    Configured {
        /// The settings.
        settings: Arc<Settings>,
    },
    /// The tools of servers are others than before: their lists change while a run is active.
    #[serde(rename = "server_tools_offered/1")]
    ServerToolsOffered {
        /// The tools that are offered now, by name.
        tools: Vec<ToolSpec>,
    },
    /// Commands were read from the inbox.
    #[serde(rename = "commands_received/1")]
    CommandsReceived {
        /// The messages, in order of arrival.
        messages: Vec<InboxMessage>,
    },
    /// A new owner claimed the lane.
    #[serde(rename = "owner_changed/1")]
    OwnerChanged {
        /// Epoch of the new owner.
        epoch: Epoch,
        /// Hash of the prompt and tools of the new owner.
        prompt_hash: Arc<str>,
        /// Prompt and tools, part by part, if they differ from those the run started with.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        prompt_fingerprint: Option<PromptFingerprint>,
        /// Settings of later runs, if they differ from those of the previous owner.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        settings: Option<Arc<Settings>>,
    },
    /// A block of the reply is complete while the model still streams.
    #[serde(rename = "block_ready/1")]
    BlockReady {
        /// The model call.
        model_call: ModelCallId,
        /// Index of the block.
        index: u16,
        /// The tool use in the block.
        tool_use: ToolUse,
        /// The assessed facts of the call.
        facts: CallFacts,
    },
    /// The model replied.
    #[serde(rename = "model_replied/1")]
    ModelReplied {
        /// The model call.
        model_call: ModelCallId,
        /// The reply.
        reply: Arc<ModelReply>,
        /// Facts of its calls, in call order.
        facts: Vec<CallFacts>,
    },
    /// The model call failed.
    #[serde(rename = "model_failed/1")]
    ModelFailed {
        /// The model call.
        model_call: ModelCallId,
        /// The failure.
        failure: ModelFailure,
    },
    /// A hook responded.
    #[serde(rename = "hook_responded/1")]
    HookResponded {
        /// The call that the hook reviewed.
        call: CallId,
        /// The decision of the hook.
        decision: HookDecision,
        /// Context for the model.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        context: Option<Arc<str>>,
        /// Why the run must end after the round, if the hook says so.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        stop: Option<Arc<str>>,
    },
    /// A hook called a model: its usage is charged, whatever the hook decides.
    #[serde(rename = "hook_model_used/1")]
    HookModelUsed {
        /// Tokens that the hook used.
        usage: TokenUsage,
    },
    /// A review returned its result.
    #[serde(rename = "review_returned/1")]
    ReviewReturned {
        /// Id of the review.
        id: ReviewId,
        /// Result of the review.
        result: ReviewResult,
    },
    /// A classifier reviewed a call.
    #[serde(rename = "call_classified/1")]
    CallClassified {
        /// The call.
        call: CallId,
        /// The classification.
        classification: Classification,
        /// Tokens that the classifier used.
        usage: TokenUsage,
    },
    /// A tool returned.
    #[serde(rename = "tool_returned/1")]
    ToolReturned {
        /// The call.
        call: CallId,
        /// Number of the attempt.
        attempt: u32,
        /// When it was started.
        started_at: UnixMillis,
        /// The outcome of the call.
        outcome: ToolOutcome,
        /// Context for the model that was found beside what the call touched.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        context: Vec<ContextNote>,
        /// Where content of the result came from that others wrote.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        untrusted: Vec<ContentSource>,
    },
    /// A tool was probed for what happened to an interrupted call.
    #[serde(rename = "call_probed/1")]
    CallProbed {
        /// The call.
        call: CallId,
        /// The result of the probe.
        result: ProbeResult,
    },
    /// The spending of all conversations of the profile was looked up.
    #[serde(rename = "shared_spending_updated/1")]
    SharedSpendingUpdated {
        /// Their total spending, including what is reserved for calls in progress.
        total: Spending,
    },
    /// A timer of the conversation fired.
    #[serde(rename = "timer_fired/1")]
    TimerFired {},
    /// The lane starts as a copy of another (fork).
    #[serde(rename = "forked/1")]
    Forked {
        /// The lane it was copied from.
        parent: LaneId,
        /// The last entry that both share.
        at: Seq,
    },
}

/// Context that a tool found during a call, such as the memory file of a folder. The model sees the
/// text of each source once per conversation.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct ContextNote {
    /// Where the text is from, such as the path of a file: a source is added once.
    pub source: Arc<str>,
    /// Text of the context.
    pub text: Arc<str>,
    /// Rules for calls that need no approval once the context is there: those of a skill.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub allows: Vec<PermissionRule>,
}

/// How a model call failed.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct ModelFailure {
    /// Class of the failure.
    pub class: FailureClass,
    /// Message of the provider, redacted.
    pub message: Arc<str>,
    /// The `retry-after` of the provider.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry_after_ms: Option<u64>,
    /// The part of the answer that was received, unchanged; kept beside the log.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub raw: Option<ResponseEnvelope>,
}

/// Class of a failed model call (retry classification).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FailureClass {
    /// Transient, and nothing was billed: 408, 409, 425, 429, 5xx, refused connections.
    Transient,
    /// Connection refused on a local address: passes once the server is started.
    ServerNotRunning,
    /// Transient, but the reply had started: a cut or silent stream. Charged in full.
    StreamCut,
    /// The request does not fit the window.
    ContextTooLong,
    /// Permanent: wrong key, unknown model, rejected request.
    Permanent,
}

/// The decision of a hook.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum HookDecision {
    /// The hook has no objection.
    Pass {},
    /// The call may run, if no rule denies it or requires approval.
    Allow {},
    /// A human must approve the call.
    Ask {
        /// Why, for the human.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<Arc<str>>,
    },
    /// The call is denied.
    Deny {
        /// Reason for the model.
        reason: Arc<str>,
    },
    /// Run the call with changed arguments; it is assessed again.
    Change {
        /// The new arguments.
        input: RawJson,
        /// Facts of the changed call.
        facts: Box<CallFacts>,
        /// Preference of the hook for the changed call.
        #[serde(default)]
        preference: HookPreference,
        /// Why a human must approve the changed call, if the hook wants that.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<Arc<str>>,
    },
    /// The call does not run now: the run ends, and its result names the call.
    Defer {},
}

/// The result of a classifier.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Classification {
    /// The call may run.
    Allow {},
    /// The call should not run.
    Deny {
        /// Reason for the denial.
        reason: Arc<str>,
    },
    /// The classifier is unsure, or did not answer: a human decides.
    Unsure {
        /// Why the classifier is unsure.
        why: Arc<str>,
    },
}

/// What happened to an interrupted call.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ProbeResult {
    /// The call took effect.
    Happened {
        /// Result of the call.
        text: Arc<str>,
    },
    /// The call did not take effect.
    DidNotHappen {},
    /// The tool cannot say.
    Unknown {},
}

impl Input {
    /// Returns what a reader has seen of the reply that an abort in this input cuts off.
    #[must_use]
    pub fn partial_reply(&self) -> Option<&str> {
        let Self::CommandsReceived { messages } = self else { return None };
        messages.iter().find_map(|message| {
            if let InboxCommand::Abort { partial_reply: Some(text), .. } = &message.body {
                return Some(&**text);
            }
            None
        })
    }
}
