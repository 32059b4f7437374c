//! Words that turn a command people allow for looking into one that writes files or runs other
//! programs. A rule covers them only if it spells them out.
//!
//! Not here: programs that exist to run others; those are taken apart at the edge.

use std::sync::Arc;

use super::glob;
use super::harmless::PROGRAMS;
use super::harmless_git::GIT;
use super::options::{Effect, KnownOptions, has, is_option, name_of};
use super::script;
use super::subject::SimpleCommand;

/// Commands of git that are given the name of a repository, and run a program for some of them.
const REACHING: &str = "clone fetch pull push ls-remote remote submodule archive";

/// Whether the command uses no hazard, or the rule says every one it uses itself.
pub(super) fn is_spelled(rule: &[Arc<str>], command: &SimpleCommand) -> bool {
    let is_said = |word: &str| rule.iter().any(|said| is_same(said, word));
    effects(command).all(|(word, effect)| effect == Effect::Harmless || is_said(word))
}

/// Whether the command may run a program, or use a file, that none of its words shows.
pub(super) fn may_run_more(command: &SimpleCommand) -> bool {
    effects(command).any(|(_, effect)| effect == Effect::Unknown)
}

/// Whether the command is known, and uses no option that could write or run something.
#[must_use]
pub fn has_harmless_options(command: &SimpleCommand) -> bool {
    known_options(command).is_some() && is_spelled(&[], command)
}

/// Whether everything that the command can do with its words is known.
pub(super) fn is_known(command: &SimpleCommand) -> bool {
    known_options(command).is_some() && !may_run_more(command)
}

/// A word of the command and one of the rule.
fn is_same(said: &str, word: &str) -> bool {
    let is_option_said = is_option(word) && name_of(said) == name_of(word);
    is_option_said || glob::escape(word) == *said
}

/// What each of the command's words can do.
fn effects(command: &SimpleCommand) -> impl Iterator<Item = (&str, Effect)> {
    let known = known_options(command);
    let words: Vec<&str> = command.words.iter().map(AsRef::as_ref).collect();
    let effect = move |at: usize| match known {
        Some(known) => effect_of(known, &words, at),
        None if words.first() == Some(&"git") => effect_in_unknown_git(&words, at),
        None => Effect::Harmless,
    };
    command.words.iter().enumerate().skip(1).map(move |(at, word)| (&**word, effect(at)))
}

fn known_options(command: &SimpleCommand) -> Option<&'static KnownOptions> {
    let words: Vec<&str> = command.words.iter().map(AsRef::as_ref).take(2).collect();
    match words.as_slice() {
        ["git", own] => GIT.iter().find(|known| known.command.strip_prefix("git ") == Some(own)),
        [name, ..] => PROGRAMS.iter().find(|known| known.command == *name),
        [] => None,
    }
}

/// A command of git that is not known may be an alias of the repository.
fn effect_in_unknown_git(words: &[&str], at: usize) -> Effect {
    let word = words.get(at).copied().unwrap_or_default();
    match at {
        1 if matches!(word, "--version" | "--help" | "-v" | "-h") => Effect::Harmless,
        1 => Effect::Unknown,
        _ if is_option(word) => Effect::Unknown,
        _ => Effect::Harmless,
    }
}

fn effect_of(known: &KnownOptions, words: &[&str], at: usize) -> Effect {
    let word = words.get(at).copied().unwrap_or_default();
    let of_option = if is_option(word) { known.effect(word) } else { Effect::Harmless };
    let of_operand = match is_first_operand(known, words, at) {
        true if !known.first.is_empty() && !has(known.first, word) => Effect::Unknown,
        true | false => Effect::Harmless,
    };
    of_option.max(of_operand).max(effect_of_text(known, words, at))
}

/// Whether a word is the first that is no option; the name of git's own command does not count.
fn is_first_operand(known: &KnownOptions, words: &[&str], at: usize) -> bool {
    let own = known.command.split(' ').count();
    let is_operand = |word: &&str| !is_option(word);
    let before = words.get(own..at).unwrap_or_default();
    at >= own && words.get(at).is_some_and(is_operand) && !before.iter().any(is_operand)
}

/// Words that mean more to a program than a name.
fn effect_of_text(known: &KnownOptions, words: &[&str], at: usize) -> Effect {
    let word = words.get(at).copied().unwrap_or_default();
    let is_hazard = match known.command {
        "sed" => sed_script(words, at).is_some_and(|script| !script::is_plain_sed(script)),
        "awk" | "gawk" | "mawk" | "nawk" | "original-awk" => !script::is_plain_awk(word),
        "tar" => is_remote(word) || (at == 1 && !is_bundle(known, word)),
        // A command for the pager.
        "less" => word.starts_with('+'),
        "curl" => word.contains("%output"),
        // It starts an editor, which the repository may choose.
        "git config" => word == "edit",
        command => {
            let own = command.strip_prefix("git ").unwrap_or_default();
            has(REACHING, own) && word.contains("::")
        }
    };
    if is_hazard { Effect::Unknown } else { Effect::Harmless }
}

/// The first word of tar is a bundle of options, with a hyphen or without.
fn is_bundle(known: &KnownOptions, word: &str) -> bool {
    let is_letter = |c: char| known.letters.contains(c) || known.valued.contains(c);
    word.starts_with('-') || word.chars().all(is_letter)
}

/// `host:file` is a file of another machine, for which tar runs a program.
fn is_remote(word: &str) -> bool {
    let value = word.split_once('=').map_or(word, |(_, value)| value);
    value.split('/').next().is_some_and(|first| first.contains(':'))
}

/// The script that a word of sed is or holds: the first operand unless an option brought one before,
/// and whatever stands behind `-e`.
fn sed_script<'w>(words: &[&'w str], at: usize) -> Option<&'w str> {
    let word = *words.get(at)?;
    let before = words.get(1..at).unwrap_or_default();
    let awaits = |word: &&&str| glued_script(word) == Some("") || **word == "--expression";
    let long = word.strip_prefix("--expression=");
    let glued = || glued_script(word).filter(|script| !script.is_empty());
    match long.or_else(glued) {
        Some(script) => Some(script),
        None if before.last().as_ref().is_some_and(awaits) => Some(word),
        None if is_option(word) || word == "--" => None,
        None => {
            let brings =
                |word: &&str| glued_script(word).is_some() || word.starts_with("--expression");
            let is_operand = |word: &&str| !is_option(word) && *word != "--";
            let is_first = !before.iter().any(|word| brings(word) || is_operand(word));
            is_first.then_some(word)
        }
    }
}

/// What follows the `e` of a bundle such as `-ne`.
fn glued_script(word: &str) -> Option<&str> {
    let letters = word.strip_prefix('-').filter(|rest| !rest.starts_with('-'))?;
    let (flags, script) = letters.split_once('e')?;
    flags.chars().all(|c| "nErzus".contains(c)).then_some(script)
}
