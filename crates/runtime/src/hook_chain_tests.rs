//! How the answers of several hooks become one.

use std::sync::Arc;

use windlass_core::counsel::Advice;
use windlass_core::facts::Facts;
use windlass_core::input::HookAnswer;
use windlass_core::permission::Lean;
use windlass_core::raw::Raw;

use super::{advice, heard};
use crate::ports::Heard;

fn deny(reason: &str) -> HookAnswer {
    HookAnswer::Deny { reason: Arc::from(reason) }
}

fn change(input: &str, lean: Lean) -> HookAnswer {
    let input = Raw::parse(input).unwrap();
    HookAnswer::Change { input, facts: Box::new(Facts::default()), lean }
}

fn together(answers: &[HookAnswer]) -> HookAnswer {
    heard(answers.iter().cloned().map(Heard::from).collect()).answer
}

#[test]
fn deny_beats_ask_beats_allow_beats_pass() {
    let (ask, allow, pass) = (HookAnswer::Ask {}, HookAnswer::Allow {}, HookAnswer::Pass {});
    assert_eq!(together(&[allow.clone(), pass.clone()]), allow);
    assert_eq!(together(&[pass.clone(), ask.clone(), allow.clone()]), ask);
    assert_eq!(together(&[allow.clone(), deny("no"), ask.clone()]), deny("no"));
    assert_eq!(together(&[deny("first"), deny("second")]), deny("first"));
    assert_eq!(together(&[]), pass);
}

#[test]
fn the_later_change_wins_unless_somebody_denies() {
    let (one, two) = (change(r#"{"a":1}"#, Lean::Allow), change(r#"{"a":2}"#, Lean::Neutral));
    assert_eq!(together(&[one.clone(), two]), change(r#"{"a":2}"#, Lean::Allow));
    assert_eq!(together(&[one.clone(), HookAnswer::Ask {}]), change(r#"{"a":1}"#, Lean::Ask));
    assert_eq!(together(&[one, deny("no")]), deny("no"));
}

#[test]
fn an_end_beats_a_no_and_contexts_are_joined() {
    let pass = |text: &str| Advice::Pass { context: Some(Arc::from(text)) };
    let block = Advice::Block { reason: Arc::from("no") };
    let stop = Advice::Stop { reason: Arc::from("enough") };
    assert_eq!(advice(vec![pass("a"), pass("b")]), pass("a\nb"));
    assert_eq!(advice(vec![pass("a"), block.clone()]), block);
    assert_eq!(advice(vec![block, stop.clone(), pass("a")]), stop);
    assert_eq!(advice(vec![]), Advice::Pass { context: None });
}
