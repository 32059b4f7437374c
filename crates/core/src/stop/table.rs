//! The stop-reason table: what a reply asks for. Ladders and limits are applied by whoever reads
//! the answer; this page only says what the reply *means*.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::reply::{Reply, StopReason};
use crate::settings::StopAction;

/// What a reply asks for next.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Next {
    /// The answer is complete.
    Finish,
    /// A stop string ended it on purpose.
    FinishOnStopString,
    /// The model declines; nothing of the reply is run.
    Refuse,
    /// Nobody knows what it means: finish with what there is, and say so.
    FinishUnexpected,
    /// Run the complete calls.
    RunTools,
    /// Run the complete calls and say that the last one was cut.
    RunToolsAndReissue,
    /// A call was cut and nothing complete is there to run.
    ReissueToolUse,
    /// Text was cut.
    ContinueText,
    /// The window ended before the reply did.
    MakeRoom,
    /// Throw the output away and ask again.
    Reprompt(Arc<str>),
    /// Send the content back as it is and let the server go on.
    Resume,
    /// A stop string that means: go on.
    GoOn,
}

/// What the table decided, in the words that are recorded and shown.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Decision {
    /// The run ends with what there is.
    Finish,
    /// Its calls are run.
    RunTools,
    /// A call was cut and is to be issued again.
    ReissueToolUse,
    /// Text was cut and goes on.
    ContinueText,
    /// The output is thrown away and asked for again.
    Reprompt {
        /// Why, such as `roleplay_drift`.
        reason: Arc<str>,
    },
    /// A server turn is resumed.
    Resume,
}

impl Next {
    /// The same in the words that are recorded.
    #[must_use]
    pub fn decision(&self) -> Decision {
        match self {
            Self::Finish | Self::FinishOnStopString | Self::FinishUnexpected | Self::Refuse => {
                Decision::Finish
            }
            Self::RunTools | Self::RunToolsAndReissue => Decision::RunTools,
            Self::ReissueToolUse => Decision::ReissueToolUse,
            Self::ContinueText | Self::MakeRoom | Self::GoOn => Decision::ContinueText,
            Self::Reprompt(reason) => Decision::Reprompt { reason: reason.clone() },
            Self::Resume => Decision::Resume,
        }
    }
}

/// Something about a reply that should not happen and is worth counting.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Anomaly {
    /// Tool calls came with a stop reason that is not `tool_use`.
    CallsWithoutToolUse,
    /// `tool_use` came without a call.
    ToolUseWithoutCalls,
    /// The reply had no text to show.
    EmptyAnswer,
    /// A stop reason this version does not know.
    UnknownStopReason,
    /// A stop string matched that nobody registered.
    UnknownStopString,
    /// A call had the id of another call of the same reply.
    RepeatedCallId,
}

impl Anomaly {
    /// The word of the provider that was odd.
    #[must_use]
    pub fn value(self, reply: &Reply) -> Option<&str> {
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

/// Reads a reply: what it asks for, and what is odd about it.
#[must_use]
pub fn read(reply: &Reply, stop_map: &BTreeMap<Arc<str>, StopAction>) -> (Next, Option<Anomaly>) {
    let calls = if reply.tool_uses().next().is_some() { Calls::Some } else { Calls::None };
    match &reply.stop_reason {
        StopReason::EndTurn => end_turn(calls),
        StopReason::ToolUse => tool_use(calls, reply),
        StopReason::MaxTokens => (max_tokens(calls, reply), None),
        StopReason::StopSequence => stop_sequence(calls, reply, stop_map),
        StopReason::PauseTurn => pause_turn(calls),
        StopReason::Refusal => (Next::Refuse, None),
        StopReason::ContextWindowExceeded => (window_exceeded(calls), None),
        StopReason::Other(_) => (Next::FinishUnexpected, Some(Anomaly::UnknownStopReason)),
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Calls {
    Some,
    None,
}

fn end_turn(calls: Calls) -> (Next, Option<Anomaly>) {
    match calls {
        Calls::Some => (Next::RunTools, Some(Anomaly::CallsWithoutToolUse)),
        Calls::None => (Next::Finish, None),
    }
}

fn tool_use(calls: Calls, reply: &Reply) -> (Next, Option<Anomaly>) {
    match (calls, &reply.cut) {
        (Calls::Some, None) => (Next::RunTools, None),
        (Calls::Some, Some(_)) => (Next::RunToolsAndReissue, None),
        (Calls::None, Some(_)) => (Next::ReissueToolUse, None),
        (Calls::None, None) => (Next::FinishUnexpected, Some(Anomaly::ToolUseWithoutCalls)),
    }
}

fn max_tokens(calls: Calls, reply: &Reply) -> Next {
    match (calls, &reply.cut) {
        (Calls::Some, None) => Next::RunTools,
        (Calls::Some, Some(_)) => Next::RunToolsAndReissue,
        (Calls::None, Some(_)) => Next::ReissueToolUse,
        (Calls::None, None) => Next::ContinueText,
    }
}

fn stop_sequence(
    calls: Calls,
    reply: &Reply,
    stop_map: &BTreeMap<Arc<str>, StopAction>,
) -> (Next, Option<Anomaly>) {
    let action = reply.stop_sequence.as_ref().and_then(|matched| stop_map.get(matched));
    match (action, calls) {
        (Some(StopAction::Reprompt { reason }), _) => (Next::Reprompt(reason.clone()), None),
        (_, Calls::Some) => (Next::RunTools, Some(Anomaly::CallsWithoutToolUse)),
        (Some(StopAction::Finish), Calls::None) => (Next::FinishOnStopString, None),
        (Some(StopAction::Continue), Calls::None) => (Next::GoOn, None),
        (None, Calls::None) => (Next::FinishOnStopString, Some(Anomaly::UnknownStopString)),
    }
}

fn pause_turn(calls: Calls) -> (Next, Option<Anomaly>) {
    match calls {
        Calls::Some => (Next::RunTools, Some(Anomaly::CallsWithoutToolUse)),
        Calls::None => (Next::Resume, None),
    }
}

fn window_exceeded(calls: Calls) -> Next {
    match calls {
        Calls::Some => Next::RunTools,
        Calls::None => Next::MakeRoom,
    }
}
