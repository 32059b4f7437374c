//! What happens next: the judgement of an agent loop as three pure functions over plain data.
//!
//! ```text
//! decide(&Conversation, at, &Input) -> Vec<Record>    all judgement: rules, limits, tables
//! apply (&mut Conversation, &Record)                  all bookkeeping: no opinions
//! wanted(&Conversation)             -> Wanted         what should be in the air now
//! ```
//!
//! Not here: I/O, async, clocks, randomness, user-facing text. Time arrives inside inputs, pauses
//! are derived from ids, and nothing panics whatever the bytes.

#![warn(clippy::wildcard_enum_match_arm)]

pub mod apply;
pub mod aside;
pub mod audit;
mod blame;
pub mod block;
pub mod bounds;
pub mod budget;
pub mod call;
pub mod child;
pub mod conversation;
pub mod counsel;
pub mod cut;
pub mod decide;
pub mod drift;
pub mod facts;
pub mod gate;
pub mod ids;
pub mod input;
pub mod jitter;
pub mod journal;
pub mod limits;
pub mod log;
pub mod mail;
pub mod normalise;
pub mod order;
pub mod outcome;
pub mod permission;
pub mod project;
pub mod question;
pub mod raw;
pub mod record;
pub mod redact;
pub mod reply;
pub mod request;
pub mod run;
pub mod run_settings;
pub mod settings;
pub mod stop;
pub mod task;
pub mod thrash;
pub mod transcript;
mod transient;
pub mod wanted;
pub mod window;
pub mod words;

pub use conversation::Conversation;
pub use decide::decide;
pub use input::Input;
pub use log::Entry;
pub use record::Record;
pub use wanted::wanted;

#[cfg(test)]
mod aside_tests;
#[cfg(test)]
mod audit_tests;
#[cfg(test)]
mod block_tests;
#[cfg(test)]
mod bounds_tests;
#[cfg(test)]
mod budget_tests;
#[cfg(test)]
mod child_tests;
#[cfg(test)]
mod cut_tests;
#[cfg(test)]
mod drift_tests;
#[cfg(test)]
mod gate_tests;
#[cfg(test)]
mod jitter_tests;
#[cfg(test)]
mod journal_tests;
#[cfg(test)]
mod limits_tests;
#[cfg(test)]
mod log_tests;
#[cfg(test)]
mod normalise_tests;
#[cfg(test)]
mod order_tests;
#[cfg(test)]
mod outcome_tests;
#[cfg(test)]
mod question_tests;
#[cfg(test)]
mod raw_tests;
#[cfg(test)]
mod redact_tests;
#[cfg(test)]
mod settings_tests;
#[cfg(test)]
mod task_tests;
#[cfg(test)]
mod thrash_tests;
#[cfg(test)]
mod transcript_tests;
