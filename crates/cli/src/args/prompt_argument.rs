//! The argument after `-p`. Scripts run `windlass -p "$TITLE"`, and an untrusted title must not
//! become an option: an argument that starts with a dash is the prompt unless it can only be an
//! option; an ambiguous one is rejected.

use std::ffi::OsString;

use clap::{ArgAction, CommandFactory};

use super::CliArgs;

/// The parsed command line.
#[derive(Debug, Default)]
pub(crate) struct CommandLine {
    /// The words for the parser.
    pub(crate) words: Vec<OsString>,
    /// An option after `-p` that may have been meant as the prompt.
    ambiguous_option: Option<String>,
}

impl CommandLine {
    /// Classifies the argument after `-p`.
    pub(crate) fn parse(words: impl IntoIterator<Item = OsString>) -> Self {
        let mut words: Vec<OsString> = words.into_iter().collect();
        let Some(at) = position_after_print(&words) else {
            return Self { words, ambiguous_option: None };
        };
        let word = words.get(at).and_then(|word| word.to_str()).map(str::to_owned);
        let meaning = word.as_deref().map_or(PrintArgumentKind::Other, PrintArgumentKind::classify);
        let has_separator = words.iter().skip(at).any(|word| word == "--");
        let ambiguous_option = match (meaning, word) {
            (PrintArgumentKind::Prompt, Some(_)) if !has_separator => {
                let prompt = words.remove(at);
                words.extend([OsString::from("--"), prompt]);
                None
            }
            (PrintArgumentKind::Ambiguous, word) => word,
            (PrintArgumentKind::Prompt | PrintArgumentKind::Other, _) => None,
        };
        Self { words, ambiguous_option }
    }

    /// Rejects an option in the position of a prompt, if there is no other prompt.
    pub(crate) fn reject_ambiguous_option(&self, args: &CliArgs) -> Result<(), String> {
        let is_print = args.command.is_none() && args.print.print && args.print.prompt.is_none();
        match &self.ambiguous_option {
            Some(word) if is_print => Err(format!(
                "`{}` after -p is ambiguous; if it is the prompt, write `windlass -p -- TEXT`; if it is \
                 an option, put it before -p",
                word.split('=').next().unwrap_or(word),
            )),
            Some(_) | None => Ok(()),
        }
    }
}

/// The position of the word after `-p`.
fn position_after_print(words: &[OsString]) -> Option<usize> {
    let is_print = |word: &OsString| {
        let flags = word.to_str().and_then(|word| word.strip_prefix('-')).unwrap_or_default();
        word == "--print" || (flags.contains('p') && flags.chars().all(|flag| "pc".contains(flag)))
    };
    let typed = words.iter().skip(1).take_while(|word| *word != "--");
    let at = typed.clone().position(is_print)?;
    // A command has no prompt: the parser rejects `windlass explain -p`.
    let first = typed.clone().next()?.to_str().unwrap_or_default();
    if !first.starts_with('-') {
        return None;
    }
    Some(at.saturating_add(2)).filter(|at| words.get(*at).is_some_and(|word| word != "--"))
}

/// The kind of a word after `-p`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum PrintArgumentKind {
    /// The prompt, although the parser would not recognize it.
    Prompt,
    /// An option in one word that would change the run, or a prompt.
    Ambiguous,
    /// Whatever the parser makes of it.
    Other,
}

impl PrintArgumentKind {
    fn classify(word: &str) -> Self {
        if !word.starts_with('-') {
            let is_command = word.bytes().all(|byte| byte.is_ascii_lowercase())
                && (word == "help" || CliArgs::command().find_subcommand(word).is_some());
            return if is_command { Self::Prompt } else { Self::Other };
        }
        if word == "-" {
            return Self::Other;
        }
        match word.strip_prefix("--") {
            Some(long) => classify_long_option(long),
            None => classify_short_options(word.trim_start_matches('-')),
        }
    }
}

fn classify_long_option(word: &str) -> PrintArgumentKind {
    let (name, has_value) = match word.split_once('=') {
        Some((name, _)) => (name, true),
        None => (word, false),
    };
    let command = CliArgs::command();
    let is_known = name == "help"
        || name == "version"
        || command.get_arguments().any(|arg| {
            arg.get_long() == Some(name)
                || arg.get_all_aliases().is_some_and(|aliases| aliases.contains(&name))
        });
    match (is_known, has_value) {
        (false, _) => PrintArgumentKind::Prompt,
        (true, true) => PrintArgumentKind::Ambiguous,
        (true, false) if name == "dangerously-skip-permissions" => PrintArgumentKind::Ambiguous,
        (true, false) => PrintArgumentKind::Other,
    }
}

/// Classifies short options: they can be grouped, and the last one can have its value attached.
fn classify_short_options(word: &str) -> PrintArgumentKind {
    let command = CliArgs::command();
    let mut flags = word.chars();
    while let Some(flag) = flags.next() {
        let known = command.get_arguments().find(|arg| arg.get_short() == Some(flag));
        match known.map(clap::Arg::get_action) {
            Some(ArgAction::SetTrue | ArgAction::Help | ArgAction::Version) => {}
            Some(_) if flags.as_str().is_empty() => return PrintArgumentKind::Other,
            Some(_) => return PrintArgumentKind::Ambiguous,
            None if matches!(flag, 'h' | 'V') => {}
            None => return PrintArgumentKind::Prompt,
        }
    }
    PrintArgumentKind::Other
}

/// The command line of this process.
pub(crate) fn command_line_of_process() -> CommandLine {
    CommandLine::parse(std::env::args_os())
}

#[cfg(test)]
#[path = "prompt_argument_tests.rs"]
mod prompt_argument_tests;
