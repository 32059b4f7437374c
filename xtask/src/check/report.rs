//! The words of the check: what it is doing, how long it took, what to do when it fails.

use std::time::Duration;

use anyhow::Result;

use crate::clock::seconds;
use crate::process::Ended;

use super::parts::{PATIENCE, Part, Work};

/// How many parts passed of those asked for; a check stops at the first failure.
pub(super) struct Tally {
    passed: usize,
    asked: usize,
}

impl Tally {
    pub(super) fn new(passed: usize, asked: usize) -> Self {
        Self { passed, asked }
    }

    pub(super) fn all_passed(&self) -> bool {
        self.passed == self.asked
    }

    pub(super) fn closing_line(&self, total: Duration) -> String {
        let failed = usize::from(!self.all_passed());
        let not_run = match self.asked - self.passed - failed {
            0 => String::new(),
            count => format!(", {count} not run"),
        };
        let passed = self.passed;
        format!("check: {passed} parts passed, {failed} failed{not_run} in {}", seconds(total))
    }
}

pub(super) fn listed(part: &Part) -> String {
    format!("{:9} {:4} s  {}", part.name, part.budget_seconds, part.does)
}

pub(super) fn before(part: &Part) -> String {
    let mut text = format!("\n  ..  {}  {}", part.name, part.does);
    for program in programs(part) {
        text.push_str(&format!("\n      {program}"));
    }
    text
}

pub(super) fn after(part: &Part, ended: &Result<Ended>, took: Duration) -> String {
    match ended {
        Ok(Ended::Passed) if took > part.budget() => slow(part, took),
        Ok(Ended::Passed) => line("ok", part, took),
        Ok(Ended::Failed { code }) => failed(part, took, &format!("ended with exit code {code}")),
        Ok(Ended::OverBudget) => failed(part, took, &over_budget(part)),
        Err(error) => failed(part, took, &format!("could not be run: {error:#}")),
    }
}

fn line(word: &str, part: &Part, took: Duration) -> String {
    let Part { name, budget_seconds, .. } = part;
    format!("  {word}  {name}  {} (budget {budget_seconds} s)", seconds(took))
}

fn slow(part: &Part, took: Duration) -> String {
    let line = line("ok", part, took);
    format!(
        "{line}\n      over its budget: on an idle machine, make it faster or give it another's time"
    )
}

fn over_budget(part: &Part) -> String {
    let (times, budget) = (PATIENCE, part.budget_seconds);
    format!("was ended after {times} times its budget of {budget} s: it hangs, or the machine does")
}

fn failed(part: &Part, took: Duration, why: &str) -> String {
    let name = part.name;
    let mut text = line("FAILED", part, took);
    text.push_str(&format!("\n      the part `{name}` {why}"));
    text.push_str(&format!("\n      run it alone: cargo xtask check --only {name}"));
    for program in programs(part) {
        text.push_str(&format!("\n      which is:     {program}"));
    }
    text
}

fn programs(part: &Part) -> Vec<String> {
    match part.work {
        Work::Programs(programs) => {
            programs().unwrap_or_default().iter().map(ToString::to_string).collect()
        }
        Work::Tidy => vec!["cargo xtask tidy".to_owned()],
    }
}
