//! What exit codes and printed JSON mean.

use windlass_core::counsel::Advice;
use windlass_core::input::HookAnswer;
use windlass_core::permission::Lean;

use super::config::Event;
use super::said::Said;
use super::shell::{Ended, How};

fn ended(how: How, stdout: &str, stderr: &str) -> std::io::Result<Ended> {
    Ok(Ended { how, stdout: stdout.to_owned(), stderr: stderr.to_owned() })
}

fn before(stdout: &str) -> HookAnswer {
    let ended = ended(How::Exited(0), stdout, "");
    Said::of(Event::PreToolUse, "hook", ended).unwrap().before().answer
}

fn denied(answer: HookAnswer) -> String {
    match answer {
        HookAnswer::Deny { reason } => reason.to_string(),
        other => format!("{other:?}"),
    }
}

#[test]
fn junk_says_nothing() {
    for junk in ["", "hello", "[1, 2]", "{broken", "\u{0}\u{fffd}", "{}", r#"{"decision": 3}"#] {
        assert_eq!(before(junk), HookAnswer::Pass {}, "{junk}");
    }
}

#[test]
fn decisions_are_read_from_either_form() {
    let new = |decision: &str| {
        format!(
            r#"{{"hookSpecificOutput": {{"hookEventName": "PreToolUse", "permissionDecision": "{decision}",
            "permissionDecisionReason": "because"}}}}"#
        )
    };
    assert_eq!(before(&new("allow")), HookAnswer::Allow {});
    assert_eq!(before(&new("ask")), HookAnswer::Ask {});
    assert_eq!(before(&new("defer")), HookAnswer::Ask {});
    assert_eq!(denied(before(&new("deny"))), "because");
    assert_eq!(before(r#"{"decision": "approve"}"#), HookAnswer::Allow {});
    assert_eq!(denied(before(r#"{"decision": "block", "reason": "so"}"#)), "so");
    assert_eq!(denied(before(r#"{"continue": false, "stopReason": "enough"}"#)), "enough");
}

#[test]
fn an_answer_about_another_event_does_not_count() {
    let other = r#"{"hookSpecificOutput": {"hookEventName": "PostToolUse", "permissionDecision": "allow"}}"#;
    assert_eq!(before(other), HookAnswer::Pass {});
}

#[test]
fn new_arguments_come_with_a_leaning_and_words_for_the_model() {
    let said = r#"{"hookSpecificOutput": {"permissionDecision": "allow", "updatedInput": {"a": 1},
        "additionalContext": "mind the gap"}}"#;
    let heard =
        Said::of(Event::PreToolUse, "hook", ended(How::Exited(0), said, "")).unwrap().before();
    assert!(
        matches!(&heard.answer, HookAnswer::Change { input, lean: Lean::Allow, .. } if input.text() == r#"{"a":1}"#)
    );
    assert_eq!(heard.context.as_deref(), Some("mind the gap"));
}

#[test]
fn exit_code_two_is_a_no_with_what_was_said_as_reason() {
    let said = Said::of(Event::Stop, "hook", ended(How::Exited(2), "{}", "tests fail\n")).unwrap();
    assert_eq!(said.advice(), Advice::Block { reason: "tests fail".into() });
    let silent = Said::of(Event::Stop, "hook", ended(How::Exited(2), "", "")).unwrap();
    assert_eq!(silent.advice(), Advice::Block { reason: "the hook `hook` said no".into() });
}

#[test]
fn every_other_end_is_a_failure_that_says_what_happened() {
    for (how, expected) in [
        (How::Exited(1), "failed with exit code 1: oops"),
        (How::Killed, "was killed"),
        (How::TimedOut { after_ms: 7 }, "did not answer within 7 ms"),
    ] {
        let why = Said::of(Event::Stop, "hook", ended(how, "", "oops")).unwrap_err();
        assert!(why.contains(expected), "{why}");
    }
}

#[test]
fn plain_words_are_for_the_model_where_a_prompt_is_sent() {
    let said = |event| Said::of(event, "hook", ended(How::Exited(0), "it is Monday", "")).unwrap();
    let pass = |context: Option<&str>| Advice::Pass { context: context.map(Into::into) };
    assert_eq!(said(Event::UserPromptSubmit).advice(), pass(Some("it is Monday")));
    assert_eq!(said(Event::Stop).advice(), pass(None));
}
