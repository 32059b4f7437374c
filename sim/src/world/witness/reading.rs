//! What readers of feeds saw.

use std::sync::Arc;

use windlass_core::ids::{LaneId, RunId, Seq};
use windlass_core::log::Entry;
use windlass_runtime::{DriveError, End};

use super::{ProcessId, Tick, Witness};

/// Its place in the list of readings.
pub(crate) type ReadingId = usize;

/// One subscription, from its beginning to the end of its process.
pub(crate) struct Reading {
    pub(crate) process: ProcessId,
    pub(crate) lane: LaneId,
    pub(crate) began: Tick,
    pub(crate) after: Seq,
    pub(crate) entries: Vec<Arc<Entry>>,
}

/// How the stream of a run ended for the one who held it.
pub(crate) struct OwnerEnd {
    pub(crate) run: Option<RunId>,
    /// Runs whose end came as an item.
    pub(crate) ended: Vec<RunId>,
    /// Items that came after the one that ended this run.
    pub(crate) after_end: usize,
    pub(crate) end: Result<End, DriveError>,
}

impl Witness {
    pub(crate) fn reader(&self, process: ProcessId, lane: LaneId, after: Seq) -> ReadingId {
        let mut seen = self.seen();
        let began = seen.tick();
        seen.readings.push(Reading { process, lane, began, after, entries: Vec::new() });
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
