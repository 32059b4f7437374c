//! Unwraps wrapper programs (`env`, `nice`, `sh -c`, `xargs`, …) around a command.

use windlass_core::permission::{PathAccess, is_read_only};

use super::wrapper_options::wrapper_word_count;
use super::wrappers::{XARGS, find_plain_wrapper, is_opaque_program, is_shell_program};
use crate::limits::MAX_GUESSED_WORDS;
use crate::shell::command_analysis::analysis::CommandAnalysis;
use crate::shell::command_analysis::shell_word::{ShellWord, WordKind};

/// A simple command without its wrappers.
#[derive(Default)]
pub(crate) struct UnwrappedCommand {
    /// The command as rules see it.
    pub(crate) visible_command: Option<Vec<ShellWord>>,
    /// Commands that it runs.
    pub(crate) inner: Vec<Vec<ShellWord>>,
    /// Texts that it passes to a shell.
    pub(crate) scripts: Vec<String>,
}

/// Maximum number of words at which an inner command may begin.
const MAX_START_WORDS: usize = 8;

pub(crate) fn unwrap_command(
    words: Vec<ShellWord>,
    found: &mut CommandAnalysis<'_>,
) -> UnwrappedCommand {
    let Some(name) = words.first().map(|word| word.base_name().to_owned()) else {
        return UnwrappedCommand::default();
    };
    match name.as_str() {
        "!" => command_after_word(words),
        assignment if is_assignment(assignment, &words) => {
            found.add_unsupported("it sets a variable for a command");
            command_after_word(words)
        }
        "eval" => unwrap_script(words, "eval runs text as a command", found),
        "trap" => unwrap_script(words, "trap runs text as a command later", found),
        "alias" => unwrap_alias(words, found),
        "find" | "fd" => unwrap_find(words, found),
        "git" => unwrap_git(words, found),
        "env" => unwrap_env(words, found),
        name if is_shell_program(name) => unwrap_shell(words, found),
        name if is_opaque_program(name) => {
            if receives_unknown_words(name, &words, found) {
                found.add_protected_reach("files that another command names");
                found.add_scan("/", PathAccess::Read);
                found.add_scan("/", PathAccess::Write);
            }
            unwrap_opaque(words, &format!("{name} runs another command"), found)
        }
        name if find_plain_wrapper(name).is_some() => unwrap_wrapper(words, found),
        _ => unwrapped_as_is(words),
    }
}

/// Returns whether a command that may write gets words from another command, which are unknown.
fn receives_unknown_words(name: &str, words: &[ShellWord], found: &CommandAnalysis<'_>) -> bool {
    match name {
        "xargs" => match wrapper_word_count(&XARGS, words) {
            Some(own) => {
                let inner = words.get(own..).unwrap_or_default();
                !inner.is_empty() && !is_read_only(&found.to_simple_command(inner))
            }
            None => true,
        },
        "parallel" => true,
        _ => false,
    }
}

/// Returns whether a word is an assignment `A=b` before a command, which a wrapper hides from the
/// grammar.
fn is_assignment(name: &str, words: &[ShellWord]) -> bool {
    let variable = name.split_once('=').map_or("", |(variable, _)| variable);
    let variable = variable.strip_suffix('+').unwrap_or(variable);
    let is_name = !variable.is_empty()
        && variable.chars().all(|c| c == '_' || c == '[' || c == ']' || c.is_ascii_alphanumeric());
    // `./A=b` is a program.
    is_name && words.first().is_some_and(|word| word.text.starts_with(variable))
}

/// Unwraps the command after a word that is not a command itself.
fn command_after_word(mut words: Vec<ShellWord>) -> UnwrappedCommand {
    let inner = words.split_off(1.min(words.len()));
    let inner = if inner.is_empty() { Vec::new() } else { vec![inner] };
    UnwrappedCommand { visible_command: Some(words), inner, scripts: Vec::new() }
}

fn unwrapped_as_is(words: Vec<ShellWord>) -> UnwrappedCommand {
    UnwrappedCommand { visible_command: Some(words), ..UnwrappedCommand::default() }
}

