//! The argument behind `-p`. Scripts write `windlass -p "$TITLE"`, and whoever chooses the title must
//! not choose options: what begins with a dash there is the prompt unless it can only be an option,
//! and one that could be either is refused.

use std::ffi::OsString;

use clap::{ArgAction, CommandFactory};

use super::Args;

/// The command line as it is read.
#[derive(Debug, Default)]
pub(crate) struct CommandLine {
    /// What is given to the parser.
    pub(crate) words: Vec<OsString>,
    /// An option behind `-p` that may have been meant as the prompt.
    unclear: Option<String>,
}

impl CommandLine {
    /// Looks at what stands behind `-p`.
    pub(crate) fn read(words: impl IntoIterator<Item = OsString>) -> Self {
        let mut words: Vec<OsString> = words.into_iter().collect();
        let Some(at) = behind_print(&words) else { return Self { words, unclear: None } };
        let word = words.get(at).and_then(|word| word.to_str()).map(str::to_owned);
        let meaning = word.as_deref().map_or(Meaning::Other, Meaning::of);
        let has_separator = words.iter().skip(at).any(|word| word == "--");
        let unclear = match (meaning, word) {
            (Meaning::Prompt, Some(_)) if !has_separator => {
                let prompt = words.remove(at);
                words.extend([OsString::from("--"), prompt]);
                None
            }
            (Meaning::Unclear, word) => word,
            (Meaning::Prompt | Meaning::Other, _) => None,
        };
        Self { words, unclear }
    }

    /// Refuses an option that stands in the place of a prompt, if there is no other prompt.
    pub(crate) fn check(&self, args: &Args) -> Result<(), String> {
        let is_print = args.command.is_none() && args.print.print && args.print.prompt.is_none();
        match &self.unclear {
            Some(word) if is_print => Err(format!(
                "`{}` stands behind -p and there is no other prompt; if it is the prompt, write \
                 `windlass -p -- TEXT`, and if it is an option, write it before -p",
                word.split('=').next().unwrap_or(word),
            )),
            Some(_) | None => Ok(()),
        }
    }
}

/// Where the word behind `-p` stands.
fn behind_print(words: &[OsString]) -> Option<usize> {
    let is_print = |word: &OsString| {
        let flags = word.to_str().and_then(|word| word.strip_prefix('-')).unwrap_or_default();
        word == "--print" || (flags.contains('p') && flags.chars().all(|flag| "pc".contains(flag)))
    };
    let typed = words.iter().skip(1).take_while(|word| *word != "--");
    let at = typed.clone().position(is_print)?;
    // A command has no prompt: `windlass explain -p` is for the parser to refuse.
    let first = typed.clone().next()?.to_str().unwrap_or_default();
    if !first.starts_with('-') {
        return None;
    }
    Some(at.saturating_add(2)).filter(|at| words.get(*at).is_some_and(|word| word != "--"))
}

/// What a word behind `-p` can be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Meaning {
    /// Nothing else than the prompt, although the parser would not know.
    Prompt,
    /// An option in one word that gives something to the run.
    Unclear,
    /// What the parser takes it for.
    Other,
}

impl Meaning {
    fn of(word: &str) -> Self {
        if !word.starts_with('-') {
            let is_command = word.bytes().all(|byte| byte.is_ascii_lowercase())
                && (word == "help" || Args::command().find_subcommand(word).is_some());
            return if is_command { Self::Prompt } else { Self::Other };
        }
        if word == "-" {
            return Self::Other;
        }
        match word.strip_prefix("--") {
            Some(long) => of_long(long),
            None => of_short(word.trim_start_matches('-')),
        }
    }
}

fn of_long(word: &str) -> Meaning {
    let (name, has_value) = match word.split_once('=') {
        Some((name, _)) => (name, true),
        None => (word, false),
    };
    let command = Args::command();
    let is_known = name == "help"
        || name == "version"
        || command.get_arguments().any(|arg| {
            arg.get_long() == Some(name)
                || arg.get_all_aliases().is_some_and(|aliases| aliases.contains(&name))
        });
    match (is_known, has_value) {
        (false, _) => Meaning::Prompt,
        (true, true) => Meaning::Unclear,
        (true, false) if name == "dangerously-skip-permissions" => Meaning::Unclear,
        (true, false) => Meaning::Other,
    }
}

/// Short options can stand together, and the last one can have its value behind it.
fn of_short(word: &str) -> Meaning {
    let command = Args::command();
    let mut flags = word.chars();
    while let Some(flag) = flags.next() {
        let known = command.get_arguments().find(|arg| arg.get_short() == Some(flag));
        match known.map(clap::Arg::get_action) {
            Some(ArgAction::SetTrue | ArgAction::Help | ArgAction::Version) => {}
            Some(_) if flags.as_str().is_empty() => return Meaning::Other,
            Some(_) => return Meaning::Unclear,
            None if matches!(flag, 'h' | 'V') => {}
            None => return Meaning::Prompt,
        }
    }
    Meaning::Other
}

/// The words of this process.
pub(crate) fn of_process() -> CommandLine {
    CommandLine::read(std::env::args_os())
}

#[cfg(test)]
#[path = "prompt_argument_tests.rs"]
mod prompt_argument_tests;
