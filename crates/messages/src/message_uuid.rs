//! Ids of messages, derived from where a message stands in the log: a reader of the stream, a
//! transcript and another process all know a message by the same id.

use windlass_core::log::ids::RunId;

/// Derives the UUID (version 8) of a message from the conversation and a name that is unique in it.
#[must_use]
pub fn derive_uuid(session_id: &str, name: &str) -> String {
    RunId::from_name(&format!("message {session_id} {name}")).to_string()
}
