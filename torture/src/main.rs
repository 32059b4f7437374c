//! Kills real processes of the binary at the worst moments and audits what they leave behind.
//!
//! A parent (this program) sends prompts to `windlass` processes whose scripted model calls tools
//! with effects in a ledger outside the store. It kills them at random instants and at every write
//! boundary, freezes them past their lease, restarts them, answers what they ask as truthfully as
//! the ledger allows, and then compares store and ledger. A PostgreSQL suffers too. Not here: anything that drives a
//! conversation; the binary is judged from outside.

mod args;
mod audit;
mod brood;
mod budget;
mod campaign;
mod child;
mod clock;
mod dice;
mod fault;
mod freeze;
mod ground;
mod guard;
mod ledger;
mod log;
mod nemesis;
mod order;
mod plan;
mod processes;
mod progress;
mod report;
mod script;
mod self_test;
mod server;
mod store;
mod strike;
mod tally;
mod trial;
mod watched;

#[cfg(test)]
mod audit_tests;
#[cfg(test)]
mod budget_tests;
#[cfg(test)]
mod log_tests;
#[cfg(test)]
mod plan_tests;
#[cfg(test)]
mod report_tests;
#[cfg(test)]
mod script_tests;

use std::process::ExitCode;

use clap::Parser;

use args::Args;

fn main() -> ExitCode {
    if let Some(folder) = guard::asked_for() {
        return guard::stand(&folder);
    }
    let ended = match server::asked_for() {
        Some(seed) => server::serve(seed),
        None => run(&Args::parse()),
    };
    match ended {
        Ok(code) => code,
        Err(error) => {
            report::trouble(&error);
            ExitCode::FAILURE
        }
    }
}

fn run(args: &Args) -> anyhow::Result<ExitCode> {
    if args.wants_self_test() && !self_test::passes(args)? {
        return Ok(ExitCode::FAILURE);
    }
    let tally = campaign::run(args)?;
    report::last_line(args.store, &tally);
    Ok(if tally.is_clean() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
