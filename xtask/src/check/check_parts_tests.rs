use std::collections::BTreeSet;

use super::check_parts::{CHECK_PARTS, PartWork};

const TOTAL_BUDGET_SECONDS: u64 = 55 * 60;

#[test]
fn all_budgets_together_are_within_the_total() {
    let total: u64 = CHECK_PARTS.iter().map(|part| part.budget_seconds).sum();
    assert!(total <= TOTAL_BUDGET_SECONDS, "{total} s is too long: take from another part");
}

#[test]
fn every_part_has_a_budget_and_a_name_of_its_own() {
    assert!(CHECK_PARTS.iter().all(|part| part.budget_seconds > 0));
    let names: BTreeSet<_> = CHECK_PARTS.iter().map(|part| part.name).collect();
    assert_eq!(names.len(), CHECK_PARTS.len());
}

#[test]
fn the_quick_parts_come_before_the_release_builds() {
    let names: Vec<_> = CHECK_PARTS.iter().map(|part| part.name).collect();
    let quick_first = ["fmt", "clippy", "tidy", "test", "docs"];
    assert_eq!(names[..quick_first.len()], quick_first);
}

#[test]
fn every_part_has_something_to_do() {
    for part in CHECK_PARTS {
        if let PartWork::Programs(programs) = part.work {
            assert!(!programs().unwrap().is_empty(), "{}", part.name);
        }
    }
}
