use crate::context::Summariser;
use crate::settings::conversation_settings::{ModelSpec, Settings};

fn said(change: impl FnOnce(&mut Settings)) -> String {
    let mut settings = Settings::new(ModelSpec::with_defaults("m"));
    change(&mut settings);
    settings.validate().err().map_or_else(String::new, |bad| bad.to_string())
}

#[test]
fn what_ships_makes_sense() {
    assert_eq!(said(|_| {}), "");
    assert_eq!(
        said(|settings| settings.limits = crate::settings::limits::Limits::for_routers()),
        ""
    );
}

// spec: WINDOW-08
#[test]
fn a_window_that_cannot_be_is_refused_in_one_sentence() {
    let none = "window_tokens of the model m is 0; it must be between 1000 and 1000000000";
    assert_eq!(said(|settings| settings.model.window_tokens = 0), none);
    let nothing = ModelSpec { window_tokens: 0, ..ModelSpec::with_defaults("m") };
    assert_eq!(said(|settings| settings.fallback = Some(nothing.clone())), none);
    assert_eq!(said(|settings| settings.window.summariser = Summariser::Model(nothing)), none);
    let late = said(|settings| settings.window.thresholds.compact = 99);
    assert!(late.contains("compact (99 %) < block (98 %)"), "{late}");
}

/// A change of one setting.
type Change = fn(&mut Settings);

// spec: GUARDS-01
#[test]
fn no_mechanism_is_switched_off_or_put_out_of_reach() {
    let off: [(&str, Change); 24] = [
        ("no time limit is set", |s| s.times = None),
        ("tool_rounds is 0", |s| s.limits.tool_rounds = 0),
        ("tool_rounds is 4294967295", |s| s.limits.tool_rounds = u32::MAX),
        ("model_calls is 0", |s| s.limits.model_calls = 0),
        ("model_retries is 0", |s| s.limits.model_retries = 0),
        ("fallback_failures is 0", |s| s.limits.fallback_failures = 0),
        ("tool_retry_ms has 0 entries", |s| s.limits.tool_retry_ms = Vec::new()),
        ("tool_retry_ms has 11 entries", |s| s.limits.tool_retry_ms = vec![1; 11]),
        ("recoveries is 0", |s| s.limits.recoveries = 0),
        ("recovery_iterations is 0", |s| s.limits.recovery_iterations = 0),
        ("kept_messages is 101", |s| s.limits.kept_messages = 101),
        ("loop_window_calls is 31", |s| s.limits.loop_window_calls = 31),
        ("loop_identical_calls is 1", |s| s.limits.loop_identical_calls = 1),
        ("loop_identical_calls is 7; it must be between 2 and 6", |s| {
            s.limits.loop_identical_calls = 7;
        }),
        ("loop_same_tool_calls is 4294967295", |s| s.limits.loop_same_tool_calls = u32::MAX),
        ("loop_same_tool_calls is 4; it must be between 2 and 3", |s| {
            s.limits.loop_window_calls = 3;
        }),
        ("rejections is 0", |s| s.limits.rejections = 0),
        ("output_retries is 0", |s| s.limits.output_retries = 0),
        ("reprompts is 0", |s| s.limits.reprompts = 0),
        ("truncations is 0", |s| s.limits.truncations = 0),
        ("compact (100 %)", |s| s.window.thresholds.compact = 100),
        ("queued_prompts is 0", |s| s.limits.queued_prompts = 0),
        ("hard_ms is 18446744073709551615", |s| times(s, 1, u64::MAX)),
        ("soft_ms (5) must be smaller than hard_ms (5)", |s| times(s, 5, 5)),
    ];
    for (expected, change) in off {
        let output = said(change);
        assert!(output.contains(expected), "{output:?} should say {expected:?}");
        let advice = ["give", "must", "need", "set"];
        assert!(advice.iter().any(|word| output.contains(word)), "{output:?} says what to do");
    }
}

#[test]
fn numbers_within_their_range_are_taken() {
    let fine: [Change; 5] = [
        |s| s.limits.kept_messages = 100,
        |s| s.limits.early_calls = 0,
        |s| {
            s.limits.loop_window_calls = 30;
            s.limits.loop_identical_calls = 30;
            s.limits.loop_same_tool_calls = 2;
        },
        |s| s.limits.recovery_iterations = 1,
        |s| s.guards.exempt = s.tools.iter().map(|tool| tool.name.clone()).collect(),
    ];
    for change in fine {
        assert_eq!(said(change), "");
    }
}

fn times(settings: &mut Settings, soft_ms: u64, hard_ms: u64) {
    settings.times = Some(crate::settings::limits::RunTimeLimits { soft_ms, hard_ms, grace_ms: 0 });
}
