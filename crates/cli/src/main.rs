//! The binary `windlass`: the only place that names vendors and speaks to people.

mod args;
mod commands;
mod exit;
mod logging;
mod look;
mod present;
mod prompt;
mod refused;
mod sdk;
mod settle;
mod setup;
mod show;
mod toolset;
mod words;

use std::process::ExitCode;

use clap::Parser;

use args::Args;

fn main() -> ExitCode {
    let line = args::of_process();
    let args = match Args::try_parse_from(&line.words) {
        Ok(args) => args,
        Err(error) => return refused::told(&error),
    };
    if let Err(why) = line.check(&args) {
        return refused::because(&why);
    }
    match commands::run(args) {
        Ok(code) => code,
        Err(error) => {
            show::error(&error);
            exit::of_error(&error)
        }
    }
}
