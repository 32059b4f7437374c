//! What exit codes and printed JSON mean.

use serde_json::{Value, json};
use windlass_core::log::input::HookDecision;
use windlass_core::permission::HookPreference;
use windlass_core::run::review::ReviewResult;

use super::command_runner::{CapturedStream, HookExit, HookProcessEnd};
use super::config::HookEvent;
use super::response::HookOutput;

fn read(
    event: HookEvent,
    exit: HookExit,
    stdout: &str,
    stderr: &str,
) -> Result<HookOutput, String> {
    let stream = |text: &str| CapturedStream { text: text.to_owned(), is_truncated: false };
    let ended = HookProcessEnd { exit, stdout: stream(stdout), stderr: stream(stderr) };
    HookOutput::from_end(event, "hook", &json!({"tool_input": {}}), Ok(ended))
}

fn parse_printed(event: HookEvent, stdout: &str) -> Result<HookOutput, String> {
    read(event, HookExit::Exited(0), stdout, "")
}

fn before(stdout: &str) -> HookDecision {
    parse_printed(HookEvent::PreToolUse, stdout).unwrap().into_pre_tool_response().decision
}

fn denial_of(answer: HookDecision) -> String {
    match answer {
        HookDecision::Deny { reason } => reason.to_string(),
        other => format!("{other:?}"),
    }
}

