//! Options that let an otherwise harmless command write files or run programs. A rule covers them
//! only if it names them.
//!
//! Not here: programs that exist to run others; those are taken apart by the parser.

use std::sync::Arc;

use super::glob;
use super::harmless_git_options::GIT;
use super::harmless_options::PROGRAMS;
use super::known_options::{KnownOptions, OptionEffect, is_option, list_contains, option_name};
use super::script_safety;
use super::subject::SimpleCommand;

/// Git commands that take the name of a repository, and run a program for some of them.
const GIT_REMOTE_COMMANDS: &str = "clone fetch pull push ls-remote remote submodule archive";

/// Returns whether the command uses no hazardous option, or the rule names every one it uses.
pub(super) fn names_every_hazard(rule: &[Arc<str>], command: &SimpleCommand) -> bool {
    let is_said = |word: &str| rule.iter().any(|text| matches_rule_word(text, word));
    word_effects(command).all(|(word, effect)| effect == OptionEffect::Harmless || is_said(word))
}

/// Returns whether the command may run a program, or use a file, that none of its words shows.
pub(super) fn may_run_hidden_program(command: &SimpleCommand) -> bool {
    word_effects(command).any(|(_, effect)| effect == OptionEffect::Unknown)
}

/// Returns whether the command is known, and uses no option that could write or run something.
#[must_use]
pub fn has_harmless_options(command: &SimpleCommand) -> bool {
    known_options(command).is_some() && names_every_hazard(&[], command)
}

/// Returns whether everything that the command can do with its words is known.
pub(super) fn is_fully_known(command: &SimpleCommand) -> bool {
    known_options(command).is_some() && !may_run_hidden_program(command)
}

/// Returns whether a word of the command matches one of the rule.
fn matches_rule_word(text: &str, word: &str) -> bool {
    let is_option_said = is_option(word) && option_name(text) == option_name(word);
    is_option_said || glob::escape(word) == *text
}

/// Returns what each of the command's words can do.
fn word_effects(command: &SimpleCommand) -> impl Iterator<Item = (&str, OptionEffect)> {
    let known = known_options(command);
    let words: Vec<&str> = command.words.iter().map(AsRef::as_ref).collect();
    let effect = move |at: usize| match known {
        Some(known) => word_effect(known, &words, at),
        None if words.first() == Some(&"git") => effect_in_unknown_git(&words, at),
        None => OptionEffect::Harmless,
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

/// Returns the effect of a word of an unknown git command, which may be an alias of the repository.
fn effect_in_unknown_git(words: &[&str], at: usize) -> OptionEffect {
    let word = words.get(at).copied().unwrap_or_default();
    match at {
        1 if matches!(word, "--version" | "--help" | "-v" | "-h") => OptionEffect::Harmless,
        1 => OptionEffect::Unknown,
        _ if is_option(word) => OptionEffect::Unknown,
        _ => OptionEffect::Harmless,
    }
}

fn word_effect(known: &KnownOptions, words: &[&str], at: usize) -> OptionEffect {
    let word = words.get(at).copied().unwrap_or_default();
    let of_option =
        if is_option(word) { known.effect_of_option(word) } else { OptionEffect::Harmless };
    let of_operand = match is_first_operand(known, words, at) {
        true if !known.first_operands.is_empty() && !list_contains(known.first_operands, word) => {
            OptionEffect::Unknown
        }
        true | false => OptionEffect::Harmless,
    };
    of_option.max(of_operand).max(program_text_effect(known, words, at))
}

/// Returns whether a word is the first that is not an option; the name of git's own command does
/// not count.
fn is_first_operand(known: &KnownOptions, words: &[&str], at: usize) -> bool {
    let own = known.command.split(' ').count();
    let is_operand = |word: &&str| !is_option(word);
    let before = words.get(own..at).unwrap_or_default();
    at >= own && words.get(at).is_some_and(is_operand) && !before.iter().any(is_operand)
}

/// Returns the effect of a word that a program interprets as more than a name.
fn program_text_effect(known: &KnownOptions, words: &[&str], at: usize) -> OptionEffect {
    let word = words.get(at).copied().unwrap_or_default();
    let is_hazard = match known.command {
        "sed" => {
            sed_script(words, at).is_some_and(|script| !script_safety::is_harmless_sed(script))
        }
        "awk" | "gawk" | "mawk" | "nawk" | "original-awk" => !script_safety::is_harmless_awk(word),
        "tar" => is_remote_file(word) || (at == 1 && !is_option_bundle(known, word)),
        // A command for the pager.
        "less" => word.starts_with('+'),
        "curl" => word.contains("%output"),
        // It starts an editor, which the repository may choose.
        "git config" => word == "edit",
        command => {
            let own = command.strip_prefix("git ").unwrap_or_default();
            list_contains(GIT_REMOTE_COMMANDS, own) && word.contains("::")
        }
    };
    if is_hazard { OptionEffect::Unknown } else { OptionEffect::Harmless }
}

/// Returns whether the word is the option bundle of tar: its first word, with a hyphen or without.
fn is_option_bundle(known: &KnownOptions, word: &str) -> bool {
    let is_letter = |c: char| known.letters.contains(c) || known.valued_letters.contains(c);
    word.starts_with('-') || word.chars().all(is_letter)
}

/// Returns whether the word is a file of another machine (`host:file`), for which tar runs a
/// program.
fn is_remote_file(word: &str) -> bool {
    let value = word.split_once('=').map_or(word, |(_, value)| value);
    value.split('/').next().is_some_and(|first| first.contains(':'))
}

/// Returns the script that a word of sed is or contains: the first operand unless an option gave
/// one before, and whatever follows `-e`.
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

/// Returns what follows the `e` of a bundle such as `-ne`.
fn glued_script(word: &str) -> Option<&str> {
    let letters = word.strip_prefix('-').filter(|rest| !rest.starts_with('-'))?;
    let (flags, script) = letters.split_once('e')?;
    flags.chars().all(|c| "nErzus".contains(c)).then_some(script)
}
