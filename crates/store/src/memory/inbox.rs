//! The inbox: enqueueing messages and reading unread ones.

use windlass_core::log::ids::{InboxMessageId, LaneId};
use windlass_core::log::inbox::InboxMessage;
use windlass_runtime::ports::{Affinity, OutboxMessage, StoreError};

use super::store_state::StoreState;

impl StoreState {
    /// Adds a message. A new lane gets the affinity of its sender.
    pub(super) fn enqueue_message(
        &mut self,
        lane: &LaneId,
        message: &OutboxMessage,
        affinity: &Affinity,
    ) -> InboxMessageId {
        let lane = self.lane_or_new(lane, affinity);
        if let Some(first) = lane.message_keys.get(&message.idempotency_key) {
            return *first;
        }
        let id = lane.message_keys.len() as InboxMessageId + 1;
        lane.message_keys.insert(message.idempotency_key.clone(), id);
        lane.pending.insert(id, message.body.clone());
        id
    }

    pub(super) fn pending_messages(
        &self,
        lane: &LaneId,
        limit: usize,
    ) -> Result<Vec<InboxMessage>, StoreError> {
        let waiting = self.lane_ref(lane)?.pending.iter().take(limit);
        Ok(waiting.map(|(id, body)| InboxMessage { id: *id, body: body.clone() }).collect())
    }
}
