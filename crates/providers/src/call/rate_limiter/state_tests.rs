use std::sync::Arc;

use windlass_core::log::ids::UnixMillis;

use super::headers::{RateLimitHeaders, RemainingQuota, parse_reset_ms};
use super::state::{Admission, CallOutcome, RateGateState};

fn is_admitted(state: &mut RateGateState, calls: usize) {
    for _ in 0..calls {
        assert_eq!(state.try_admit(1, 0), Admission::Admitted);
    }
}

#[test]
fn a_gate_that_has_learned_nothing_lets_everybody_through() {
    let mut state = RateGateState::default();
    is_admitted(&mut state, 1_000);
}

#[test]
fn a_refusal_closes_the_gate_and_then_lets_few_through() {
    let mut state = RateGateState::default();
    is_admitted(&mut state, 8);
    state.record_outcome(CallOutcome::Throttled { retry_after_ms: Some(500) }, 0);
    assert_eq!(state.try_admit(1, 100), Admission::WaitMs(400));
    (0..8).for_each(|_| state.release());
    for _ in 0..4 {
        assert_eq!(state.try_admit(1, 500), Admission::Admitted);
    }
    assert_eq!(state.try_admit(1, 500), Admission::AfterOthers);
    state.record_outcome(CallOutcome::Succeeded, 500);
    assert_eq!(state.try_admit(1, 500), Admission::Admitted);
}

// spec: FAULT-60
/// Ten thousand runs and a model that is down: one call at a time is sent, at growing intervals.
#[test]
fn a_model_that_is_down_is_not_stormed() {
    let mut state = RateGateState::default();
    let mut now = 0;
    let mut calls = 0;
    while now < 3_600_000 {
        match state.try_admit(1, now) {
            Admission::Admitted => {
                calls += 1;
                state.record_outcome(CallOutcome::Overloaded { retry_after_ms: None }, now);
                state.release();
            }
            Admission::WaitMs(ms) => now += ms,
            Admission::AfterOthers => now += 1,
        }
    }
    assert!(calls < 150, "{calls} calls in an hour");
}

#[test]
fn an_absurd_wait_is_not_believed() {
    let mut state = RateGateState::default();
    state.record_outcome(CallOutcome::Throttled { retry_after_ms: Some(u64::MAX) }, 0);
    assert_eq!(state.try_admit(1, 0), Admission::WaitMs(3_600_000));
}

#[test]
fn what_is_left_is_spent_and_filled_up_again() {
    let mut state = RateGateState::default();
    let left = |remaining| Some(RemainingQuota { remaining, reset_ms: 1_000 });
    state.record_headers(&RateLimitHeaders { requests: left(2), tokens: left(100) }, 0);
    assert_eq!(state.try_admit(60, 0), Admission::Admitted);
    assert_eq!(state.try_admit(60, 0), Admission::WaitMs(1_000), "tokens");
    assert_eq!(state.try_admit(40, 0), Admission::Admitted);
    assert_eq!(state.try_admit(0, 10), Admission::WaitMs(990), "requests");
    assert_eq!(state.try_admit(60, 1_000), Admission::Admitted);
}

#[test]
fn a_line_is_kept_in_order() {
    let mut state = RateGateState::default();
    let first = state.enqueue(Arc::default());
    let second = state.enqueue(Arc::default());
    assert_eq!(state.try_admit_first(second, 1, 0), Admission::AfterOthers);
    state.dequeue(first);
    assert_eq!(state.try_admit_first(second, 1, 0), Admission::Admitted);
}

#[test]
fn moments_and_spans_are_read() {
    let now = UnixMillis(1_763_197_200_000);
    assert_eq!(parse_reset_ms("2025-11-15T09:00:05Z", now), Some(5_000));
    assert_eq!(parse_reset_ms("2025-11-15T08:00:00.5Z", now), Some(0));
    assert_eq!(parse_reset_ms("6m0s", now), Some(360_000));
    assert_eq!(parse_reset_ms("1.5s", now), Some(1_500));
    assert_eq!(parse_reset_ms("20ms", now), Some(20));
    assert_eq!(parse_reset_ms("1h2m3s", now), Some(3_723_000));
    assert_eq!(parse_reset_ms("2", now), Some(2_000));
    for nonsense in ["", "soon", "5x", "-1s", "2025-13-01T00:00:00Z"] {
        assert!(matches!(parse_reset_ms(nonsense, now), None | Some(0)), "{nonsense}");
    }
}
