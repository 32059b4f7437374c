//! Appending under the fence.

use windlass_core::ids::{LaneId, MailId};
use windlass_runtime::ports::{Append, StoreError};

use super::world::{Lane, World};
use crate::valid::refusal;

impl World {
    pub(super) fn append(&mut self, append: &Append) -> Result<(), StoreError> {
        self.fence(append)?;
        let lane = self.lane_mut(&append.lane)?;
        lane.head = lane.head.saturating_add(append.entries.len() as u64);
        lane.active_run = append.active_run.clone();
        lane.wake_at = append.wake_at;
        lane.log.extend(append.entries.iter().cloned());
        append.mail_read.iter().try_for_each(|mail| read(lane, &append.lane, *mail))?;
        let whose = lane.whose.clone();
        append.spending.iter().for_each(|change| self.spend(change));
        append.mail_out.iter().for_each(|(to, letter)| _ = self.deliver(to, letter, &whose));
        self.write(&append.lane, &append.rows)
    }

    /// Only an owner with the newest epoch, who knows the last entry, may write.
    fn fence(&self, append: &Append) -> Result<(), StoreError> {
        let open = |lane: &Lane| {
            let is_owner = lane.owner.as_ref() == Some(&append.owner);
            is_owner && lane.epoch == append.epoch && lane.head == append.head
        };
        match self.lanes.get(&append.lane).is_some_and(open) {
            true => Ok(()),
            false => Err(StoreError::Fenced { lane: append.lane.clone() }),
        }
    }
}

fn read(lane: &mut Lane, id: &LaneId, mail: MailId) -> Result<(), StoreError> {
    let was_waiting = lane.waiting.remove(&mail);
    was_waiting.map(drop).ok_or_else(|| refusal::mail_not_waiting(id, mail))
}
