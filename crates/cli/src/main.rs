//! The binary `windlass`: the only place that names vendors and speaks to people.

mod args;
mod commands;
mod exit;
mod logging;
mod look;
mod present;
mod prompt;
mod refused;
mod settle;
mod setup;
mod show;
mod toolset;
mod words;

use std::process::ExitCode;

use clap::Parser;

use args::Args;

fn main() -> ExitCode {
    let args = match Args::try_parse() {
        Ok(args) => args,
        Err(error) => return refused::told(&error),
    };
    match commands::run(args) {
        Ok(code) => code,
        Err(error) => {
            show::error(&error);
            exit::of_error(&error)
        }
    }
}
