//! What was typed and cannot be understood: one sentence, as everywhere else.

use std::ffi::OsString;
use std::process::ExitCode;

use clap::CommandFactory;
use clap::error::ErrorKind;

use crate::args::Args;
use crate::exit::Exit;
use crate::{show, words};

#[cfg(test)]
#[path = "refused_tests.rs"]
mod refused_tests;

/// Says what is wrong, or what was asked for.
pub(crate) fn told(error: &clap::Error, typed: &[OsString]) -> ExitCode {
    match error.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => {
            let help = error.render();
            let coloured = show::Colours::of_stdout() == show::Colours::Shown;
            let help = if coloured { help.ansi().to_string() } else { help.to_string() };
            show::bytes(help.as_bytes());
            return match show::lost_output() {
                None => ExitCode::SUCCESS,
                Some(error) => {
                    show::note(&words::output_lost(&error));
                    Exit::NoResult.code()
                }
            };
        }
        ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => {
            show::note(words::WELCOME.trim_end());
        }
        _ => return because(&sentence(&error.to_string(), typed)),
    }
    Exit::NotUnderstood.code()
}

/// Says why a command line is refused.
pub(crate) fn because(why: &str) -> ExitCode {
    show::note(&format!("windlass: {why}"));
    Exit::NotUnderstood.code()
}

/// What is said of a word that is neither a command nor a prompt.
pub(crate) fn not_a_command(typed: Option<&str>) -> String {
    let commands = Args::command();
    let names = commands.get_subcommands().map(clap::Command::get_name);
    match typed.and_then(|typed| nearest(typed, names).map(|name| (typed, name.to_owned()))) {
        Some((typed, name)) if typed == name => words::command_after_options(&name),
        Some((typed, name)) => words::similar_command(typed, &name),
        None => words::no_command(typed),
    }
}

/// The name that was probably meant.
fn nearest<'a>(typed: &str, names: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let most = typed.chars().count().div_ceil(3).min(2);
    let near = names.map(|name| (edits(typed, name), name));
    near.filter(|(edits, _)| *edits <= most).min().map(|(_, name)| name)
}

/// The edits between two words: characters added, left out, replaced, or swapped with their
/// neighbour (the optimal string alignment distance).
fn edits(typed: &str, name: &str) -> usize {
    let (typed, name): (Vec<char>, Vec<char>) = (typed.chars().collect(), name.chars().collect());
    let mut before: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=name.len()).collect();
    for (row, c) in typed.iter().enumerate() {
        let mut next = vec![row + 1];
        for (column, d) in name.iter().enumerate() {
            let at = |line: &[usize], index: usize| line.get(index).copied().unwrap_or(usize::MAX);
            let replaced = at(&last, column).saturating_add(usize::from(c != d));
            let other = at(&last, column + 1).min(at(&next, column)).saturating_add(1);
            let is_swap = row > 0
                && column > 0
                && typed.get(row - 1) == Some(d)
                && name.get(column - 1) == Some(c);
            let swapped = match is_swap {
                true => at(&before, column - 1).saturating_add(1),
                false => usize::MAX,
            };
            next.push(replaced.min(other).min(swapped));
        }
        before = std::mem::replace(&mut last, next);
    }
    last.last().copied().unwrap_or(usize::MAX)
}

/// What clap says, without what only repeats it.
fn sentence(said: &str, typed: &[OsString]) -> String {
    let is_split_prompt = said.contains("cannot be used with '[PROMPT]'")
        || (said.contains("the subcommand '") && said.contains("[PROMPT]"));
    if is_split_prompt {
        return "quote a prompt of several words: `windlass -p \"…\"`".to_owned();
    }
    let problem: Vec<&str> =
        said.lines().take_while(|line| !line.trim().is_empty()).map(str::trim).collect();
    let problem = problem.join(" ");
    let problem = problem.strip_prefix("error: ").unwrap_or(&problem).trim_end_matches(':');
    let tip = said.lines().filter_map(|line| line.trim().strip_prefix("tip: "));
    let tip: String =
        tip.filter(|tip| tip.contains("similar")).map(|tip| format!("; {tip}")).collect();
    format!("{problem}{tip}; see `{} --help`", command(typed))
}

/// The command that was typed, with its program: options stand behind the command, so it is the first
/// word. Clap names the command for some mistakes only.
fn command(typed: &[OsString]) -> String {
    let first = typed.get(1).and_then(|word| word.to_str()).unwrap_or_default();
    match Args::command().find_subcommand(first) {
        Some(command) => format!("windlass {}", command.get_name()),
        None => "windlass".to_owned(),
    }
}
