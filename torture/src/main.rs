//! Kills processes of the binary at the worst moments (random instants, every write boundary,
//! frozen past their lease) and audits what they leave behind.
//!
//! A parent (this program) sends prompts to `windlass` processes whose scripted model calls tools
//! with effects in a ledger outside the store. It kills or freezes the processes, restarts them,
//! answers their questions as truthfully as the ledger allows, and then compares store and ledger.
//! A PostgreSQL server is subjected to faults as well. Not here: anything that drives a
//! conversation; the binary is tested from outside.

mod apply_fault;
mod args;
mod audit_conversation;
mod binary_command;
mod campaign;
mod campaign_tally;
mod child;
mod child_registry;
mod clock;
mod conversation_plan;
mod conversation_trial;
mod effect_ledger;
mod fault_injector;
mod folder_guard;
mod freeze_takeover;
mod kill_budget;
mod log_reader;
mod postgres_under_test;
mod process_table;
mod progress;
mod report;
mod script;
mod seeded_random;
mod self_test;
mod store;
mod violation;
mod watched_kill;
mod work_folder;

#[cfg(test)]
mod audit_conversation_tests;
#[cfg(test)]
mod conversation_plan_tests;
#[cfg(test)]
mod kill_budget_tests;
#[cfg(test)]
mod log_reader_tests;
#[cfg(test)]
mod report_tests;
#[cfg(test)]
mod script_tests;

use std::process::ExitCode;

use clap::Parser;

use args::TortureArgs;

fn main() -> ExitCode {
    if let Some(folder) = folder_guard::guarded_folder() {
        return folder_guard::run_guard(&folder);
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
