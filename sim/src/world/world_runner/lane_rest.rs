//! The fair end of a world: no more faults, users answer, and every lane must come to rest.

use windlass_core::log::entry::Entry;
use windlass_core::log::ids::{LaneId, Seq};
use windlass_core::run::active_run::Run;
use windlass_core::run::conversation::Conversation;
use windlass_core::run::wanted::is_parked;
use windlass_runtime::ports::{LaneInfo, Store};

use super::WorldRunner;
use crate::world::clock::sleep_virtual;
use crate::world::command_sender::sensible;
use crate::world::process_gate::ProcessLife;
use crate::world::seeded_rng::SeededRng;

/// Number of polls after which a world must have come to rest.
const LOOKS: u32 = 400;

/// Time between two polls.
const POLL_MS: u64 = 300;

/// Polls of an unchanged lane before its owner counts as gone.
const PATIENCE: u32 = 4;

/// Time for readers to see the last entries.
const GRACE_MS: u64 = 1_300;

impl WorldRunner {
    /// Returns whether every lane came to rest.
    pub(super) async fn come_to_rest(&mut self) -> bool {
        self.shared.calm_down();
        self.processes.iter().for_each(|process| process.gate.set(ProcessLife::Up));
        if self.processes.is_empty() {
            self.start().await;
        }
        for look in 0..LOOKS {
            sleep_virtual(POLL_MS).await;
            if self.rests(look).await {
                // A command may still be on its way.
                let heads = self.heads().await;
                sleep_virtual(GRACE_MS).await;
                if self.rests(look).await && self.heads().await == heads {
                    return true;
                }
            }
        }
        false
    }

    async fn rests(&mut self, look: u32) -> bool {
        let lanes: Vec<LaneId> = self.shared.lanes().collect();
        let mut rest = true;
        for lane in lanes {
            rest &= self.is_resting(&lane, look).await;
        }
        rest
    }

    async fn is_resting(&mut self, lane: &LaneId, look: u32) -> bool {
        let disk = &self.shared.disk;
        let Ok(Some(info)) = disk.lane_info(lane.clone()).await else { return true };
        let mail = disk.read_inbox(lane.clone(), 1).await;
        if mail.is_ok_and(|mail| !mail.is_empty()) || (info.owner.is_some() && self.moves(&info)) {
            return false;
        }
        let now = self.fold_lane(lane, info.head).await;
        match &now.run {
            None => true,
            Some(run) if is_parked(&now) => self.let_people_answer(lane, run, look).await,
            Some(_) => false,
        }
    }

    /// Whether something happened on the lane lately: an owner that is gone is still recorded as
    /// the owner.
    fn moves(&mut self, info: &LaneInfo) -> bool {
        let (head, looks) = self.quiet.entry(info.lane.clone()).or_default();
        *looks = if *head == info.head { *looks + 1 } else { 0 };
        *head = info.head;
        *looks < PATIENCE
    }

    /// Returns the lane as folded from its log; earlier folds are cached.
    async fn fold_lane(&mut self, lane: &LaneId, head: Seq) -> Conversation {
        let known = self.folds.entry(lane.clone()).or_default();
        if known.head > head {
            *known = Conversation::default();
        }
        let lines = self.shared.disk.read_log(lane.clone(), known.head, usize::MAX).await;
        for stored in lines.unwrap_or_default() {
            if let Ok(entry) = Entry::parse(stored.seq, &stored.line) {
                let _ = known.fold(&entry);
            }
        }
        known.clone()
    }

    async fn let_people_answer(&mut self, lane: &LaneId, run: &Run, look: u32) -> bool {
        if !self.shared.plan.people.answer_in_the_end {
            return run.stop_request.is_none();
        }
        for question in run.open_questions() {
            let key = format!("end {lane} {} {look}", question.id);
            let mut rng = SeededRng::about(self.shared.plan.seed, &key);
            let answer = sensible(&question.kind, lane, &mut rng);
            self.post.answer(lane.clone(), question.id, answer, key).await;
        }
        false
    }
}
