//! A subscriber: fast or far behind, it must see every entry once and in order.

use std::sync::Arc;

use windlass_core::log::entry::Entry;
use windlass_core::log::record::Record;
use windlass_runtime::Session;
use windlass_runtime::feed::StreamItem;
use windlass_runtime::ports::Store;

use crate::world::clock::sleep_virtual;
use crate::world::observation_log::ProcessId;
use crate::world::shared::{SeenQuestion, SharedWorld};

pub(super) struct FeedReader {
    pub(super) shared: Arc<SharedWorld>,
    pub(super) session: Session,
    pub(super) process: ProcessId,
    pub(super) pace_ms: u64,
}

impl FeedReader {
    pub(super) async fn read(self, from_start: bool) {
        let lane = self.session.lane().clone();
        let mut after = if from_start { 0 } else { self.head().await };
        let reading = self.shared.observations.reader(self.process, lane, after);
        loop {
            let mut items = self.session.subscribe(after);
            // After a store failure the reader continues from the same position.
            while let Ok(item) = items.next().await {
                if let StreamItem::Entry(entry) = item {
                    after = entry.seq;
                    self.report(&entry);
                    self.shared.observations.read(reading, entry);
                }
                if self.pace_ms > 0 && !self.shared.is_calm() {
                    sleep_virtual(self.pace_ms).await;
                }
            }
            sleep_virtual(50).await;
        }
    }

    async fn head(&self) -> u64 {
        let lane = self.shared.disk.lane_info(self.session.lane().clone()).await;
        lane.ok().flatten().map_or(0, |lane| lane.head)
    }

    /// Reports questions to the simulated users.
    fn report(&self, entry: &Entry) {
        for record in &entry.records {
            if let Record::QuestionAsked { question } = record {
                let asked =
                    SeenQuestion { lane: self.session.lane().clone(), question: question.clone() };
                let _ = self.shared.desk.send(asked);
            }
        }
    }
}
