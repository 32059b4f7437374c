use std::time::Duration;

use anyhow::anyhow;

use crate::invocation::Invocation;
use crate::process::RunResult;

use super::check_parts::{CheckPart, PartWork};
use super::report::{CheckTally, end_line, start_line};

const LINT: CheckPart = CheckPart {
    name: "lint",
    description: "looks for lint",
    budget_seconds: 300,
    work: PartWork::Programs(|| Ok(vec![Invocation::new("cargo", &["lint", "--all"])])),
};

const TOOK: Duration = Duration::from_millis(41_230);

#[test]
fn before_says_what_and_how() {
    let text = start_line(&LINT);
    assert!(text.contains("lint  looks for lint"));
    assert!(text.contains("cargo lint --all"));
}

#[test]
fn a_pass_is_one_line_with_time_and_budget() {
    assert_eq!(end_line(&LINT, &Ok(RunResult::Passed), TOOK), "  ok  lint  41.2 s (budget 300 s)");
}

#[test]
fn a_failure_says_which_part_and_how_to_run_it_alone() {
    let text = end_line(&LINT, &Ok(RunResult::Failed { code: 101 }), TOOK);
    assert!(text.contains("the part `lint` ended with exit code 101"));
    assert!(text.contains("cargo xtask check --only lint"));
    assert!(text.contains("which is:     cargo lint --all"));
}

#[test]
fn over_budget_is_a_failure_in_a_sentence() {
    let text = end_line(&LINT, &Ok(RunResult::OverBudget), TOOK);
    assert!(text.starts_with("  FAILED  lint"));
    assert!(text.contains("was ended after 5 times its budget of 300 s"));
}

#[test]
fn a_slow_pass_is_a_pass_that_says_so() {
    let text = end_line(&LINT, &Ok(RunResult::Passed), Duration::from_secs(301));
    assert!(text.starts_with("  ok  lint"));
    assert!(text.contains("over its budget"));
}

#[test]
fn what_could_not_be_run_says_why() {
    let text = end_line(&LINT, &Err(anyhow!("no such program")), TOOK);
    assert!(text.contains("could not be run: no such program"));
}

#[test]
fn the_closing_line_counts() {
    let all = CheckTally::new(9, 9);
    assert!(all.all_passed());
    assert_eq!(all.closing_line(TOOK), "check: 9 parts passed, 0 failed in 41.2 s");
}

#[test]
fn a_failure_is_counted_with_what_was_not_run() {
    let some = CheckTally::new(2, 9);
    assert!(!some.all_passed());
    assert_eq!(some.closing_line(TOOK), "check: 2 parts passed, 1 failed, 6 not run in 41.2 s");
    assert_eq!(
        CheckTally::new(8, 9).closing_line(TOOK),
        "check: 8 parts passed, 1 failed in 41.2 s"
    );
}
