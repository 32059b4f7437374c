use std::collections::BTreeMap;
use std::sync::Arc;

use super::{Anomaly, Next, read};
use crate::block::Block;
use crate::raw::Raw;
use crate::reply::{CutBlock, Reply, StopReason, Usage};
use crate::settings::StopAction;

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

fn reply(reason: &str, holds: Holds) -> Reply {
    let call = || Block::tool_use("t1", "read", &Raw::parse("{}").unwrap());
    let cut = || CutBlock { name: Arc::from("read"), partial: Arc::from("{\"a") };
    let (blocks, cut) = match holds {
        Nothing => (vec![], None),
        Text => (vec![Block::text("so")], None),
        Calls => (vec![Block::text("so"), call()], None),
        CutCall => (vec![Block::text("so")], Some(cut())),
        CallsAndCut => (vec![call()], Some(cut())),
    };
    Reply {
        blocks,
        cut,
        stop_reason: StopReason::from(reason),
        stop_sequence: None,
        usage: Usage::default(),
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
    let odd = Some(Anomaly::CallsWithoutToolUse);
    let lost = Some(Anomaly::ToolUseWithoutCalls);
    let new = Some(Anomaly::UnknownStopReason);
    let rows = [
        ("end_turn", Nothing, Next::Finish, None),
        ("end_turn", Text, Next::Finish, None),
        ("end_turn", Calls, Next::RunTools, odd),
        ("end_turn", CutCall, Next::Finish, None),
        ("end_turn", CallsAndCut, Next::RunTools, odd),
        ("tool_use", Nothing, Next::FinishUnexpected, lost),
        ("tool_use", Text, Next::FinishUnexpected, lost),
        ("tool_use", Calls, Next::RunTools, None),
        ("tool_use", CutCall, Next::ReissueToolUse, None),
        ("tool_use", CallsAndCut, Next::RunToolsAndReissue, None),
        ("max_tokens", Nothing, Next::ContinueText, None),
        ("max_tokens", Text, Next::ContinueText, None),
        ("max_tokens", Calls, Next::RunTools, None),
        ("max_tokens", CutCall, Next::ReissueToolUse, None),
        ("max_tokens", CallsAndCut, Next::RunToolsAndReissue, None),
        ("pause_turn", Nothing, Next::Resume, None),
        ("pause_turn", Text, Next::Resume, None),
        ("pause_turn", Calls, Next::RunTools, odd),
        ("pause_turn", CutCall, Next::Resume, None),
        ("pause_turn", CallsAndCut, Next::RunTools, odd),
        ("refusal", Nothing, Next::Refuse, None),
        ("refusal", Text, Next::Refuse, None),
        ("refusal", Calls, Next::Refuse, None),
        ("refusal", CutCall, Next::Refuse, None),
        ("refusal", CallsAndCut, Next::Refuse, None),
        ("model_context_window_exceeded", Nothing, Next::MakeRoom, None),
        ("model_context_window_exceeded", Text, Next::MakeRoom, None),
        ("model_context_window_exceeded", Calls, Next::RunTools, None),
        ("model_context_window_exceeded", CutCall, Next::MakeRoom, None),
        ("model_context_window_exceeded", CallsAndCut, Next::RunTools, None),
        ("invented tomorrow", Nothing, Next::FinishUnexpected, new),
        ("invented tomorrow", Text, Next::FinishUnexpected, new),
        ("invented tomorrow", Calls, Next::FinishUnexpected, new),
        ("invented tomorrow", CutCall, Next::FinishUnexpected, new),
        ("invented tomorrow", CallsAndCut, Next::FinishUnexpected, new),
    ];
    for (reason, holds, next, anomaly) in rows {
        assert_eq!(read(&reply(reason, holds), &map()), (next, anomaly), "{reason} {holds:?}");
    }
}

// spec: STOP-12
#[test]
fn a_stop_string_is_looked_up() {
    let reprompt = || Next::Reprompt(Arc::from("roleplay_drift"));
    let odd = Some(Anomaly::CallsWithoutToolUse);
    let unknown = Some(Anomaly::UnknownStopString);
    let rows = [
        (Some("END"), Text, Next::FinishOnStopString, None),
        (Some("END"), Calls, Next::RunTools, odd),
        (Some("MORE"), Text, Next::GoOn, None),
        (Some("MORE"), Calls, Next::RunTools, odd),
        (Some("User:"), Text, reprompt(), None),
        (Some("User:"), Calls, reprompt(), None),
        (Some("end"), Text, Next::FinishOnStopString, unknown),
        (Some(""), Text, Next::FinishOnStopString, unknown),
        (None, Text, Next::FinishOnStopString, unknown),
        (None, Calls, Next::RunTools, odd),
    ];
    for (matched, holds, next, anomaly) in rows {
        let mut reply = reply("stop_sequence", holds);
        reply.stop_sequence = matched.map(Arc::from);
        assert_eq!(read(&reply, &map()), (next, anomaly), "{matched:?} {holds:?}");
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
