//! Forgetting rows that are too old.

use std::sync::Arc;

use windlass_core::project::Row;
use windlass_runtime::ports::{Forget, Forgotten, NumberedWorkerEvent};

use super::world::{Lane, World};

impl World {
    pub(super) fn forget(&mut self, forget: &Forget) -> Forgotten {
        let mut forgotten = Forgotten::default();
        let lanes: Vec<_> = self.lanes.keys().cloned().collect();
        for lane in lanes {
            if let Some(lane) = self.lanes.get_mut(&lane) {
                of(lane, forget, &mut forgotten);
            }
        }
        let old = |known: &NumberedWorkerEvent| known.event.at < forget.trace_before;
        let room = forget.most.saturating_sub(forgotten.events);
        let count = self.worker_events.iter().take_while(|event| old(event)).take(room).count();
        self.worker_events = self.worker_events.split_off(count);
        forgotten.events += count;
        forgotten
    }
}

fn of(lane: &mut Lane, forget: &Forget, forgotten: &mut Forgotten) {
    let mut kept = |rows: &Arc<[Row]>| -> Option<Arc<[Row]>> {
        let rows: Vec<Row> =
            rows.iter().filter(|row| !takes(forgotten, row, forget)).cloned().collect();
        (!rows.is_empty()).then(|| Arc::from(rows))
    };
    lane.rows = lane.rows.iter().filter_map(&mut kept).collect();
}

/// Counts a row that is to go.
fn takes(forgotten: &mut Forgotten, row: &Row, forget: &Forget) -> bool {
    let (count, is_old) = match row {
        Row::Raw(row) => (&mut forgotten.raw, row.at < forget.raw_before),
        Row::Trace(row) => (&mut forgotten.trace, row.at < forget.trace_before),
        Row::Event(row) => (&mut forgotten.events, row.at < forget.trace_before),
        Row::Run(_) | Row::ToolResult(_) | Row::Checkpoint(_) => return false,
    };
    let goes = is_old && *count < forget.most;
    *count += usize::from(goes);
    goes
}
