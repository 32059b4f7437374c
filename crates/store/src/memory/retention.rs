//! Retention: deletes rows that are too old.

use std::sync::Arc;

use windlass_core::projection::Row;
use windlass_runtime::ports::{DeletedRows, NumberedWorkerEvent, RetentionCutoffs};

use super::store_state::{LaneState, StoreState};

impl StoreState {
    pub(super) fn forget(&mut self, forget: &RetentionCutoffs) -> DeletedRows {
        let mut forgotten = DeletedRows::default();
        let lanes: Vec<_> = self.lanes.keys().cloned().collect();
        for lane in lanes {
            if let Some(lane) = self.lanes.get_mut(&lane) {
                forget_lane_rows(lane, forget, &mut forgotten);
            }
        }
        let old = |known: &NumberedWorkerEvent| known.event.at < forget.trace_before;
        let room = forget.limit.saturating_sub(forgotten.events);
        let count = self.worker_events.iter().take_while(|event| old(event)).take(room).count();
        self.worker_events = self.worker_events.split_off(count);
        forgotten.events += count;
        forgotten
    }
}

fn forget_lane_rows(lane: &mut LaneState, forget: &RetentionCutoffs, forgotten: &mut DeletedRows) {
    let mut kept = |rows: &Arc<[Row]>| -> Option<Arc<[Row]>> {
        let rows: Vec<Row> =
            rows.iter().filter(|row| !should_forget(forgotten, row, forget)).cloned().collect();
        (!rows.is_empty()).then(|| Arc::from(rows))
    };
    lane.rows = lane.rows.iter().filter_map(&mut kept).collect();
}

/// Returns whether a row is too old, and counts it if so.
fn should_forget(forgotten: &mut DeletedRows, row: &Row, forget: &RetentionCutoffs) -> bool {
    let (count, is_old) = match row {
        Row::Raw(row) => (&mut forgotten.raw, row.at < forget.raw_before),
        Row::Trace(row) => (&mut forgotten.trace, row.at < forget.trace_before),
        Row::Event(row) => (&mut forgotten.events, row.at < forget.trace_before),
        Row::Run(_) | Row::ToolResult(_) | Row::Checkpoint(_) => return false,
    };
    let goes = is_old && *count < forget.limit;
    *count += usize::from(goes);
    goes
}
