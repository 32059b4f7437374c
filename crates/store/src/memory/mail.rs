//! Accepting mail and reading what waits.

use windlass_core::ids::{LaneId, MailId};
use windlass_core::mail::Mail;
use windlass_runtime::ports::{Letter, StoreError, Whose};

use super::world::{Lane, World};

impl World {
    /// A lane that is new belongs to whom the sender belongs to.
    pub(super) fn deliver(&mut self, lane: &LaneId, letter: &Letter, whose: &Whose) -> MailId {
        let new = || Lane { whose: whose.clone(), ..Lane::default() };
        let lane = self.lanes.entry(lane.clone()).or_insert_with(new);
        if let Some(first) = lane.keys.get(&letter.key) {
            return *first;
        }
        let mail = lane.keys.len() as MailId + 1;
        lane.keys.insert(letter.key.clone(), mail);
        lane.waiting.insert(mail, letter.body.clone());
        mail
    }

    pub(super) fn waiting_mail(&self, lane: &LaneId, most: usize) -> Result<Vec<Mail>, StoreError> {
        let waiting = self.lane_ref(lane)?.waiting.iter().take(most);
        Ok(waiting.map(|(id, body)| Mail { id: *id, body: body.clone() }).collect())
    }
}
