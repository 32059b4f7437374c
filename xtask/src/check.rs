//! `cargo xtask check`: everything that must pass, in order, each part within its time budget.
//!
//! It stops at the first part that fails: what follows would fail for the same reason, or hide
//! it. `--from` goes on after a repair.

mod choice;
mod parts;
mod report;

#[cfg(test)]
mod choice_tests;
#[cfg(test)]
mod parts_tests;
#[cfg(test)]
mod report_tests;

use std::process::ExitCode;

use anyhow::Result;

use crate::clock::timed;
use crate::process::{Ended, run_within};
use crate::tidy;

use choice::Choice;
use parts::{PARTS, Part, Work};
use report::Tally;

pub(crate) fn run(arguments: &[String]) -> Result<ExitCode> {
    match Choice::read(arguments)? {
        Choice::List => Ok(list()),
        Choice::Run(parts) => Ok(run_parts(&parts)),
    }
}

fn list() -> ExitCode {
    PARTS.iter().for_each(|part| println!("{}", report::listed(part)));
    ExitCode::SUCCESS
}

fn run_parts(parts: &[&Part]) -> ExitCode {
    let (tally, total) = timed(|| run_until_failure(parts));
    println!("{}", tally.closing_line(total));
    if tally.all_passed() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn run_until_failure(parts: &[&Part]) -> Tally {
    let passed = parts.iter().take_while(|part| passes(part)).count();
    Tally::new(passed, parts.len())
}

fn passes(part: &Part) -> bool {
    println!("{}", report::before(part));
    let (ended, took) = timed(|| perform(part));
    println!("{}", report::after(part, &ended, took));
    matches!(ended, Ok(Ended::Passed))
}

fn perform(part: &Part) -> Result<Ended> {
    match part.work {
        Work::Programs(programs) => run_within(&programs()?, part.patience()),
        Work::Tidy => tidy_part(),
    }
}

fn tidy_part() -> Result<Ended> {
    Ok(if tidy::is_clean()? { Ended::Passed } else { Ended::Failed { code: 1 } })
}
