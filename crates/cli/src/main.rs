//! The binary `windlass`: command line, configuration, output. The only crate that names vendors
//! and talks to people.

#[cfg(feature = "server")]
mod api_presenter;
mod args;
mod commands;
mod config;
#[cfg(feature = "acp")]
mod editor_host;
mod exit;
mod inspect;
#[cfg(feature = "terminal")]
mod interactive;
mod logging;
mod messages;
#[cfg(feature = "server")]
mod outbound_requests;
mod output;
mod prompt;
mod sdk;
mod sdk_channel;
#[cfg(feature = "server")]
mod service_state;
mod setup;
mod terminal;
mod toolset;
#[cfg(feature = "otel")]
mod trace_export;
mod transcript;

#[cfg(test)]
mod reference_pages_tests;

use std::process::ExitCode;

use args::{ParsedLine, UnknownFlagPolicy};
use exit::ExitReason;

fn main() -> ExitCode {
    if let Some(code) = windlass_sandbox::run_if_requested() {
        return code;
    }
    hide_from_other_processes();
    let line = args::command_line_of_process();
    // Programs look at the first number alone: the version of the protocol.
    if line.words.len() == 2 && line.words.iter().skip(1).all(|word| word == "-v") {
        terminal::print_line(&messages::protocol_version());
        return ExitCode::SUCCESS;
    }
    let policy = match sdk::is_sdk_host() {
        true => UnknownFlagPolicy::Ignore,
        false => UnknownFlagPolicy::Reject,
    };
    let ParsedLine { args, ignored } = match args::parse_words(&line.words, policy) {
        Ok(parsed) => parsed,
        Err(error) => return args::parse_error::report_parse_error(&error, &line.words),
    };
    for flag in &ignored {
        terminal::print_note(&messages::unknown_flag_ignored(flag));
    }
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

/// Keeps programs of the same user from reading the memory and the environment of this process,
/// where keys are.
fn hide_from_other_processes() {
    #[cfg(target_os = "linux")]
    {
        use rustix::process::{DumpableBehavior, set_dumpable_behavior};
        // It cannot fail with this value.
        set_dumpable_behavior(DumpableBehavior::NotDumpable).unwrap_or_default();
    }
}
