use std::collections::BTreeMap;
use std::sync::Arc;

use super::{ReplyAction, ReplyAnomaly, read_stop_reason};
use crate::message::content_block::ContentBlock;
use crate::message::raw_json::RawJson;
use crate::message::reply::{ModelReply, StopReason, TokenUsage, TruncatedBlock};
use crate::settings::conversation_settings::StopAction;

/// What a reply holds beside its stop reason.
#[derive(Debug, Clone, Copy)]
enum Holds {
    Nothing,
    Text,
    Calls,
    CutCall,
    CallsAndCut,
}

use Holds::{Calls, CallsAndCut, CutCall, Nothing, Text};

fn reply(reason: &str, holds: Holds) -> ModelReply {
    let call = || ContentBlock::tool_use("t1", "read", &RawJson::parse("{}").unwrap());
    let cut = || TruncatedBlock { name: Arc::from("read"), partial: Arc::from("{\"a") };
    let (blocks, truncated_block) = match holds {
        Nothing => (vec![], None),
        Text => (vec![ContentBlock::text("so")], None),
        Calls => (vec![ContentBlock::text("so"), call()], None),
        CutCall => (vec![ContentBlock::text("so")], Some(cut())),
        CallsAndCut => (vec![call()], Some(cut())),
    };
    ModelReply {
        blocks,
        truncated_block,
        stop_reason: StopReason::from(reason),
        stop_sequence: None,
        usage: TokenUsage::default(),
        envelope: None,
    }
}

fn map() -> BTreeMap<Arc<str>, StopAction> {
    BTreeMap::from([
        (Arc::from("END"), StopAction::Finish),
        (Arc::from("MORE"), StopAction::Continue),
        (Arc::from("User:"), StopAction::Reprompt { reason: Arc::from("roleplay_drift") }),
    ])
}

// spec: STOP-01
#[test]
fn every_stop_reason_with_everything_a_reply_can_hold() {
    let odd = Some(ReplyAnomaly::CallsWithoutToolUse);
    let lost = Some(ReplyAnomaly::ToolUseWithoutCalls);
    let new = Some(ReplyAnomaly::UnknownStopReason);
    let rows = [
        ("end_turn", Nothing, ReplyAction::Finish, None),
        ("end_turn", Text, ReplyAction::Finish, None),
        ("end_turn", Calls, ReplyAction::RunTools, odd),
        ("end_turn", CutCall, ReplyAction::Finish, None),
        ("end_turn", CallsAndCut, ReplyAction::RunTools, odd),
        ("tool_use", Nothing, ReplyAction::FinishUnexpected, lost),
        ("tool_use", Text, ReplyAction::FinishUnexpected, lost),
        ("tool_use", Calls, ReplyAction::RunTools, None),
        ("tool_use", CutCall, ReplyAction::ReissueToolUse, None),
        ("tool_use", CallsAndCut, ReplyAction::RunToolsAndReissue, None),
        ("max_tokens", Nothing, ReplyAction::ContinueText, None),
        ("max_tokens", Text, ReplyAction::ContinueText, None),
        ("max_tokens", Calls, ReplyAction::RunTools, None),
        ("max_tokens", CutCall, ReplyAction::ReissueToolUse, None),
        ("max_tokens", CallsAndCut, ReplyAction::RunToolsAndReissue, None),
        ("pause_turn", Nothing, ReplyAction::Resume, None),
        ("pause_turn", Text, ReplyAction::Resume, None),
        ("pause_turn", Calls, ReplyAction::RunTools, odd),
        ("pause_turn", CutCall, ReplyAction::Resume, None),
        ("pause_turn", CallsAndCut, ReplyAction::RunTools, odd),
        ("refusal", Nothing, ReplyAction::Refuse, None),
        ("refusal", Text, ReplyAction::Refuse, None),
        ("refusal", Calls, ReplyAction::Refuse, None),
        ("refusal", CutCall, ReplyAction::Refuse, None),
        ("refusal", CallsAndCut, ReplyAction::Refuse, None),
        ("model_context_window_exceeded", Nothing, ReplyAction::Compact, None),
        ("model_context_window_exceeded", Text, ReplyAction::Compact, None),
        ("model_context_window_exceeded", Calls, ReplyAction::RunTools, None),
        ("model_context_window_exceeded", CutCall, ReplyAction::Compact, None),
        ("model_context_window_exceeded", CallsAndCut, ReplyAction::RunTools, None),
        ("invented tomorrow", Nothing, ReplyAction::FinishUnexpected, new),
        ("invented tomorrow", Text, ReplyAction::FinishUnexpected, new),
        ("invented tomorrow", Calls, ReplyAction::FinishUnexpected, new),
        ("invented tomorrow", CutCall, ReplyAction::FinishUnexpected, new),
        ("invented tomorrow", CallsAndCut, ReplyAction::FinishUnexpected, new),
    ];
    for (reason, holds, next, anomaly) in rows {
        assert_eq!(
            read_stop_reason(&reply(reason, holds), &map()),
            (next, anomaly),
            "{reason} {holds:?}"
        );
    }
}

// spec: STOP-12
#[test]
fn a_stop_string_is_looked_up() {
    let reprompt = || ReplyAction::Reprompt(Arc::from("roleplay_drift"));
    let odd = Some(ReplyAnomaly::CallsWithoutToolUse);
    let unknown = Some(ReplyAnomaly::UnknownStopString);
    let rows = [
        (Some("END"), Text, ReplyAction::FinishOnStopString, None),
        (Some("END"), Calls, ReplyAction::RunTools, odd),
        (Some("MORE"), Text, ReplyAction::Continue, None),
        (Some("MORE"), Calls, ReplyAction::RunTools, odd),
        (Some("User:"), Text, reprompt(), None),
        (Some("User:"), Calls, reprompt(), None),
        (Some("end"), Text, ReplyAction::FinishOnStopString, unknown),
        (Some(""), Text, ReplyAction::FinishOnStopString, unknown),
        (None, Text, ReplyAction::FinishOnStopString, unknown),
        (None, Calls, ReplyAction::RunTools, odd),
    ];
    for (matched, holds, next, anomaly) in rows {
        let mut reply = reply("stop_sequence", holds);
        reply.stop_sequence = matched.map(Arc::from);
        assert_eq!(read_stop_reason(&reply, &map()), (next, anomaly), "{matched:?} {holds:?}");
    }
}

#[test]
fn stop_reasons_keep_their_names() {
    let known = [
        "end_turn",
        "tool_use",
        "max_tokens",
        "stop_sequence",
        "pause_turn",
        "refusal",
        "model_context_window_exceeded",
    ];
    for name in known {
        let reason = StopReason::from(name);
        assert_eq!(reason.as_str(), name);
        assert!(!matches!(reason, StopReason::Other(_)), "{name}");
    }
    for name in ["", "END_TURN", " end_turn", "\u{5d0}"] {
        assert_eq!(StopReason::from(name), StopReason::Other(Arc::from(name)));
        let json = serde_json::to_string(&StopReason::from(name)).unwrap();
        assert_eq!(serde_json::from_str::<StopReason>(&json).unwrap().as_str(), name);
    }
}
