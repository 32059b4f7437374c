use crate::log::input::FailureClass;
use crate::settings::limits::{Limits, RunTimeLimits};

// spec: STOP-19, STOP-18, GUARDS-11, GUARDS-13
#[test]
fn the_defaults_are_the_agreed_ones() {
    let limits = Limits::default();
    assert_eq!((limits.tool_rounds, limits.model_calls), (50, 110));
    assert_eq!((Limits::for_routers().tool_rounds, Limits::for_routers().model_calls), (12, 34));
    assert_eq!(limits.tool_retry_ms, [500, 2_000, 8_000]);
    assert_eq!((limits.parallel_calls, limits.result_chars), (8, 32_000));
    assert_eq!((limits.reprompts, limits.truncations, limits.kept_messages), (2, 3, 10));
    assert_eq!((limits.least_output_tokens, limits.cancel_wait_ms), (1_024, 180_000));
    let minutes = |minutes: u64| minutes * 60_000;
    let times = RunTimeLimits { soft_ms: minutes(15), hard_ms: minutes(20), grace_ms: 30_000 };
    assert_eq!(RunTimeLimits::default(), times);
}

#[test]
fn the_backstop_follows_the_cap() {
    for (rounds, calls) in [(0, 10), (1, 12), (50, 110), (u32::MAX, u32::MAX)] {
        assert_eq!(Limits::default().with_tool_rounds(rounds).model_calls, calls);
    }
}

#[test]
fn whoever_waits_for_an_answer_has_less_patience_with_a_server_that_is_not_there() {
    let limits = Limits::default();
    let patience = |class| limits.wait_limit_ms(class);
    assert_eq!(patience(FailureClass::Transient), 180_000);
    assert_eq!(patience(FailureClass::StreamCut), 180_000);
    assert_eq!(patience(FailureClass::ServerNotRunning), 5_000);
    let hurried = Limits { answer_wait_ms: 10, ..limits };
    assert_eq!(hurried.wait_limit_ms(FailureClass::ServerNotRunning), 10);
}

#[test]
fn what_is_not_said_is_the_default_and_what_is_not_known_is_named() {
    assert_eq!(serde_json::from_str::<Limits>("{}").unwrap(), Limits::default());
    let error = serde_json::from_str::<Limits>(r#"{"patience":1}"#).unwrap_err();
    assert!(error.to_string().contains("`patience`"), "{error}");
}
