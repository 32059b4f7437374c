//! Kills processes of the binary at the worst moments (random instants, every write boundary,
//! frozen past their lease) and audits what they leave behind.
//!
//! A parent (this program) sends prompts to `windlass` processes whose scripted model calls tools
//! with effects in a ledger outside the store. It kills or freezes the processes, restarts them,
//! answers their questions as truthfully as the ledger allows, and then compares store and ledger.
//! A PostgreSQL server is subjected to faults as well. Not here: anything that drives a
//! conversation; the binary is tested from outside.

mod args;
mod campaign;
mod campaign_tally;
mod conversation_trial;
mod faults;
mod observe;
mod plan;
mod postgres_under_test;
mod process;
mod progress;
mod report;
mod self_test;
mod work_folder;

#[cfg(test)]
mod report_tests;

use std::process::ExitCode;

use clap::Parser;

use args::TortureArgs;

fn main() -> ExitCode {
    if let Some(folder) = process::folder_guard::guarded_folder() {
        return process::folder_guard::run_guard(&folder);
    }
    let ended = match postgres_under_test::server_seed() {
        Some(seed) => postgres_under_test::serve(seed),
        None => run(&TortureArgs::parse()),
    };
    match ended {
        Ok(code) => code,
        Err(error) => {
            report::print_error(&error);
            ExitCode::FAILURE
        }
    }
}

fn run(args: &TortureArgs) -> anyhow::Result<ExitCode> {
    if args.should_self_test() && !self_test::run_self_test(args)? {
        return Ok(ExitCode::FAILURE);
    }
    let tally = campaign::run(args)?;
    report::print_last_line(args.store, &tally);
    Ok(if tally.is_clean() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
