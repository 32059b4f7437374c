//! What is stored: entries, inputs, records, inbox commands and their ids.

pub mod command_rejection;
pub mod entry;
#[cfg(test)]
mod entry_tests;
pub mod human_answer;
pub mod ids;
pub mod inbox;
pub mod input;
pub mod record;
pub mod redact;
#[cfg(test)]
mod redact_tests;