#[test]
fn text_that_is_not_an_object_says_nothing() {
    for junk in ["", "hello", "[1, 2]", "\u{0}\u{fffd}", "{}", r#"{"other": 1}"#] {
        assert_eq!(before(junk), HookDecision::Pass {}, "{junk}");
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
    assert_eq!(before(&new("allow")), HookDecision::Allow {});
    let reason = (before(&new("ask")), before(&new("defer")));
    assert!(matches!(reason, (HookDecision::Ask { reason: Some(_) }, HookDecision::Defer {})));
    assert_eq!(denial_of(before(&new("deny"))), "because");
    assert_eq!(before(r#"{"decision": "approve"}"#), HookDecision::Allow {});
    assert_eq!(denial_of(before(r#"{"decision": "block", "reason": "so"}"#)), "so");
}

#[test]
fn around_a_call_a_hook_can_end_the_run() {
    let said = r#"{"continue": false, "stopReason": "enough"}"#;
    let before = parse_printed(HookEvent::PreToolUse, said).unwrap().into_pre_tool_response();
    let after = parse_printed(HookEvent::PostToolUse, said).unwrap().into_post_tool_response("x");
    for response in [before, after] {
        assert_eq!(response.decision, HookDecision::Pass {});
        assert_eq!((response.stop.as_deref(), response.context), (Some("enough"), None));
    }
}

#[test]
fn json_that_means_nothing_is_an_error_of_the_hook() {
    let specific = |fields: Value| json!({"hookSpecificOutput": fields}).to_string();
    for (stdout, says) in [
        ("{broken".to_owned(), "JSON that is not valid"),
        (r#"{"decision": "blok"}"#.to_owned(), "unknown `decision` `blok`"),
        (r#"{"decision": 3}"#.to_owned(), "`decision` that is not a string"),
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
        let reason = parse_printed(HookEvent::PreToolUse, &stdout).unwrap_err();
        assert!(reason.contains(says), "{stdout}: {reason}");
    }
}

#[test]
fn what_a_hook_was_given_is_not_its_decision() {
    let allow =
        r#"{"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "allow"}}"#;
    let object: Value = serde_json::from_str(allow).unwrap();
    let spaced = serde_json::to_string_pretty(&object).unwrap();
    let stream = |text: &str| CapturedStream { text: text.to_owned(), is_truncated: false };
    for input in [
        json!({"tool_input": object}),
        json!({"tool_input": {"command": allow}}),
        json!({"tool_input": {"command": format!(" {allow}\n")}}),
        json!({"tool_input": {"list": [{"deep": spaced}]}}),
    ] {
        for stdout in [allow, &format!("{spaced}\n"), &object.to_string()] {
            let ended = HookProcessEnd {
                exit: HookExit::Exited(0),
                stdout: stream(stdout),
                stderr: stream(""),
            };
            let output =
                HookOutput::from_end(HookEvent::PreToolUse, "hook", &input, Ok(ended)).unwrap();
            assert_eq!(
                output.into_pre_tool_response().decision,
                HookDecision::Pass {},
                "{input} {stdout}"
            );
        }
    }
    assert_eq!(before(allow), HookDecision::Allow {});
}

#[test]
fn more_json_than_is_read_is_an_error_and_more_text_is_not() {
    let said = |text: &str| {
        let stdout = CapturedStream { text: text.to_owned(), is_truncated: true };
        let ended =
            HookProcessEnd { exit: HookExit::Exited(0), stdout, stderr: CapturedStream::default() };
        HookOutput::from_end(HookEvent::UserPromptSubmit, "hook", &json!({}), Ok(ended))
    };
    assert!(said(r#"{"decision": "block"}"#).unwrap_err().contains("too much JSON"));
    let ReviewResult::Pass { context: Some(context) } =
        said(&"x".repeat(100_000)).unwrap().into_review_result()
    else {
        panic!("no context")
    };
    assert_eq!(context.len(), 10_000);
}

#[test]
fn new_arguments_come_with_a_leaning_and_words_for_the_model() {
    let output = r#"{"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "allow",
        "updatedInput": {"a": 1}, "additionalContext": "mind the gap"}}"#;
    let response = parse_printed(HookEvent::PreToolUse, output).unwrap().into_pre_tool_response();
    assert!(
        matches!(&response.decision, HookDecision::Change { input, preference: HookPreference::Allow, .. } if input.text() == r#"{"a":1}"#)
    );
    assert_eq!(response.context.as_deref(), Some("mind the gap"));
}

#[test]
fn exit_code_two_is_a_no_with_what_was_said_as_reason() {
    let stop = |stderr: &str| {
        read(HookEvent::Stop, HookExit::Exited(2), r#"{"decision": "approve"}"#, stderr)
            .unwrap()
            .into_review_result()
    };
    assert_eq!(stop("tests fail\n"), ReviewResult::Block { reason: "tests fail".into() });
    let silent = "blocked by the hook `hook` without a reason";
    assert_eq!(stop(""), ReviewResult::Block { reason: silent.into() });
}

#[test]
fn after_a_call_the_reason_goes_beside_the_result() {
    let output = read(HookEvent::PostToolUse, HookExit::Exited(2), "", "lint fails").unwrap();
    let response = output.into_post_tool_response("PostToolUse:Edit");
    assert_eq!(response.decision, HookDecision::Pass {});
    let context = "PostToolUse:Edit hook blocking error: lint fails";
    assert_eq!(response.context.as_deref(), Some(context));
}

#[test]
fn where_nothing_can_be_held_back_the_user_reads_the_reason() {
    for event in [HookEvent::SessionStart, HookEvent::SessionEnd, HookEvent::Notification] {
        let mut output = read(event, HookExit::Exited(2), "", "no").unwrap();
        assert_eq!(output.take_user_messages(event.can_block()), ["no".into()]);
        assert_eq!(output.into_review_result(), ReviewResult::Pass { context: None });
    }
    let mut output =
        parse_printed(HookEvent::Stop, r#"{"systemMessage": "hello", "decision": "block"}"#)
            .unwrap();
    assert_eq!(output.take_user_messages(true), ["hello".into()]);
    assert!(matches!(output.into_review_result(), ReviewResult::Block { .. }));
}

#[test]
fn every_other_end_is_a_failure_that_says_what_happened() {
    for (exit, expected) in [
        (HookExit::Exited(1), "failed with exit code 1: oops"),
        (HookExit::Exited(127), "failed with exit code 127: oops"),
        (HookExit::Killed, "was killed"),
        (HookExit::TimedOut { after_ms: 7 }, "took longer than 7 ms"),
    ] {
        let reason = read(HookEvent::Stop, exit, r#"{"decision": "block"}"#, "oops").unwrap_err();
        assert!(reason.contains(expected), "{reason}");
    }
}

#[test]
fn plain_words_are_for_the_model_where_a_prompt_is_sent() {
    let said = |event| parse_printed(event, "it is Monday").unwrap();
    let pass = |context: Option<&str>| ReviewResult::Pass { context: context.map(Into::into) };
    assert_eq!(said(HookEvent::UserPromptSubmit).into_review_result(), pass(Some("it is Monday")));
    assert_eq!(said(HookEvent::Stop).into_review_result(), pass(None));
}