/// Unwraps a wrapper that runs the command as it is. Its name is kept, for rules that deny it.
fn unwrap_wrapper(words: Vec<ShellWord>, found: &mut CommandAnalysis<'_>) -> UnwrappedCommand {
    let known = words.first().and_then(|word| find_plain_wrapper(word.base_name()));
    match known.and_then(|wrapper| wrapper_word_count(wrapper, &words)) {
        Some(own) => split_wrapper(words, own),
        None => unwrap_opaque(words, "an option before another command is not understood", found),
    }
}

fn split_wrapper(mut words: Vec<ShellWord>, own: usize) -> UnwrappedCommand {
    let inner = words.split_off(own.min(words.len()));
    words.truncate(1);
    let inner = if inner.is_empty() { Vec::new() } else { vec![inner] };
    UnwrappedCommand { visible_command: Some(words), inner, scripts: Vec::new() }
}

/// Unwraps `env A=b command`, an assignment before a command.
fn unwrap_env(words: Vec<ShellWord>, found: &mut CommandAnalysis<'_>) -> UnwrappedCommand {
    let assigns = words
        .iter()
        .skip(1)
        .take_while(|word| !word.is_option() && word.text.contains('='))
        .count();
    if assigns == 0 {
        return unwrap_wrapper(words, found);
    }
    found.add_unsupported("it sets a variable for a command");
    split_wrapper(words, 1 + assigns)
}

/// Unwraps a program that runs some of its words as a command, at an unknown position: all
/// positions are tried, so that a deny rule finds the right one. A word with spaces may be a text
/// for a shell.
fn unwrap_opaque(
    words: Vec<ShellWord>,
    why: &str,
    found: &mut CommandAnalysis<'_>,
) -> UnwrappedCommand {
    found.add_unsupported(why);
    let starts = (1..words.len()).filter(|at| words.get(*at).is_some_and(|word| !word.is_option()));
    let from = |at| words.iter().skip(at).take(MAX_GUESSED_WORDS).cloned().collect::<Vec<_>>();
    let inner = starts.take(MAX_START_WORDS).map(from).collect();
    let is_text = |word: &&ShellWord| word.text.contains(char::is_whitespace);
    let scripts = words.iter().skip(1).filter(is_text).take(MAX_START_WORDS);
    let scripts = scripts.map(|word| without_option(&word.text).to_owned()).collect();
    // The words within were tried here; they need not be unwrapped one by one again.
    UnwrappedCommand { visible_command: Some(words), inner: without_opaque(inner), scripts }
}

/// Returns the text attached to an option: `-Srm f`, `--split-string=rm f`.
fn without_option(text: &str) -> &str {
    let long = text.strip_prefix("--").and_then(|rest| rest.split_once('='));
    let short = text.strip_prefix('-').filter(|rest| !rest.starts_with('-'));
    match (long, short.and_then(|rest| rest.get(1..))) {
        (Some((_, value)), _) => value,
        (None, Some(rest)) => rest,
        (None, None) => text,
    }
}

/// Returns the commands up to the first opaque one, so that the number of attempts does not
/// multiply.
fn without_opaque(inner: Vec<Vec<ShellWord>>) -> Vec<Vec<ShellWord>> {
    let is_opaque_start = |words: &Vec<ShellWord>| {
        words.first().is_some_and(|word| is_opaque_program(word.base_name()))
    };
    let first_opaque = inner.iter().position(is_opaque_start);
    match first_opaque {
        // All commands after it are tried from there.
        Some(at) => inner.into_iter().take(at + 1).collect(),
        None => inner,
    }
}

fn unwrap_script(
    words: Vec<ShellWord>,
    why: &str,
    found: &mut CommandAnalysis<'_>,
) -> UnwrappedCommand {
    found.add_unsupported(why);
    let texts: Vec<&str> = words.iter().skip(1).map(|word| word.text.as_str()).collect();
    let scripts = vec![texts.join(" ")];
    UnwrappedCommand { visible_command: Some(words), inner: Vec::new(), scripts }
}

