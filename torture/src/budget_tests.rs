//! Exactly as many kills as were asked for.

use crate::budget::Budget;

#[test]
fn a_blow_that_missed_is_given_back_and_one_that_fell_is_not() {
    let budget = Budget::of(2);
    drop(budget.reserve().unwrap());
    budget.reserve().unwrap().spend();
    budget.reserve().unwrap().spend();
    assert!(budget.reserve().is_none());
    assert!(budget.is_empty());
    assert_eq!(budget.spent(), 2);
}

#[test]
fn a_reserved_blow_is_nobody_elses() {
    let budget = Budget::of(1);
    let held = budget.reserve();
    assert!(held.is_some() && budget.is_empty() && budget.reserve().is_none());
    drop(held);
    assert!(!budget.is_empty());
    assert_eq!(budget.spent(), 0);
}
