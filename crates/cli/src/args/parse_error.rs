//! Errors of the command line, in one sentence each.

use std::ffi::OsString;
use std::process::ExitCode;

use clap::CommandFactory;
use clap::error::ErrorKind;

use crate::args::CliArgs;
use crate::exit::ExitReason;
use crate::{messages, terminal};

#[cfg(test)]
#[path = "parse_error_tests.rs"]
mod parse_error_tests;

/// Prints what is wrong with the command line, or the help text that was requested.
pub(crate) fn report_parse_error(error: &clap::Error, typed: &[OsString]) -> ExitCode {
    match error.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => {
            let help = error.render();
            let coloured = terminal::ColorSupport::of_stdout() == terminal::ColorSupport::Enabled;
            let help = if coloured { help.ansi().to_string() } else { help.to_string() };
            terminal::print_bytes(help.as_bytes());
            return match terminal::take_output_error() {
                None => ExitCode::SUCCESS,
                Some(error) => {
                    terminal::print_note(&messages::output_error(&error));
                    ExitReason::Failure.to_exit_code()
                }
            };
        }
        ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => {
            terminal::print_note(messages::WELCOME.trim_end());
        }
        _ => return report_usage_error(&one_sentence(&error.to_string(), typed)),
    }
    ExitReason::UsageError.to_exit_code()
}

/// Prints why a command line is rejected.
pub(crate) fn report_usage_error(reason: &str) -> ExitCode {
    terminal::print_note(&format!("windlass: {reason}"));
    ExitReason::UsageError.to_exit_code()
}

/// The error for a word that is neither a command nor a prompt.
pub(crate) fn unknown_command_message(typed: Option<&str>) -> String {
    let commands = CliArgs::command();
    let names = commands.get_subcommands().map(clap::Command::get_name);
    match typed.and_then(|typed| nearest_name(typed, names).map(|name| (typed, name.to_owned()))) {
        Some((typed, name)) if typed == name => messages::command_after_options(&name),
        Some((typed, name)) => messages::similar_command(typed, &name),
        None => messages::unknown_command(typed),
    }
}

/// The error for a prompt of one word that is probably a misspelled command.
#[cfg(feature = "terminal")]
pub(crate) fn misspelled_command_message(typed: &str) -> Option<String> {
    let commands = CliArgs::command();
    let names = commands.get_subcommands().map(clap::Command::get_name);
    let name = nearest_name(typed, names)?;
    Some(match typed == name {
        true => messages::command_after_options(name),
        false => messages::similar_command(typed, name),
    })
}

/// The known name that was probably meant: by edit distance, in which swapped neighbors are one edit.
fn nearest_name<'a>(typed: &str, names: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let limit = typed.chars().count().div_ceil(3).min(2);
    let near = names.map(|name| (strsim::osa_distance(typed, name), name));
    near.filter(|(edits, _)| *edits <= limit).min().map(|(_, name)| name)
}

/// The error message of clap in one sentence, without the parts that only repeat it.
fn one_sentence(text: &str, typed: &[OsString]) -> String {
    let is_split_prompt = text.contains("cannot be used with '[PROMPT]'")
        || (text.contains("the subcommand '") && text.contains("[PROMPT]"));
    if is_split_prompt {
        return "quote a prompt that has several words: `windlass -p \"…\"`".to_owned();
    }
    let problem: Vec<&str> =
        text.lines().take_while(|line| !line.trim().is_empty()).map(str::trim).collect();
    let problem = problem.join(" ");
    let problem = problem.strip_prefix("error: ").unwrap_or(&problem).trim_end_matches(':');
    let tip = text.lines().filter_map(|line| line.trim().strip_prefix("tip: "));
    let tip: String =
        tip.filter(|tip| tip.contains("similar")).map(|tip| format!("; {tip}")).collect();
    format!("{problem}{tip}; see `{} --help`", command_in_usage(typed))
}

/// The typed command with the program's name: options come after the command, so it is the first
/// word. Clap names the command for some errors only.
fn command_in_usage(typed: &[OsString]) -> String {
    let first = typed.get(1).and_then(|word| word.to_str()).unwrap_or_default();
    match CliArgs::command().find_subcommand(first) {
        Some(command) => format!("windlass {}", command.get_name()),
        None => "windlass".to_owned(),
    }
}
