//! `cargo xtask check`: everything that must pass, in order, each part within its time budget.
//!
//! It stops at the first part that fails: what follows would fail for the same reason, or hide it.
//! `--from` continues after a fix.

mod check_args;
mod check_parts;
mod report;

#[cfg(test)]
mod check_args_tests;
#[cfg(test)]
mod check_parts_tests;
#[cfg(test)]
mod report_tests;

use std::process::ExitCode;

use anyhow::Result;

use crate::clock::measure_time;
use crate::process::{RunResult, run_within};
use crate::tidy;

use check_args::CheckArgs;
use check_parts::{CHECK_PARTS, CheckPart, PartWork};
use report::CheckTally;

pub(crate) fn run(arguments: &[String]) -> Result<ExitCode> {
    match CheckArgs::parse(arguments)? {
        CheckArgs::List => Ok(print_list()),
        CheckArgs::Run(parts) => Ok(run_parts(&parts)),
    }
}

fn print_list() -> ExitCode {
    CHECK_PARTS.iter().for_each(|part| println!("{}", report::list_line(part)));
    ExitCode::SUCCESS
}

fn run_parts(parts: &[&CheckPart]) -> ExitCode {
    let (tally, total) = measure_time(|| run_until_failure(parts));
    println!("{}", tally.closing_line(total));
    if tally.all_passed() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn run_until_failure(parts: &[&CheckPart]) -> CheckTally {
    let passed = parts.iter().take_while(|part| run_and_report(part)).count();
    CheckTally::new(passed, parts.len())
}

fn run_and_report(part: &CheckPart) -> bool {
    println!("{}", report::start_line(part));
    let (ended, took) = measure_time(|| run_part(part));
    println!("{}", report::end_line(part, &ended, took));
    matches!(ended, Ok(RunResult::Passed))
}

fn run_part(part: &CheckPart) -> Result<RunResult> {
    match part.work {
        PartWork::Programs(programs) => run_within(&programs()?, part.hang_limit()),
        PartWork::Tidy => run_tidy(),
    }
}

fn run_tidy() -> Result<RunResult> {
    Ok(if tidy::is_clean()? { RunResult::Passed } else { RunResult::Failed { code: 1 } })
}
