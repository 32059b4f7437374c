//! Quoting of names in commands that people copy: a name must not become another command.

use std::fmt;

use crate::terminal::sanitize_text;

/// Quotes a name as one word of a shell command.
pub(crate) fn shell_word(name: &(impl fmt::Display + ?Sized)) -> String {
    let word = quote_word(&name.to_string());
    // Quotes do not keep a name from being taken for an option.
    if starts_with_dash(&word) { format!("-- {word}") } else { word }
}

/// Quotes a name as the value of an option.
pub(crate) fn option_word(option: &str, name: &(impl fmt::Display + ?Sized)) -> String {
    let word = quote_word(&name.to_string());
    if starts_with_dash(&word) { format!("{option}={word}") } else { format!("{option} {word}") }
}

fn starts_with_dash(word: &str) -> bool {
    word.trim_start_matches('\'').starts_with('-')
}

fn quote_word(name: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "/._-+@%:,".contains(c);
    match !name.is_empty() && name.chars().all(is_plain) {
        true => name.to_owned(),
        false => format!("'{}'", sanitize_text(&name.replace('\'', "'\\''"))),
    }
}

#[cfg(test)]
#[path = "shell_word_tests.rs"]
mod shell_word_tests;
