//! Names in commands that people copy: whoever chose the name must not choose the command.

use std::fmt;

use crate::show::harmless;

/// Writes a name as one word of a shell command.
pub(crate) fn shell_word(name: &(impl fmt::Display + ?Sized)) -> String {
    let word = quoted(&name.to_string());
    // No quotes keep a name from being taken for an option.
    if begins_with_dash(&word) { format!("-- {word}") } else { word }
}

/// Writes a name as the value of an option.
pub(crate) fn option_word(option: &str, name: &(impl fmt::Display + ?Sized)) -> String {
    let word = quoted(&name.to_string());
    if begins_with_dash(&word) { format!("{option}={word}") } else { format!("{option} {word}") }
}

fn begins_with_dash(word: &str) -> bool {
    word.trim_start_matches('\'').starts_with('-')
}

fn quoted(name: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "/._-+@%:,".contains(c);
    match !name.is_empty() && name.chars().all(is_plain) {
        true => name.to_owned(),
        false => format!("'{}'", harmless(&name.replace('\'', "'\\''"))),
    }
}

#[cfg(test)]
#[path = "shell_word_tests.rs"]
mod shell_word_tests;
