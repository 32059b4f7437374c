use crate::call::outcome::{CallResult, OutcomeKind, SideEffects, ToolError, ToolOutcome};
use crate::message::content_block::ErrorFlag;
use crate::message::raw_json::RawJson;

const LIMIT: u64 = 32_000;

fn object(result: &CallResult) -> serde_json::Map<String, serde_json::Value> {
    let text: String = result.content.read().unwrap();
    serde_json::from_str(&text).unwrap()
}

// spec: ERRORS-02, ERRORS-03
#[test]
fn every_bad_outcome_is_an_error_object_that_differs() {
    let error = ToolError::new("file_not_found", "no such file: /a", "list the folder first");
    let rows = [
        (
            CallResult::from_outcome(&ToolOutcome::Failed(error), LIMIT, SideEffects::Unknown),
            "failed",
            "file_not_found",
            "no such file: /a",
        ),
        (CallResult::from_denial("not now"), "denied", "denied", "not now"),
        (CallResult::from_skip("the run ended"), "skipped", "skipped", "the run ended"),
        (
            CallResult::from_interruption(1_250, SideEffects::Unknown),
            "interrupted",
            "interrupted",
            "interrupted after 1.2 s; effects unknown",
        ),
        (
            CallResult::from_interruption(0, SideEffects::None),
            "interrupted",
            "interrupted",
            "interrupted after 0.0 s; it changes nothing",
        ),
        (
            CallResult::from_lost_call(SideEffects::Unknown),
            "interrupted",
            "interrupted",
            "the process ended while the call ran; effects unknown",
        ),
        (
            CallResult::from_timeout(120_000, SideEffects::Unknown),
            "timed out",
            "timed_out",
            "timed out after 120.0 s; effects unknown",
        ),
        (
            CallResult::from_outcome(
                &ToolOutcome::TimedOut { after_ms: u64::MAX },
                LIMIT,
                SideEffects::None,
            ),
            "timed out",
            "timed_out",
            "timed out after 18446744073709551.6 s; it changes nothing",
        ),
        (
            CallResult::from_outcome(
                &ToolOutcome::Interrupted { after_ms: 10 },
                LIMIT,
                SideEffects::Unknown,
            ),
            "interrupted",
            "interrupted",
            "interrupted after 0.0 s; effects unknown",
        ),
    ];
    for (result, kind, code, message) in rows {
        let object = object(&result);
        let mut keys: Vec<&str> = object.keys().map(String::as_str).collect();
        keys.sort_unstable();
        assert_eq!(keys, ["code", "error", "hint", "kind", "message", "recoverable"]);
        assert_eq!(object["error"], true);
        assert_eq!(object["kind"], kind);
        assert_eq!(object["code"], code);
        assert_eq!(object["message"], message);
        assert_eq!(object["recoverable"], true);
        assert!(!object["hint"].as_str().unwrap().is_empty());
        assert_eq!(result.error_flag, ErrorFlag::Error);
        assert_eq!(result.kind.as_str(), kind);
    }
}

// spec: ERRORS-02
#[test]
fn a_fatal_error_says_so() {
    let fatal = ToolError::new("gone", "it is gone", "stop").into_fatal();
    let result = CallResult::from_outcome(&ToolOutcome::Failed(fatal), LIMIT, SideEffects::Unknown);
    assert_eq!(object(&result)["recoverable"], false);
}

#[test]
fn good_outcomes_have_no_error_flag() {
    let done = CallResult::from_outcome(
        &ToolOutcome::Done(RawJson::string("ok")),
        LIMIT,
        SideEffects::Unknown,
    );
    assert_eq!(
        (done.kind, done.error_flag, done.content.text()),
        (OutcomeKind::Done, ErrorFlag::Success, "\"ok\"")
    );
    let answered = CallResult::from_human("blue", LIMIT);
    assert_eq!((answered.kind, answered.error_flag), (OutcomeKind::Answered, ErrorFlag::Success));
}

// spec: ROUNDS-13
#[test]
fn content_is_a_string_or_blocks() {
    let rows = [
        (r#""text""#, r#""text""#),
        (r#"[{"type":"text","text":"a"}]"#, r#"[{"type":"text","text":"a"}]"#),
        ("[]", "[]"),
        (r#"{"a":1}"#, r#""{\"a\":1}""#),
        ("42", r#""42""#),
        ("[1]", r#""[1]""#),
        (r#"[{"type":"text","text":" "}]"#, r#""[{\"type\":\"text\",\"text\":\" \"}]""#),
    ];
    for (content, expected) in rows {
        let outcome = ToolOutcome::Done(RawJson::parse(content).unwrap());
        assert_eq!(
            CallResult::from_outcome(&outcome, LIMIT, SideEffects::Unknown).content.text(),
            expected
        );
    }
}

#[test]
fn an_error_of_any_length_fits() {
    for part in ["long ", "\u{1}\u{2}", "\"\\", "\u{5e9}\u{5b8}", "\u{1f468}\u{200d}\u{1f469}"] {
        let long = part.repeat(50_000);
        for limit in [1_000, LIMIT] {
            let result = CallResult::from_error(
                OutcomeKind::Failed,
                &ToolError::new(&long, &long, &long),
                limit,
            );
            let text: String = result.content.read().unwrap();
            let size = text.chars().count() as u64;
            assert!(size <= limit + 300, "{part:?}: {size}");
            assert!(size > limit / 20, "{part:?}: {size}");
            assert_eq!(object(&result).len(), 6);
        }
    }
}

#[test]
fn the_errors_we_raise_ourselves_have_stable_codes() {
    assert_eq!(&*ToolError::unknown_tool("x").code, "unknown_tool");
    assert_eq!(&*ToolError::not_an_object().code, "invalid_input");
    let passing = ToolError::new("a", "b", "c").into_transient();
    assert!(passing.transient && passing.recoverable);
}

/// The output of a command stands beside the sentence, and is truncated before anything else.
// spec: ERRORS-05
#[test]
fn output_has_a_field_of_its_own_and_gives_way_first() {
    let error =
        |output: &str| ToolError::new("exit_status", "it failed", "read it").with_output(output);
    let object = |error: &ToolError, limit: u64| -> serde_json::Value {
        let result = CallResult::from_error(OutcomeKind::Failed, error, limit);
        let text: String = result.content.read().unwrap();
        assert!(text.chars().count() as u64 <= limit, "{}", text.len());
        serde_json::from_str(&text).unwrap()
    };
    let short = object(&error("a\nb\n"), 32_000);
    assert_eq!((&short["message"], &short["output"]), (&"it failed".into(), &"a\nb\n".into()));
    assert!(object(&ToolError::new("a", "b", "c"), 32_000).get("output").is_none());
    assert!(object(&error(""), 32_000).get("output").is_none());
    for output in ["x".repeat(100_000), "\n".repeat(100_000), "\u{1}\"".repeat(100_000)] {
        let long = object(&error(&output), 32_000);
        assert_eq!((&long["message"], &long["hint"]), (&"it failed".into(), &"read it".into()));
        assert!(long["output"].as_str().unwrap().len() > 500, "{long}");
    }
}
