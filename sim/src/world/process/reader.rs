//! A subscriber: fast or far behind, it must see every entry once and in order.

use std::sync::Arc;

use windlass_core::log::Entry;
use windlass_core::record::Record;
use windlass_runtime::Session;
use windlass_runtime::feed::Item;
use windlass_runtime::ports::Store;

use crate::world::clock::nap;
use crate::world::shared::{Asked, Shared};
use crate::world::witness::ProcessId;

pub(super) struct Reader {
    pub(super) shared: Arc<Shared>,
    pub(super) session: Session,
    pub(super) process: ProcessId,
    pub(super) pace_ms: u64,
}

impl Reader {
    pub(super) async fn read(self, from_start: bool) {
        let lane = self.session.lane().clone();
        let mut after = if from_start { 0 } else { self.head().await };
        let reading = self.shared.witness.reader(self.process, lane, after);
        loop {
            let mut items = self.session.subscribe(after);
            // A store that failed is asked again from the same place.
            while let Ok(item) = items.next().await {
                if let Item::Entry(entry) = item {
                    after = entry.seq;
                    self.report(&entry);
                    self.shared.witness.read(reading, entry);
                }
                if self.pace_ms > 0 && !self.shared.is_calm() {
                    nap(self.pace_ms).await;
                }
            }
            nap(50).await;
        }
    }

    async fn head(&self) -> u64 {
        let lane = self.shared.disk.lane(self.session.lane().clone()).await;
        lane.ok().flatten().map_or(0, |lane| lane.head)
    }

    /// Puts questions on the desk of whoever answers them.
    fn report(&self, entry: &Entry) {
        for record in &entry.records {
            if let Record::Questioned { question } = record {
                let asked = Asked { lane: self.session.lane().clone(), question: question.clone() };
                let _ = self.shared.desk.send(asked);
            }
        }
    }
}
