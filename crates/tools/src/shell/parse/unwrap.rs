//! Taking off what stands before the command that is meant.

use windlass_core::permission::{Access, is_read_only};

use super::found::Found;
use super::options::own_words;
use super::word::{Kind, Word};
use super::wrappers::{XARGS, is_opaque, is_shell, plain};
use crate::limits::MAX_GUESSED_WORDS;

/// What a simple command comes down to.
#[derive(Default)]
pub(super) struct Unwrapped {
    /// The command as rules see it.
    pub(super) itself: Option<Vec<Word>>,
    /// Commands that it runs.
    pub(super) inner: Vec<Vec<Word>>,
    /// Texts that it hands to a shell.
    pub(super) scripts: Vec<String>,
}

/// Words at which a command may begin are tried up to here.
const STARTS: usize = 8;

pub(super) fn unwrap(words: Vec<Word>, found: &mut Found<'_>) -> Unwrapped {
    let Some(name) = words.first().map(|word| word.name().to_owned()) else {
        return Unwrapped::default();
    };
    match name.as_str() {
        "!" => after_word(words),
        assignment if is_assignment(assignment, &words) => {
            found.doubt("it sets a variable for a command");
            after_word(words)
        }
        "eval" => script(words, "eval runs text as a command", found),
        "trap" => script(words, "trap runs text as a command later", found),
        "alias" => alias(words, found),
        "find" | "fd" => find(words, found),
        "git" => git(words, found),
        "env" => env(words, found),
        name if is_shell(name) => shell(words, found),
        name if is_opaque(name) => {
            if brings_words(name, &words, found) {
                found.reaches("files that another command names");
                found.scan("/", Access::Read);
                found.scan("/", Access::Write);
            }
            opaque(words, &format!("{name} runs another command"), found)
        }
        name if plain(name).is_some() => wrapper(words, found),
        _ => itself(words),
    }
}

/// Whether a command that may write gets words which only another command knows.
fn brings_words(name: &str, words: &[Word], found: &Found<'_>) -> bool {
    match name {
        "xargs" => match own_words(&XARGS, words) {
            Some(own) => {
                let inner = words.get(own..).unwrap_or_default();
                !inner.is_empty() && !is_read_only(&found.simple(inner))
            }
            None => true,
        },
        "parallel" => true,
        _ => false,
    }
}

/// `A=b` before a command, where a wrapper hides it from the grammar.
fn is_assignment(name: &str, words: &[Word]) -> bool {
    let variable = name.split_once('=').map_or("", |(variable, _)| variable);
    let variable = variable.strip_suffix('+').unwrap_or(variable);
    let is_name = !variable.is_empty()
        && variable.chars().all(|c| c == '_' || c == '[' || c == ']' || c.is_ascii_alphanumeric());
    // `./A=b` is a program.
    is_name && words.first().is_some_and(|word| word.text.starts_with(variable))
}

/// The command that follows a word which is none itself.
fn after_word(mut words: Vec<Word>) -> Unwrapped {
    let inner = words.split_off(1.min(words.len()));
    let inner = if inner.is_empty() { Vec::new() } else { vec![inner] };
    Unwrapped { itself: Some(words), inner, scripts: Vec::new() }
}

fn itself(words: Vec<Word>) -> Unwrapped {
    Unwrapped { itself: Some(words), ..Unwrapped::default() }
}

/// A wrapper that lets the command run as it is. Its name stays, for rules that deny it.
fn wrapper(words: Vec<Word>, found: &mut Found<'_>) -> Unwrapped {
    let known = words.first().and_then(|word| plain(word.name()));
    match known.and_then(|wrapper| own_words(wrapper, &words)) {
        Some(own) => split(words, own),
        None => opaque(words, "an option before another command is not understood", found),
    }
}

fn split(mut words: Vec<Word>, own: usize) -> Unwrapped {
    let inner = words.split_off(own.min(words.len()));
    words.truncate(1);
    let inner = if inner.is_empty() { Vec::new() } else { vec![inner] };
    Unwrapped { itself: Some(words), inner, scripts: Vec::new() }
}

/// `env A=b command` is an assignment before a command.
fn env(words: Vec<Word>, found: &mut Found<'_>) -> Unwrapped {
    let assigns = words
        .iter()
        .skip(1)
        .take_while(|word| !word.is_option() && word.text.contains('='))
        .count();
    if assigns == 0 {
        return wrapper(words, found);
    }
    found.doubt("it sets a variable for a command");
    split(words, 1 + assigns)
}

