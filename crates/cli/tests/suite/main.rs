//! The real binary, as a person or a script runs it: output, exit codes, sentences.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod flags;
mod journal;
mod kit;
mod stage;

mod agents;
mod attacks;
mod bad_input;
mod behind;
mod budgets;
mod changes;
mod commands;
mod customs;
mod detached;
mod doctor;
mod explain;
mod explain_calls;
mod explain_context;
mod finding;
mod forking;
mod leave;
mod live_output;
mod logging;
mod logs;
mod looking_back;
mod messages;
mod model_controls;
mod patience;
mod print;
mod questions;
mod raw;
mod run_settings;
mod runs;
mod scenarios;
mod scripted;
mod sending;
mod settings;
mod show;
mod stats;
mod terminal;
mod trace;
mod trust;
mod two_machines;
mod wire;
mod workers;
