//! Messages of the check: what it is doing, how long it took, what to do when it fails.

use std::time::Duration;

use anyhow::Result;

use crate::clock::format_seconds;
use crate::process::RunResult;

use super::check_parts::{CheckPart, HANG_FACTOR, PartWork};

/// How many of the requested parts passed; a check stops at the first failure.
pub(super) struct CheckTally {
    passed: usize,
    asked: usize,
}

impl CheckTally {
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
        format!(
            "check: {passed} parts passed, {failed} failed{not_run} in {}",
            format_seconds(total)
        )
    }
}

pub(super) fn list_line(part: &CheckPart) -> String {
    format!("{:9} {:4} s  {}", part.name, part.budget_seconds, part.description)
}

pub(super) fn start_line(part: &CheckPart) -> String {
    let mut text = format!("\n  ..  {}  {}", part.name, part.description);
    for program in program_lines(part) {
        text.push_str(&format!("\n      {program}"));
    }
    text
}

pub(super) fn end_line(part: &CheckPart, ended: &Result<RunResult>, took: Duration) -> String {
    match ended {
        Ok(RunResult::Passed) if took > part.budget() => slow_message(part, took),
        Ok(RunResult::Passed) => status_line("ok", part, took),
        Ok(RunResult::Failed { code }) => {
            failure_message(part, took, &format!("ended with exit code {code}"))
        }
        Ok(RunResult::OverBudget) => failure_message(part, took, &over_budget_message(part)),
        Err(error) => failure_message(part, took, &format!("could not be run: {error:#}")),
    }
}

fn status_line(word: &str, part: &CheckPart, took: Duration) -> String {
    let CheckPart { name, budget_seconds, .. } = part;
    format!("  {word}  {name}  {} (budget {budget_seconds} s)", format_seconds(took))
}

fn slow_message(part: &CheckPart, took: Duration) -> String {
    let line = status_line("ok", part, took);
    format!(
        "{line}\n      over its budget: on an idle machine, make it faster or give it another's time"
    )
}

fn over_budget_message(part: &CheckPart) -> String {
    let (times, budget) = (HANG_FACTOR, part.budget_seconds);
    format!("was ended after {times} times its budget of {budget} s: it hangs, or the machine does")
}

fn failure_message(part: &CheckPart, took: Duration, why: &str) -> String {
    let name = part.name;
    let mut text = status_line("FAILED", part, took);
    text.push_str(&format!("\n      the part `{name}` {why}"));
    text.push_str(&format!("\n      run it alone: cargo xtask check --only {name}"));
    for program in program_lines(part) {
        text.push_str(&format!("\n      which is:     {program}"));
    }
    text
}

fn program_lines(part: &CheckPart) -> Vec<String> {
    match part.work {
        PartWork::Programs(programs) => {
            programs().unwrap_or_default().iter().map(ToString::to_string).collect()
        }
        PartWork::Tidy => vec!["cargo xtask tidy".to_owned()],
    }
}
