//! The binary `windlass`: command line, configuration, output. The only crate that names vendors
//! and talks to people.

mod args;
mod commands;
mod config;
mod exit;
mod inspect;
mod logging;
mod messages;
mod output;
mod prompt;
mod sdk;
mod setup;
mod terminal;
mod toolset;

#[cfg(test)]
mod reference_pages_tests;

use std::process::ExitCode;

use clap::Parser;

use args::CliArgs;
use exit::ExitReason;

fn main() -> ExitCode {
    let line = args::command_line_of_process();
    let args = match CliArgs::try_parse_from(&line.words) {
        Ok(args) => args,
        Err(error) => return args::parse_error::report_parse_error(&error, &line.words),
    };
    if let Err(reason) = line.reject_ambiguous_option(&args) {
        return args::parse_error::report_usage_error(&reason);
    }
    let code = match commands::run(args) {
        Ok(code) => code,
        Err(error) => {
            terminal::print_error(&error);
            exit::exit_code_of_error(&error)
        }
    };
    terminal::take_output_error().map_or(code, |error| {
        terminal::print_note(&messages::output_error(&error));
        ExitReason::Failure.to_exit_code()
    })
}
