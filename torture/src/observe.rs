//! What a conversation left behind: its store, its log, the ledger of effects, and the audit.

pub(crate) mod audit_conversation;
pub(crate) mod effect_ledger;
pub(crate) mod log_reader;
pub(crate) mod store;
pub(crate) mod violation;

#[cfg(test)]
mod audit_conversation_tests;
#[cfg(test)]
mod log_reader_tests;
