//! The agent loop as three pure functions over plain data (sans-IO state machine, event-sourced).
//!
//! ```text
//! decide(&Conversation, at, &Input) -> Vec<Record>    all decisions: rules, limits, tables
//! apply (&mut Conversation, &Record)                  all bookkeeping: the fold of the log
//! wanted(&Conversation)             -> Wanted         which effects should be in flight now
//! ```
//!
//! Not here: I/O, async, clocks, randomness, user-facing text. Time arrives inside inputs, retry
//! jitter is derived from ids, and no input can cause a panic.

#![warn(clippy::wildcard_enum_match_arm)]

pub mod apply;
pub mod budget;
pub mod call;
pub mod context;
pub mod decide;
pub mod guard;
pub mod log;
pub mod message;
pub mod permission;
pub mod projection;
pub mod run;
pub mod settings;
pub mod stop;

pub use decide::decide;
pub use log::entry::Entry;
pub use log::input::Input;
pub use log::record::Record;
pub use run::conversation::Conversation;
pub use run::wanted::wanted;
