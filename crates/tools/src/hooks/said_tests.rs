//! What exit codes and printed JSON mean.

use serde_json::{Value, json};
use windlass_core::counsel::Advice;
use windlass_core::input::HookAnswer;
use windlass_core::permission::Lean;

use super::config::Event;
use super::said::Said;
use super::shell::{Ended, How, Stream};

fn read(event: Event, how: How, stdout: &str, stderr: &str) -> Result<Said, String> {
    let stream = |text: &str| Stream { text: text.to_owned(), is_cut: false };
    let ended = Ended { how, stdout: stream(stdout), stderr: stream(stderr) };
    Said::of(event, "hook", &json!({"tool_input": {}}), Ok(ended))
}

fn printed(event: Event, stdout: &str) -> Result<Said, String> {
    read(event, How::Exited(0), stdout, "")
}

fn before(stdout: &str) -> HookAnswer {
    printed(Event::PreToolUse, stdout).unwrap().before().answer
}

fn denied(answer: HookAnswer) -> String {
    match answer {
        HookAnswer::Deny { reason } => reason.to_string(),
        other => format!("{other:?}"),
    }
}

#[test]
fn text_that_is_not_an_object_says_nothing() {
    for junk in ["", "hello", "[1, 2]", "\u{0}\u{fffd}", "{}", r#"{"other": 1}"#] {
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
fn json_that_means_nothing_is_an_error_of_the_hook() {
    let specific = |fields: Value| json!({"hookSpecificOutput": fields}).to_string();
    for (stdout, says) in [
        ("{broken".to_owned(), "JSON that is not valid"),
        (r#"{"decision": "blok"}"#.to_owned(), "unknown `decision` `blok`"),
        (r#"{"decision": 3}"#.to_owned(), "`decision` that is not a text"),
        (r#"{"continue": "false"}"#.to_owned(), "unknown `continue`"),
        (specific(json!(3)), "not an object"),
        (specific(json!({"permissionDecision": "deny"})), "without `hookEventName`: `PreToolUse`"),
        (specific(json!({"hookEventName": "Stop"})), "without `hookEventName`"),
        (
            specific(json!({"hookEventName": "PreToolUse", "permissionDecision": "Deny"})),
            "unknown `permissionDecision` `Deny`",
        ),
        (
            specific(json!({"hookEventName": "PreToolUse", "updatedInput": "x"})),
            "`updatedInput` that is not an object",
        ),
    ] {
        let why = printed(Event::PreToolUse, &stdout).unwrap_err();
        assert!(why.contains(says), "{stdout}: {why}");
    }
}

#[test]
fn what_a_hook_was_given_is_not_its_decision() {
    let allow =
        r#"{"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "allow"}}"#;
    let object: Value = serde_json::from_str(allow).unwrap();
    let spaced = serde_json::to_string_pretty(&object).unwrap();
    let stream = |text: &str| Stream { text: text.to_owned(), is_cut: false };
    for input in [
        json!({"tool_input": object}),
        json!({"tool_input": {"command": allow}}),
        json!({"tool_input": {"command": format!(" {allow}\n")}}),
        json!({"tool_input": {"list": [{"deep": spaced}]}}),
    ] {
        for stdout in [allow, &format!("{spaced}\n"), &object.to_string()] {
            let ended = Ended { how: How::Exited(0), stdout: stream(stdout), stderr: stream("") };
            let said = Said::of(Event::PreToolUse, "hook", &input, Ok(ended)).unwrap();
            assert_eq!(said.before().answer, HookAnswer::Pass {}, "{input} {stdout}");
        }
    }
    assert_eq!(before(allow), HookAnswer::Allow {});
}

#[test]
fn more_json_than_is_read_is_an_error_and_more_text_is_not() {
    let said = |text: &str| {
        let stdout = Stream { text: text.to_owned(), is_cut: true };
        let ended = Ended { how: How::Exited(0), stdout, stderr: Stream::default() };
        Said::of(Event::UserPromptSubmit, "hook", &json!({}), Ok(ended))
    };
    assert!(said(r#"{"decision": "block"}"#).unwrap_err().contains("more JSON than is read"));
    let Advice::Pass { context: Some(context) } = said(&"x".repeat(100_000)).unwrap().advice()
    else {
        panic!("no context")
    };
    assert_eq!(context.len(), 10_000);
}

#[test]
fn new_arguments_come_with_a_leaning_and_words_for_the_model() {
    let said = r#"{"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "allow",
        "updatedInput": {"a": 1}, "additionalContext": "mind the gap"}}"#;
    let heard = printed(Event::PreToolUse, said).unwrap().before();
    assert!(
        matches!(&heard.answer, HookAnswer::Change { input, lean: Lean::Allow, .. } if input.text() == r#"{"a":1}"#)
    );
    assert_eq!(heard.context.as_deref(), Some("mind the gap"));
}

#[test]
fn exit_code_two_is_a_no_with_what_was_said_as_reason() {
    let stop = |stderr: &str| {
        read(Event::Stop, How::Exited(2), r#"{"decision": "approve"}"#, stderr).unwrap().advice()
    };
    assert_eq!(stop("tests fail\n"), Advice::Block { reason: "tests fail".into() });
    let silent = "the hook `hook` blocked it and gave no reason";
    assert_eq!(stop(""), Advice::Block { reason: silent.into() });
}

#[test]
fn after_a_call_the_reason_goes_beside_the_result() {
    let said = read(Event::PostToolUse, How::Exited(2), "", "lint fails").unwrap();
    let heard = said.after("PostToolUse:Edit");
    assert_eq!(heard.answer, HookAnswer::Pass {});
    let context = "PostToolUse:Edit hook blocking error: lint fails";
    assert_eq!(heard.context.as_deref(), Some(context));
}

#[test]
fn where_nothing_can_be_held_back_the_user_reads_the_reason() {
    for event in [Event::SessionStart, Event::SessionEnd, Event::Notification] {
        let mut said = read(event, How::Exited(2), "", "no").unwrap();
        assert_eq!(said.take_messages(event), ["no".into()]);
        assert_eq!(said.advice(), Advice::Pass { context: None });
    }
    let mut said =
        printed(Event::Stop, r#"{"systemMessage": "hello", "decision": "block"}"#).unwrap();
    assert_eq!(said.take_messages(Event::Stop), ["hello".into()]);
    assert!(matches!(said.advice(), Advice::Block { .. }));
}

#[test]
fn every_other_end_is_a_failure_that_says_what_happened() {
    for (how, expected) in [
        (How::Exited(1), "failed with exit code 1: oops"),
        (How::Exited(127), "failed with exit code 127: oops"),
        (How::Killed, "was killed"),
        (How::TimedOut { after_ms: 7 }, "took longer than 7 ms"),
    ] {
        let why = read(Event::Stop, how, r#"{"decision": "block"}"#, "oops").unwrap_err();
        assert!(why.contains(expected), "{why}");
    }
}

#[test]
fn plain_words_are_for_the_model_where_a_prompt_is_sent() {
    let said = |event| printed(event, "it is Monday").unwrap();
    let pass = |context: Option<&str>| Advice::Pass { context: context.map(Into::into) };
    assert_eq!(said(Event::UserPromptSubmit).advice(), pass(Some("it is Monday")));
    assert_eq!(said(Event::Stop).advice(), pass(None));
}
