//! The JSON Schema of the messages.

use schemars::Schema;

use crate::message::Message;

/// Returns the JSON Schema of [`Message`].
#[must_use]
pub fn message_schema() -> Schema {
    schemars::schema_for!(Message)
}
