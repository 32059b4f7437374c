//! Loads a lane: folds its log into a conversation, and reads its first messages.

use windlass_core::log::entry::{Entry, LogError};
use windlass_core::log::ids::{LaneId, Seq};
use windlass_core::log::inbox::InboxMessage;
use windlass_core::run::conversation::Conversation;

use super::DriveError;
use crate::agent::Ports;
use crate::ports::{INBOX_PAGE_MESSAGES, LaneClaim, StoreError};

/// The number of entries read at once when a lane is loaded.
const LOG_PAGE_ENTRIES: usize = 512;

/// A lane that was claimed, with the conversation folded from its log.
pub(crate) struct LoadedLane {
    pub(crate) lane: LaneId,
    pub(crate) claim: LaneClaim,
    /// The number of lease lapses before the claim: until the next lapse this process owns the
    /// lane.
    pub(crate) lease_lapses: u64,
    pub(crate) conversation: Conversation,
    /// The unread messages at the time of the claim, one page at most.
    pub(crate) messages: Vec<InboxMessage>,
}

/// Returns the messages that came with a claim. If they could not be read, the inbox is read again,
/// which returns the error.
pub(crate) async fn read_initial_messages(
    ports: &Ports,
    lane: &LaneId,
    came: Option<Vec<InboxMessage>>,
) -> Result<Vec<InboxMessage>, StoreError> {
    match came {
        Some(messages) => Ok(messages),
        None => ports.store.read_inbox(lane.clone(), INBOX_PAGE_MESSAGES).await,
    }
}

/// Folds a lane's whole log.
///
/// # Errors
///
/// Returns a [`DriveError`] if the store fails or the log cannot be read.
pub async fn load_conversation(ports: &Ports, lane: &LaneId) -> Result<Conversation, DriveError> {
    load_conversation_at(ports, lane, Seq::MAX).await
}

/// Folds a lane's log up to and including entry `last`.
///
/// # Errors
///
/// Returns a [`DriveError`] if the store fails or the log cannot be read.
pub async fn load_conversation_at(
    ports: &Ports,
    lane: &LaneId,
    last: Seq,
) -> Result<Conversation, DriveError> {
    load_with(ports, lane, last, Conversation::fold).await
}

/// Folds a lane's log as its last driver had it, with the calls that it started: every entry is
/// decided again.
pub(super) async fn load_deciding(
    ports: &Ports,
    lane: &LaneId,
) -> Result<Conversation, DriveError> {
    load_with(ports, lane, Seq::MAX, Conversation::verify).await
}

async fn load_with(
    ports: &Ports,
    lane: &LaneId,
    last: Seq,
    take: fn(&mut Conversation, &Entry) -> Result<(), LogError>,
) -> Result<Conversation, DriveError> {
    let mut conversation = Conversation::default();
    while conversation.head < last {
        let page = ports.store.read_log(lane.clone(), conversation.head, LOG_PAGE_ENTRIES).await?;
        for stored in page.iter().filter(|stored| stored.seq <= last) {
            take(&mut conversation, &Entry::parse(stored.seq, &stored.line)?)?;
        }
        if page.len() < LOG_PAGE_ENTRIES {
            break;
        }
    }
    Ok(conversation)
}
