//! Exactly as many kills as requested.

use crate::faults::kill_budget::KillBudget;

#[test]
fn a_blow_that_missed_is_given_back_and_one_that_fell_is_not() {
    let budget = KillBudget::with_kills(2);
    drop(budget.reserve().unwrap());
    budget.reserve().unwrap().mark_killed();
    budget.reserve().unwrap().mark_killed();
    assert!(budget.reserve().is_none());
    assert!(budget.is_empty());
    assert_eq!(budget.kills_done(), 2);
}

#[test]
fn a_reserved_kill_is_not_given_twice() {
    let budget = KillBudget::with_kills(1);
    let held = budget.reserve();
    assert!(held.is_some() && budget.is_empty() && budget.reserve().is_none());
    drop(held);
    assert!(!budget.is_empty());
    assert_eq!(budget.kills_done(), 0);
}
