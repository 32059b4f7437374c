use std::sync::Arc;

use windlass_core::ids::Millis;

use super::headers::{Left, Said, until};
use super::state::{Answer, Outcome, State};

fn entered(state: &mut State, calls: usize) {
    for _ in 0..calls {
        assert_eq!(state.admit(1, 0), Answer::Enter);
    }
}

#[test]
fn a_gate_that_has_learned_nothing_lets_everybody_through() {
    let mut state = State::default();
    entered(&mut state, 1_000);
}

#[test]
fn a_refusal_closes_the_gate_and_then_lets_few_through() {
    let mut state = State::default();
    entered(&mut state, 8);
    state.outcome(Outcome::Throttled { retry_after_ms: Some(500) }, 0);
    assert_eq!(state.admit(1, 100), Answer::In(400));
    (0..8).for_each(|_| state.leave());
    for _ in 0..4 {
        assert_eq!(state.admit(1, 500), Answer::Enter);
    }
    assert_eq!(state.admit(1, 500), Answer::AfterOthers);
    state.outcome(Outcome::Answered, 500);
    assert_eq!(state.admit(1, 500), Answer::Enter);
}

// spec: FAULT-60
/// Ten thousand runs, a model that is down: one call at a time goes out, ever more seldom.
#[test]
fn a_model_that_is_down_is_not_stormed() {
    let mut state = State::default();
    let mut now = 0;
    let mut calls = 0;
    while now < 3_600_000 {
        match state.admit(1, now) {
            Answer::Enter => {
                calls += 1;
                state.outcome(Outcome::Overloaded { retry_after_ms: None }, now);
                state.leave();
            }
            Answer::In(ms) => now += ms,
            Answer::AfterOthers => now += 1,
        }
    }
    assert!(calls < 150, "{calls} calls in an hour");
}

#[test]
fn an_absurd_wait_is_not_believed() {
    let mut state = State::default();
    state.outcome(Outcome::Throttled { retry_after_ms: Some(u64::MAX) }, 0);
    assert_eq!(state.admit(1, 0), Answer::In(3_600_000));
}

#[test]
fn what_is_left_is_spent_and_filled_up_again() {
    let mut state = State::default();
    let left = |count| Some(Left { count, reset: 1_000 });
    state.heard(&Said { requests: left(2), tokens: left(100) }, 0);
    assert_eq!(state.admit(60, 0), Answer::Enter);
    assert_eq!(state.admit(60, 0), Answer::In(1_000), "tokens");
    assert_eq!(state.admit(40, 0), Answer::Enter);
    assert_eq!(state.admit(0, 10), Answer::In(990), "requests");
    assert_eq!(state.admit(60, 1_000), Answer::Enter);
}

#[test]
fn a_line_is_kept_in_order() {
    let mut state = State::default();
    let first = state.line_up(Arc::default());
    let second = state.line_up(Arc::default());
    assert_eq!(state.admit_first(second, 1, 0), Answer::AfterOthers);
    state.step_out(first);
    assert_eq!(state.admit_first(second, 1, 0), Answer::Enter);
}

#[test]
fn moments_and_spans_are_read() {
    let now = Millis(1_763_197_200_000);
    assert_eq!(until("2025-11-15T09:00:05Z", now), Some(5_000));
    assert_eq!(until("2025-11-15T08:00:00.5Z", now), Some(0));
    assert_eq!(until("6m0s", now), Some(360_000));
    assert_eq!(until("1.5s", now), Some(1_500));
    assert_eq!(until("20ms", now), Some(20));
    assert_eq!(until("1h2m3s", now), Some(3_723_000));
    assert_eq!(until("2", now), Some(2_000));
    for nonsense in ["", "soon", "5x", "-1s", "2025-13-01T00:00:00Z"] {
        assert!(matches!(until(nonsense, now), None | Some(0)), "{nonsense}");
    }
}
