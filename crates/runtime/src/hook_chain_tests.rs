//! Tests: how the responses of several hooks are combined.

use std::sync::Arc;

use windlass_core::call::call_facts::CallFacts;
use windlass_core::log::input::HookDecision;
use windlass_core::message::raw_json::RawJson;
use windlass_core::permission::HookPreference;
use windlass_core::run::review::ReviewResult;

use super::{combine_responses, combine_review_results};
use crate::ports::HookResponse;

fn deny(reason: &str) -> HookDecision {
    HookDecision::Deny { reason: Arc::from(reason) }
}

fn change(input: &str, preference: HookPreference) -> HookDecision {
    let input = RawJson::parse(input).unwrap();
    HookDecision::Change { input, facts: Box::new(CallFacts::default()), preference, reason: None }
}

fn combine_decisions(answers: &[HookDecision]) -> HookDecision {
    combine_responses(answers.iter().cloned().map(HookResponse::from).collect()).decision
}

#[test]
fn deny_beats_ask_beats_allow_beats_pass() {
    let (ask, allow, pass) =
        (HookDecision::Ask { reason: None }, HookDecision::Allow {}, HookDecision::Pass {});
    assert_eq!(combine_decisions(&[allow.clone(), pass.clone()]), allow);
    assert_eq!(combine_decisions(&[pass.clone(), ask.clone(), allow.clone()]), ask);
    assert_eq!(combine_decisions(&[allow.clone(), deny("no"), ask.clone()]), deny("no"));
    assert_eq!(combine_decisions(&[deny("first"), deny("second")]), deny("first"));
    assert_eq!(combine_decisions(&[]), pass);
}

#[test]
fn the_later_change_wins_unless_somebody_denies() {
    let (one, two) = (
        change(r#"{"a":1}"#, HookPreference::Allow),
        change(r#"{"a":2}"#, HookPreference::Neutral),
    );
    assert_eq!(combine_decisions(&[one.clone(), two]), change(r#"{"a":2}"#, HookPreference::Allow));
    assert_eq!(
        combine_decisions(&[one.clone(), HookDecision::Ask { reason: None }]),
        change(r#"{"a":1}"#, HookPreference::Ask)
    );
    assert_eq!(combine_decisions(&[one, deny("no")]), deny("no"));
}

#[test]
fn an_end_beats_a_no_and_contexts_are_joined() {
    let pass = |text: &str| ReviewResult::Pass { context: Some(Arc::from(text)) };
    let block = ReviewResult::Block { reason: Arc::from("no") };
    let stop = ReviewResult::Stop { reason: Arc::from("enough") };
    assert_eq!(combine_review_results(vec![pass("a"), pass("b")]), pass("a\nb"));
    assert_eq!(combine_review_results(vec![pass("a"), block.clone()]), block);
    assert_eq!(combine_review_results(vec![block, stop.clone(), pass("a")]), stop);
    assert_eq!(combine_review_results(vec![]), ReviewResult::Pass { context: None });
}
