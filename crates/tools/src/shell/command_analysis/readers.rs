//! The two readers of shell commands: the full grammar and the strict one, with their words, quotes
//! and characters.

pub(super) mod ansi_quotes;
pub(super) mod characters;
pub(super) mod grammar_reader;
pub(super) mod strict_reader;
pub(super) mod tree_words;

#[cfg(test)]
mod ansi_quotes_tests;
#[cfg(test)]
mod strict_reader_tests;
