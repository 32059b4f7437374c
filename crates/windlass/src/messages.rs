//! Messages: what happens in a conversation, as programs see it. See [`Message`].

mod child_feeds;
mod message_log;
mod message_reader;
mod run_facts;

pub use message_log::{LogItem, LogPosition, MessageLog, PositionError};
pub use message_reader::{MessageObserver, MessageOptions, MessageReader};
pub use run_facts::read_run_facts;
pub use windlass_messages::*;
