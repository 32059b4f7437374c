//! What was typed and cannot be understood: one sentence, as everywhere else.

use std::process::ExitCode;

use clap::error::ErrorKind;

use crate::exit::Exit;
use crate::{show, words};

#[cfg(test)]
#[path = "refused_tests.rs"]
mod refused_tests;

/// Says what is wrong, or what was asked for.
pub(crate) fn told(error: &clap::Error) -> ExitCode {
    match error.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => {
            // A reader that went away is not an error.
            let _ = error.print();
            return ExitCode::SUCCESS;
        }
        ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => {
            show::note(words::WELCOME.trim_end());
        }
        _ => show::note(&format!("windlass: {}", sentence(&error.to_string()))),
    }
    Exit::NotUnderstood.code()
}

/// What clap says, without what only repeats it.
fn sentence(said: &str) -> String {
    if said.contains("cannot be used with '[PROMPT]'") {
        return "a prompt of several words stands in quotes: `windlass -p \"…\"`".to_owned();
    }
    let problem: Vec<&str> =
        said.lines().take_while(|line| !line.trim().is_empty()).map(str::trim).collect();
    let problem = problem.join(" ");
    let problem = problem.strip_prefix("error: ").unwrap_or(&problem).trim_end_matches(':');
    let tip = said.lines().filter_map(|line| line.trim().strip_prefix("tip: "));
    let tip: String =
        tip.filter(|tip| tip.contains("similar")).map(|tip| format!("; {tip}")).collect();
    format!("{problem}{tip}; `{} --help` says what there is", command(said))
}

/// The command it is about, as clap shows how to use it.
fn command(said: &str) -> String {
    let usage = said.lines().find_map(|line| line.trim().strip_prefix("Usage: "));
    let is_name = |word: &&str| word.chars().all(|c| c.is_ascii_lowercase());
    let names: Vec<&str> = usage.unwrap_or("windlass").split(' ').take_while(is_name).collect();
    names.join(" ")
}
