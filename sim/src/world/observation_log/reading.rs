//! Observations of the readers of feeds.

use std::sync::Arc;

use windlass_core::log::entry::Entry;
use windlass_core::log::ids::{LaneId, RunId, Seq};
use windlass_runtime::{DriveError, RunOutcome};

use super::{ObservationLog, ObservationTick, ProcessId};

/// Index in the list of readings.
pub(crate) type ReadingId = usize;

/// One subscription, from its start to the end of its process.
pub(crate) struct ObservedSubscription {
    pub(crate) process: ProcessId,
    pub(crate) lane: LaneId,
    pub(crate) began: ObservationTick,
    pub(crate) after: Seq,
    pub(crate) entries: Vec<Arc<Entry>>,
}

/// How the stream of a run ended for its holder.
pub(crate) struct OwnerEnd {
    pub(crate) run: Option<RunId>,
    /// Runs whose end arrived as an item.
    pub(crate) ended: Vec<RunId>,
    /// Items that arrived after the one that ended this run.
    pub(crate) after_end: usize,
    pub(crate) end: Result<RunOutcome, DriveError>,
}

impl ObservationLog {
    pub(crate) fn reader(&self, process: ProcessId, lane: LaneId, after: Seq) -> ReadingId {
        let mut seen = self.seen();
        let began = seen.tick();
        seen.readings.push(ObservedSubscription {
            process,
            lane,
            began,
            after,
            entries: Vec::new(),
        });
        seen.readings.len() - 1
    }

    pub(crate) fn read(&self, id: ReadingId, entry: Arc<Entry>) {
        if let Some(reading) = self.seen().readings.get_mut(id) {
            reading.entries.push(entry);
        }
    }

    pub(crate) fn owner_end(&self, end: OwnerEnd) {
        self.seen().owners.push(end);
    }
}