fn unwrap_alias(words: Vec<ShellWord>, found: &mut CommandAnalysis<'_>) -> UnwrappedCommand {
    found.add_unsupported("alias gives a command another meaning");
    let value = |word: &ShellWord| word.text.split_once('=').map(|(_, value)| value.to_owned());
    let scripts = words.iter().skip(1).filter_map(value).collect();
    UnwrappedCommand { visible_command: Some(words), inner: Vec::new(), scripts }
}

/// Unwraps `sh -c TEXT`: the text is analysed. A text that begins with `-` or `+` is an option, and
/// the text is elsewhere; shells with another syntax are not analysed at all. Words after the text
/// are only visible to variables, and a variable in the text is unsupported anyway.
fn unwrap_shell(words: Vec<ShellWord>, found: &mut CommandAnalysis<'_>) -> UnwrappedCommand {
    let is_text_next = |word: &ShellWord| is_bundle_with_c(&word.text);
    match (words.get(1), words.get(2)) {
        (Some(option), Some(text)) if is_text_next(option) && is_plain_text(&words, text) => {
            let scripts = vec![text.text.clone()];
            let name = words.first().map(ShellWord::program_name).unwrap_or_default();
            let itself = vec![ShellWord::plain(name), ShellWord::plain("-c")];
            UnwrappedCommand { visible_command: Some(itself), inner: Vec::new(), scripts }
        }
        _ => unwrap_opaque(words, "a shell reads commands from where they cannot be seen", found),
    }
}

fn is_plain_text(words: &[ShellWord], text: &ShellWord) -> bool {
    let name = words.first().map_or("", ShellWord::base_name);
    text.kind == WordKind::Plain
        && !text.text.starts_with(['-', '+'])
        && matches!(name, "sh" | "bash" | "dash" | "rbash")
}

/// Returns whether an option is `-c`, with only letters that make the shell stricter or more
/// verbose.
fn is_bundle_with_c(option: &str) -> bool {
    let letters = option.strip_prefix('-').unwrap_or_default();
    letters.contains('c') && letters.chars().all(|c| matches!(c, 'c' | 'e' | 'u' | 'x'))
}

fn unwrap_find(words: Vec<ShellWord>, found: &mut CommandAnalysis<'_>) -> UnwrappedCommand {
    let runs = |word: &ShellWord| {
        matches!(
            word.text.as_str(),
            "-exec" | "-execdir" | "-ok" | "-okdir" | "-x" | "-X" | "--exec" | "--exec-batch"
        )
    };
    let mut inner = Vec::new();
    for part in words.split(runs).skip(1) {
        let ends = |word: &ShellWord| matches!(word.text.as_str(), ";" | "+");
        inner.extend(
            part.split(ends).next().filter(|part| !part.is_empty()).map(<[ShellWord]>::to_vec),
        );
    }
    if !inner.is_empty() {
        found.add_unsupported("find runs a command for every file");
    }
    UnwrappedCommand { visible_command: Some(words), inner, scripts: Vec::new() }
}

/// Unwraps git's global options. They can make git run anything; the git command after them is also
/// shown without them, so that rules about it apply.
fn unwrap_git(words: Vec<ShellWord>, found: &mut CommandAnalysis<'_>) -> UnwrappedCommand {
    if !words.get(1).is_some_and(ShellWord::is_option) {
        return unwrapped_as_is(words);
    }
    found.add_unsupported("git has options before its command");
    let takes_value = |word: &ShellWord| {
        matches!(
            word.text.as_str(),
            "-c" | "-C"
                | "--git-dir"
                | "--work-tree"
                | "--namespace"
                | "--config-env"
                | "--exec-path"
        )
    };
    let mut at = 1;
    while let Some(option) = words.get(at).filter(|word| word.is_option()) {
        at += if takes_value(option) { 2 } else { 1 };
    }
    let command = words.get(at..).unwrap_or_default();
    let bare = words.iter().take(1).chain(command).cloned().collect();
    UnwrappedCommand { visible_command: Some(words), inner: vec![bare], scripts: Vec::new() }
}