/// Something runs, but which of the words it begins with cannot be told: all are tried, so that a
/// deny rule meets the right one. A word with blanks may be a text for a shell.
fn opaque(words: Vec<Word>, why: &str, found: &mut Found<'_>) -> Unwrapped {
    found.doubt(why);
    let starts = (1..words.len()).filter(|at| words.get(*at).is_some_and(|word| !word.is_option()));
    let from = |at| words.iter().skip(at).take(MAX_GUESSED_WORDS).cloned().collect::<Vec<_>>();
    let inner = starts.take(STARTS).map(from).collect();
    let is_text = |word: &&Word| word.text.contains(char::is_whitespace);
    let scripts = words.iter().skip(1).filter(is_text).take(STARTS);
    let scripts = scripts.map(|word| without_option(&word.text).to_owned()).collect();
    // The words within were looked at here; they need not be taken off one by one again.
    Unwrapped { itself: Some(words), inner: bare(inner), scripts }
}

/// The text behind an option that it is glued to: `-Srm f`, `--split-string=rm f`.
fn without_option(text: &str) -> &str {
    let long = text.strip_prefix("--").and_then(|rest| rest.split_once('='));
    let short = text.strip_prefix('-').filter(|rest| !rest.starts_with('-'));
    match (long, short.and_then(|rest| rest.get(1..))) {
        (Some((_, value)), _) => value,
        (None, Some(rest)) => rest,
        (None, None) => text,
    }
}

/// Commands whose first words are not opaque again, so that trying does not multiply.
fn bare(inner: Vec<Vec<Word>>) -> Vec<Vec<Word>> {
    let is_opaque_start =
        |words: &Vec<Word>| words.first().is_some_and(|word| is_opaque(word.name()));
    let first_opaque = inner.iter().position(is_opaque_start);
    match first_opaque {
        // All that follow it are tried from there.
        Some(at) => inner.into_iter().take(at + 1).collect(),
        None => inner,
    }
}

fn script(words: Vec<Word>, why: &str, found: &mut Found<'_>) -> Unwrapped {
    found.doubt(why);
    let texts: Vec<&str> = words.iter().skip(1).map(|word| word.text.as_str()).collect();
    let scripts = vec![texts.join(" ")];
    Unwrapped { itself: Some(words), inner: Vec::new(), scripts }
}

fn alias(words: Vec<Word>, found: &mut Found<'_>) -> Unwrapped {
    found.doubt("alias gives a command another meaning");
    let value = |word: &Word| word.text.split_once('=').map(|(_, value)| value.to_owned());
    let scripts = words.iter().skip(1).filter_map(value).collect();
    Unwrapped { itself: Some(words), inner: Vec::new(), scripts }
}

/// `sh -c TEXT`: the text is what is judged. A text that begins with `-` or `+` is an option, and the
/// text is somewhere else; shells that read another language are not followed at all. Words after it are only seen by variables, and a
/// variable in the text is a doubt of its own.
fn shell(words: Vec<Word>, found: &mut Found<'_>) -> Unwrapped {
    let is_text_next = |word: &Word| is_bundle_with_c(&word.text);
    match (words.get(1), words.get(2)) {
        (Some(option), Some(text)) if is_text_next(option) && is_plain_text(&words, text) => {
            let scripts = vec![text.text.clone()];
            let name = words.first().map(Word::program).unwrap_or_default();
            let itself = vec![Word::plain(name), Word::plain("-c")];
            Unwrapped { itself: Some(itself), inner: Vec::new(), scripts }
        }
        _ => opaque(words, "a shell reads commands from where they cannot be seen", found),
    }
}

fn is_plain_text(words: &[Word], text: &Word) -> bool {
    let name = words.first().map_or("", Word::name);
    text.kind == Kind::Plain
        && !text.text.starts_with(['-', '+'])
        && matches!(name, "sh" | "bash" | "dash" | "rbash")
}

/// `-c`, and with it only letters that make the shell stricter or louder.
fn is_bundle_with_c(option: &str) -> bool {
    let letters = option.strip_prefix('-').unwrap_or_default();
    letters.contains('c') && letters.chars().all(|c| matches!(c, 'c' | 'e' | 'u' | 'x'))
}

fn find(words: Vec<Word>, found: &mut Found<'_>) -> Unwrapped {
    let runs = |word: &Word| {
        matches!(
            word.text.as_str(),
            "-exec" | "-execdir" | "-ok" | "-okdir" | "-x" | "-X" | "--exec" | "--exec-batch"
        )
    };
    let mut inner = Vec::new();
    for part in words.split(runs).skip(1) {
        let ends = |word: &Word| matches!(word.text.as_str(), ";" | "+");
        inner.extend(part.split(ends).next().filter(|part| !part.is_empty()).map(<[Word]>::to_vec));
    }
    if !inner.is_empty() {
        found.doubt("find runs a command for every file");
    }
    Unwrapped { itself: Some(words), inner, scripts: Vec::new() }
}

/// Options before git's own command can make it run anything; the command behind them is shown
/// without, so that rules about it are met.
fn git(words: Vec<Word>, found: &mut Found<'_>) -> Unwrapped {
    if !words.get(1).is_some_and(Word::is_option) {
        return itself(words);
    }
    found.doubt("git has options before its command");
    let takes_value = |word: &Word| {
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
    Unwrapped { itself: Some(words), inner: vec![bare], scripts: Vec::new() }
}
