//! The real binary, as a person or a script runs it: output, exit codes, sentences.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod flags;
mod kit;

mod bad_input;
mod looking_back;
mod print;
mod scripted;
