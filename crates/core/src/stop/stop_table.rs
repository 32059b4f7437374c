//! The stop table: what a reply asks for, by its stop reason. Ladders and limits are applied by the
//! caller; this module only says what the reply *means*.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::message::reply::{ModelReply, StopReason};
use crate::settings::conversation_settings::StopAction;

/// What a reply asks for next.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ReplyAction {
    /// The answer is complete.
    Finish,
    /// A stop string ended the reply on purpose.
    FinishOnStopString,
    /// The model declined; nothing of the reply is run.
    Refuse,
    /// Unknown meaning: finish with the text there is and record an anomaly.
    FinishUnexpected,
    /// Run the complete calls.
    RunTools,
    /// Run the complete calls and add a note that the last one was truncated.
    RunToolsAndReissue,
    /// A call was truncated and there is no complete call to run.
    ReissueToolUse,
    /// Text was truncated.
    ContinueText,
    /// The window ended before the reply did.
    Compact,
    /// Drop the output and request it again.
    Reprompt(Arc<str>),
    /// Send the content back unchanged and let the server continue.
    Resume,
    /// A stop string with the meaning "continue" matched.
    Continue,
}

/// The decision of the table, with the names that are recorded and shown.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StopDecision {
    /// The run ends with the text there is.
    Finish,
    /// The calls are run.
    RunTools,
    /// A call was truncated and must be issued again.
    ReissueToolUse,
    /// Text was truncated and continues.
    ContinueText,
    /// The output is dropped and requested again.
    Reprompt {
        /// Reason, such as `roleplay_drift`.
        reason: Arc<str>,
    },
    /// A server turn is resumed.
    Resume,
}

impl ReplyAction {
    /// Returns the decision that is recorded.
    #[must_use]
    pub fn recorded_decision(&self) -> StopDecision {
        match self {
            Self::Finish | Self::FinishOnStopString | Self::FinishUnexpected | Self::Refuse => {
                StopDecision::Finish
            }
            Self::RunTools | Self::RunToolsAndReissue => StopDecision::RunTools,
            Self::ReissueToolUse => StopDecision::ReissueToolUse,
            Self::ContinueText | Self::Compact | Self::Continue => StopDecision::ContinueText,
            Self::Reprompt(reason) => StopDecision::Reprompt { reason: reason.clone() },
            Self::Resume => StopDecision::Resume,
        }
    }
}

/// An anomaly of a reply that should not happen and is counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ReplyAnomaly {
    /// Tool calls came with a stop reason that is not `tool_use`.
    CallsWithoutToolUse,
    /// `tool_use` came without a call.
    ToolUseWithoutCalls,
    /// The reply had no text to show.
    EmptyAnswer,
    /// A stop reason this version does not know.
    UnknownStopReason,
    /// A stop sequence matched that is not registered.
    UnknownStopString,
    /// A call had the id of another call of the same reply.
    RepeatedCallId,
}

impl ReplyAnomaly {
    /// Returns the unexpected value of the provider.
    #[must_use]
    pub fn provider_value(self, reply: &ModelReply) -> Option<&str> {
        match self {
            Self::UnknownStopString => reply.stop_sequence.as_deref(),
            Self::UnknownStopReason
            | Self::CallsWithoutToolUse
            | Self::ToolUseWithoutCalls
            | Self::EmptyAnswer
            | Self::RepeatedCallId => Some(reply.stop_reason.as_str()),
        }
    }
}

/// Reads a reply: what it asks for, and its anomalies.
#[must_use]
pub fn read_stop_reason(
    reply: &ModelReply,
    stop_map: &BTreeMap<Arc<str>, StopAction>,
) -> (ReplyAction, Option<ReplyAnomaly>) {
    let has_calls = reply.tool_uses().next().is_some();
    match &reply.stop_reason {
        StopReason::EndTurn => end_turn(has_calls),
        StopReason::ToolUse => tool_use(has_calls, reply),
        StopReason::MaxTokens => (max_tokens(has_calls, reply), None),
        StopReason::StopSequence => stop_sequence(has_calls, reply, stop_map),
        StopReason::PauseTurn => pause_turn(has_calls),
        StopReason::Refusal => (ReplyAction::Refuse, None),
        StopReason::ContextWindowExceeded => (window_exceeded(has_calls), None),
        StopReason::Other(_) => {
            (ReplyAction::FinishUnexpected, Some(ReplyAnomaly::UnknownStopReason))
        }
    }
}

fn end_turn(has_calls: bool) -> (ReplyAction, Option<ReplyAnomaly>) {
    match has_calls {
        true => (ReplyAction::RunTools, Some(ReplyAnomaly::CallsWithoutToolUse)),
        false => (ReplyAction::Finish, None),
    }
}

fn tool_use(has_calls: bool, reply: &ModelReply) -> (ReplyAction, Option<ReplyAnomaly>) {
    match (has_calls, &reply.truncated_block) {
        (true, None) => (ReplyAction::RunTools, None),
        (true, Some(_)) => (ReplyAction::RunToolsAndReissue, None),
        (false, Some(_)) => (ReplyAction::ReissueToolUse, None),
        (false, None) => (ReplyAction::FinishUnexpected, Some(ReplyAnomaly::ToolUseWithoutCalls)),
    }
}

fn max_tokens(has_calls: bool, reply: &ModelReply) -> ReplyAction {
    match (has_calls, &reply.truncated_block) {
        (true, None) => ReplyAction::RunTools,
        (true, Some(_)) => ReplyAction::RunToolsAndReissue,
        (false, Some(_)) => ReplyAction::ReissueToolUse,
        (false, None) => ReplyAction::ContinueText,
    }
}

fn stop_sequence(
    has_calls: bool,
    reply: &ModelReply,
    stop_map: &BTreeMap<Arc<str>, StopAction>,
) -> (ReplyAction, Option<ReplyAnomaly>) {
    let action = reply.stop_sequence.as_ref().and_then(|matched| stop_map.get(matched));
    match (action, has_calls) {
        (Some(StopAction::Reprompt { reason }), _) => (ReplyAction::Reprompt(reason.clone()), None),
        (_, true) => (ReplyAction::RunTools, Some(ReplyAnomaly::CallsWithoutToolUse)),
        (Some(StopAction::Finish), false) => (ReplyAction::FinishOnStopString, None),
        (Some(StopAction::Continue), false) => (ReplyAction::Continue, None),
        (None, false) => (ReplyAction::FinishOnStopString, Some(ReplyAnomaly::UnknownStopString)),
    }
}

fn pause_turn(has_calls: bool) -> (ReplyAction, Option<ReplyAnomaly>) {
    match has_calls {
        true => (ReplyAction::RunTools, Some(ReplyAnomaly::CallsWithoutToolUse)),
        false => (ReplyAction::Resume, None),
    }
}

fn window_exceeded(has_calls: bool) -> ReplyAction {
    match has_calls {
        true => ReplyAction::RunTools,
        false => ReplyAction::Compact,
    }
}
