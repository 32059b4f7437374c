//! Command analysis: splits a shell command into what permission rules can check.
//!
//! There are two independent readers. The first is a full grammar of bash; it finds commands at any
//! depth, so that a deny rule sees them wherever they are nested. It tolerates errors, which is
//! right for finding and wrong for allowing. So the second is small and strict: it knows simple
//! commands, plain words, quotes, `&& || ; |` and redirections. Where the two do not agree exactly,
//! or either meets something it does not know, the command is unsupported, and nothing unsupported
//! is allowed.
//!
//! Not here: the permission policy, which is the core's.

mod analysis;
mod effects;
mod readers;
mod shell_word;

#[cfg(test)]
mod command_analysis_tests;

use std::path::Path;
use std::sync::Arc;

use windlass_core::permission::{ShellCommand, runs_no_arguments};

use self::analysis::CommandAnalysis;
use self::readers::grammar_reader::ParsedItem;
use self::shell_word::ShellWord;
use crate::files::PathZones;
use crate::limits::{MAX_COMMAND_BYTES, MAX_SHELL_DEPTH, MAX_WORDS, MAX_WRAPPERS};
use crate::shell::ProgramLookup;

/// Analyses a command, for a shell that starts in the workspace of `zones`.
#[must_use]
pub fn analyze_command(command: &str, zones: &PathZones) -> ShellCommand {
    let (programs, folder) = (&ProgramLookup::default(), zones.root());
    analyze_command_in(
        command,
        &ShellContext { zones, programs, folder, concurrency: ConcurrentCommands::Absent },
    )
}

/// The circumstances in which a shell runs.
pub(super) struct ShellContext<'c> {
    pub(super) zones: &'c PathZones,
    pub(super) programs: &'c ProgramLookup,
    /// The folder it starts in.
    pub(super) folder: &'c Path,
    pub(super) concurrency: ConcurrentCommands,
}

/// Whether other commands run at the same time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ConcurrentCommands {
    /// No other known command changes files meanwhile.
    Absent,
    /// Another command may replace a file with a link, between the permission decision and the
    /// shell.
    Present,
}

/// Analyses a command for a shell in these circumstances.
pub(super) fn analyze_command_in(command: &str, around: &ShellContext<'_>) -> ShellCommand {
    let mut found = CommandAnalysis::new(around.zones, around.programs, around.folder);
    if around.concurrency == ConcurrentCommands::Present {
        found.mark_concurrent_changes();
    }
    analyze_text(command, 0, &mut found);
    if !found.is_fully_supported() {
        record_protected_names(command, &mut found);
    }
    ShellCommand {
        folder: Arc::from(around.zones.named_from_root(around.folder)),
        ..found.into_shell_command()
    }
}

/// Records every protected path that occurs anywhere in an unsupported command, because it may
/// write to it.
fn record_protected_names(command: &str, found: &mut CommandAnalysis<'_>) {
    if command.len() > MAX_COMMAND_BYTES {
        return;
    }
    effects::embedded_paths::record_protected_reach(&format!(" {command} "), found);
    let words: Vec<_> = found.command_words().collect();
    words.iter().for_each(|word| {
        effects::embedded_paths::record_protected_reach(&format!(" {word} "), found);
    });
}

/// Analyses one text for a shell; `shells` is the depth of shells within shells.
fn analyze_text(text: &str, shells: usize, found: &mut CommandAnalysis<'_>) {
    if text.len() > MAX_COMMAND_BYTES || shells > MAX_SHELL_DEPTH {
        found.stop_at_limit("it is too long or too deeply nested");
        return;
    }
    if readers::characters::has_too_many_operators(text) {
        found.stop_at_limit("it has too many parts");
        return;
    }
    readers::characters::check_characters(text, found);
    let Some(read) = readers::grammar_reader::read_with_grammar(text, found) else {
        found.stop_at_limit("parsing it takes too long");
        return;
    };
    if count_words(&read) > MAX_WORDS {
        found.stop_at_limit("it has too many words");
        return;
    }
    if found.is_fully_supported()
        && readers::strict_reader::read_strictly(text).as_deref() != Some(read.as_slice())
    {
        found.add_unsupported("it is ambiguous");
    }
    let printed: Vec<String> = read.iter().filter_map(printed_text).collect();
    for item in read {
        match item {
            ParsedItem::Command(words) => analyze_simple_command(words, shells, found),
            ParsedItem::Redirect { to, target } => {
                effects::command_paths::record_redirection(to, &target, found);
            }
            ParsedItem::HereDocument(body) => analyze_here_document(&body, shells, found),
        }
        if found.is_stopped() {
            return;
        }
    }
    // Text that is printed into a shell is run by it.
    for script in printed {
        analyze_here_document(&script, shells, found);
    }
}

fn count_words(items: &[ParsedItem]) -> usize {
    let words = |item: &ParsedItem| match item {
        ParsedItem::Command(words) => words.len(),
        ParsedItem::Redirect { .. } | ParsedItem::HereDocument(_) => 1,
    };
    items.iter().map(words).sum()
}

/// Returns the words of a command that prints them.
fn printed_text(item: &ParsedItem) -> Option<String> {
    let ParsedItem::Command(words) = item else { return None };
    let (name, rest) = words.split_first()?;
    let is_printer = matches!(name.base_name(), "echo" | "printf");
    let texts: Vec<&str> = rest.iter().map(|word| word.text.as_str()).collect();
    is_printer.then(|| texts.join(" "))
}

/// Analyses a simple command, and those that it runs in turn.
fn analyze_simple_command(words: Vec<ShellWord>, shells: usize, found: &mut CommandAnalysis<'_>) {
    found.begin_command();
    let mut waiting = vec![(words, 0)];
    while let Some((words, wrappers)) = waiting.pop() {
        if wrappers > MAX_WRAPPERS {
            found.stop_at_limit("too many nested wrapper programs");
            return;
        }
        let unwrapped = effects::unwrap_wrappers::unwrap_command(words, found);
        if let Some(words) = unwrapped.visible_command {
            check_written_program(&words, found);
            effects::builtins::check_builtins(&words, found);
            effects::command_paths::record_command_paths(&words, found);
            found.add_command(&words);
        }
        let inner = unwrapped.inner.into_iter().rev();
        waiting.extend(inner.map(|words| (words, wrappers + 1)));
        for script in unwrapped.scripts {
            analyze_text(&script, shells + 1, found);
        }
    }
}

/// Checks whether the program is a file that an earlier part of the text writes.
fn check_written_program(words: &[ShellWord], found: &mut CommandAnalysis<'_>) {
    if runs_no_arguments(&found.to_simple_command(words)) {
        return;
    }
    if words.iter().any(|word| !word.is_option() && found.is_written(&word.text)) {
        found.mark_hidden_use("it may run a file that an earlier part of it writes");
    }
}

/// Analyses a here-document, which is data unless a shell may read it.
fn analyze_here_document(body: &str, shells: usize, found: &mut CommandAnalysis<'_>) {
    if found.has_command_reader() {
        analyze_text(body, shells + 1, found);
    }
}
