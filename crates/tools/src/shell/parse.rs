//! A command text taken apart into what rules can judge.
//!
//! Two readers look at every text. The first is a real grammar of bash; it finds the commands at
//! any depth, so that a deny rule sees them wherever they hide. It forgives mistakes, which is right
//! for finding and wrong for allowing. So there is a second, small and strict one that knows simple
//! commands, plain words, quotes, `&& || ; |` and redirections. Where the two do not agree to the
//! letter, or either meets something it does not know, there is a doubt, and with a doubt nothing is
//! allowed.
//!
//! Not here: who may run what. That is the core's.

mod ansi;
mod archives;
mod builtins;
mod characters;
mod folders;
mod found;
mod git;
mod operands;
mod options;
mod paths;
mod patterns;
mod pieces;
mod render;
mod second;
mod tree;
mod unwrap;
mod word;
mod wrappers;
mod writers;

#[cfg(test)]
mod ansi_tests;
#[cfg(test)]
mod parse_tests;
#[cfg(test)]
mod second_tests;

use std::path::Path;
use std::sync::Arc;

use windlass_core::permission::{Shell, runs_no_words};

use self::found::Found;
use self::tree::Item;
use self::word::Word;
use crate::files::Zones;
use crate::limits::{MAX_COMMAND_BYTES, MAX_SHELLS, MAX_WORDS, MAX_WRAPPERS};
use crate::shell::Programs;

/// Takes a command text apart, for a shell that starts in the workspace of `zones`.
#[must_use]
pub fn take_apart(command: &str, zones: &Zones) -> Shell {
    let (programs, folder) = (&Programs::default(), zones.root());
    take_apart_in(command, &Circumstances { zones, programs, folder, company: Company::Alone })
}

/// Where and beside what a shell runs.
pub(super) struct Circumstances<'c> {
    pub(super) zones: &'c Zones,
    pub(super) programs: &'c Programs,
    /// The folder it starts in.
    pub(super) folder: &'c Path,
    pub(super) company: Company,
}

/// Whether other commands run at the same time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Company {
    /// Nothing that we know of changes files meanwhile.
    Alone,
    /// Another command may put a link where a file was, between the judgement and the shell.
    BesideOthers,
}

/// The same for a shell in these circumstances.
pub(super) fn take_apart_in(command: &str, around: &Circumstances<'_>) -> Shell {
    let mut found = Found::new(around.zones, around.programs, around.folder);
    if around.company == Company::BesideOthers {
        found.files_change_meanwhile();
    }
    text(command, 0, &mut found);
    if !found.is_clear() {
        reach_by_name(command, &mut found);
    }
    Shell { folder: Arc::from(around.zones.named_from_root(around.folder)), ..found.into_shell() }
}

/// What cannot be judged may write to every protected place that is spelled anywhere in it.
fn reach_by_name(command: &str, found: &mut Found<'_>) {
    if command.len() > MAX_COMMAND_BYTES {
        return;
    }
    pieces::reach(&format!(" {command} "), found);
    let words: Vec<_> = found.words().collect();
    words.iter().for_each(|word| pieces::reach(&format!(" {word} "), found));
}

/// One text for a shell, at some depth of shells within shells.
fn text(text: &str, shells: usize, found: &mut Found<'_>) {
    if text.len() > MAX_COMMAND_BYTES || shells > MAX_SHELLS {
        found.over("it is too long or too deep to be read");
        return;
    }
    if characters::has_too_many_signs(text) {
        found.over("it has too many parts to be read");
        return;
    }
    characters::check(text, found);
    let Some(read) = tree::read(text, found) else {
        found.over("it takes too long to read");
        return;
    };
    if count_words(&read) > MAX_WORDS {
        found.over("it has too many words to be looked through");
        return;
    }
    if found.is_clear() && second::read(text).as_deref() != Some(read.as_slice()) {
        found.doubt("it can be read in more than one way");
    }
    let printed: Vec<String> = read.iter().filter_map(printed_text).collect();
    for item in read {
        match item {
            Item::Command(words) => command(words, shells, found),
            Item::Redirect { to, target } => paths::redirect(to, &target, found),
            Item::Here(body) => here(&body, shells, found),
        }
        if found.is_over() {
            return;
        }
    }
    // What is printed into a shell is run by it.
    for script in printed {
        here(&script, shells, found);
    }
}

fn count_words(items: &[Item]) -> usize {
    let words = |item: &Item| match item {
        Item::Command(words) => words.len(),
        Item::Redirect { .. } | Item::Here(_) => 1,
    };
    items.iter().map(words).sum()
}

/// The words of a command that prints them.
fn printed_text(item: &Item) -> Option<String> {
    let Item::Command(words) = item else { return None };
    let (name, rest) = words.split_first()?;
    let is_printer = matches!(name.name(), "echo" | "printf");
    let texts: Vec<&str> = rest.iter().map(|word| word.text.as_str()).collect();
    is_printer.then(|| texts.join(" "))
}

/// A simple command, and those that it runs in turn.
fn command(words: Vec<Word>, shells: usize, found: &mut Found<'_>) {
    found.begin_command();
    let mut waiting = vec![(words, 0)];
    while let Some((words, wrappers)) = waiting.pop() {
        if wrappers > MAX_WRAPPERS {
            found.over("too many programs stand in front of one another");
            return;
        }
        let unwrapped = unwrap::unwrap(words, found);
        if let Some(words) = unwrapped.itself {
            check_written(&words, found);
            builtins::check(&words, found);
            paths::of_command(&words, found);
            found.command(&words);
        }
        let inner = unwrapped.inner.into_iter().rev();
        waiting.extend(inner.map(|words| (words, wrappers + 1)));
        for script in unwrapped.scripts {
            text(&script, shells + 1, found);
        }
    }
}

/// A file that an earlier part of the text writes may be a program by now.
fn check_written(words: &[Word], found: &mut Found<'_>) {
    if runs_no_words(&found.simple(words)) {
        return;
    }
    if words.iter().any(|word| !word.is_option() && found.is_written(&word.text)) {
        found.hide("it may run a file that an earlier part of it writes");
    }
}

/// A here-document is text, unless a shell may read it.
fn here(body: &str, shells: usize, found: &mut Found<'_>) {
    if found.has_shell() {
        text(body, shells + 1, found);
    }
}
