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
use exit::Exit;

fn main() -> ExitCode {
    let line = args::of_process();
    let args = match Args::try_parse_from(&line.words) {
        Ok(args) => args,
        Err(error) => return refused::told(&error, &line.words),
    };
    if let Err(why) = line.check(&args) {
        return refused::because(&why);
    }
    let code = match commands::run(args) {
        Ok(code) => code,
        Err(error) => {
            show::error(&error);
            exit::of_error(&error)
        }
    };
    show::lost_output().map_or(code, |error| {
        show::note(&words::output_lost(&error));
        Exit::NoResult.code()
    })
}
