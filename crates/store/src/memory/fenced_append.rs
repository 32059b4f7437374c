//! Fenced appends: owner, epoch and head must match before anything is written.

use windlass_core::log::ids::{InboxMessageId, LaneId};
use windlass_runtime::ports::{AppendRequest, StoreError};

use super::store_state::{LaneState, StoreState};
use crate::validation::rejection;

impl StoreState {
    pub(super) fn append(&mut self, append: &AppendRequest) -> Result<(), StoreError> {
        self.check_fence(append)?;
        let lane = self.lane_mut(&append.lane)?;
        lane.head = lane.head.saturating_add(append.entries.len() as u64);
        lane.active_run = append.active_run.clone();
        lane.wake_at = append.wake_at;
        lane.log.extend(append.entries.iter().cloned());
        append
            .messages_read
            .iter()
            .try_for_each(|message| take_pending(lane, &append.lane, *message))?;
        let affinity = lane.affinity.clone();
        append.spending.iter().for_each(|change| self.add_spending(change));
        append
            .outbox
            .iter()
            .for_each(|(to, message)| _ = self.enqueue_message(to, message, &affinity));
        self.insert_run_changes(append)?;
        self.write_rows(&append.lane, &append.rows)
    }

    /// Checks the fence: only an owner with the newest epoch that knows the last entry may write.
    fn check_fence(&self, append: &AppendRequest) -> Result<(), StoreError> {
        let open = |lane: &LaneState| {
            let is_owner = lane.owner.as_ref() == Some(&append.owner);
            is_owner && lane.epoch == append.epoch && lane.head == append.head
        };
        match self.find_lane(&append.lane).is_some_and(open) {
            true => Ok(()),
            false => Err(StoreError::Fenced { lane: append.lane.clone() }),
        }
    }
}

fn take_pending(
    lane: &mut LaneState,
    id: &LaneId,
    message: InboxMessageId,
) -> Result<(), StoreError> {
    let was_waiting = lane.pending.remove(&message);
    was_waiting.map(drop).ok_or_else(|| rejection::message_not_pending(id, message))
}
