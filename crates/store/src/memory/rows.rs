//! The rows that are written with entries. Only runs are returned through the port; the others are
//! kept as they came, for tests.

use std::sync::Arc;

use windlass_core::log::ids::{LaneId, Seq, UnixMillis};
use windlass_core::projection::{RawRow, Row, RunRow};
use windlass_core::stop::StopCause;
use windlass_runtime::ports::{RunInfo, RunTraceEnd, StoreError};

use super::store_state::{LaneState, StoreState};
use crate::column_values::is_active;
use crate::pending_runs;
use crate::pending_runs::PendingMessage;
use crate::validation::rejection;

impl StoreState {
    pub(super) fn write_rows(&mut self, lane: &LaneId, rows: &[Row]) -> Result<(), StoreError> {
        for row in rows {
            if let Row::Run(run) = row {
                self.write_run(lane, run)?;
            }
        }
        if !rows.is_empty() {
            self.lane_mut(lane)?.rows.push_back(Arc::from(rows));
        }
        Ok(())
    }

    fn write_run(&mut self, lane: &LaneId, row: &RunRow) -> Result<(), StoreError> {
        self.occupy_lane(lane, row)?;
        let next = self.runs.len();
        let index = *self.run_positions.entry(row.run.clone()).or_insert(next);
        let tenant = self.lane_ref(lane)?.tenant();
        match self.runs.get_mut(index) {
            None => self.runs.push_back(Arc::new(run_info(lane, tenant, row))),
            Some(run) if run.lane == *lane => {
                let description = row.description.clone().with_defaults_from(&run.description);
                let cancel_requested = row.cancel_requested || run.cancel_requested;
                let info = RunInfo { description, cancel_requested, ..run_info(lane, tenant, row) };
                *run = Arc::new(info);
            }
            Some(_) => return Err(rejection::foreign_run(lane, &row.run)),
        }
        Ok(())
    }

    /// Enforces one active run per lane.
    fn occupy_lane(&mut self, id: &LaneId, row: &RunRow) -> Result<(), StoreError> {
        let lane = self.lane_mut(id)?;
        let other = lane.occupied_by.as_ref().is_some_and(|run| *run != row.run);
        match (is_active(row.state), other) {
            (true, true) => return Err(rejection::second_active_run(id)),
            (true, false) => lane.occupied_by = Some(row.run.clone()),
            (false, true) => (),
            (false, false) => lane.occupied_by = None,
        }
        Ok(())
    }

    pub(super) fn rows(&self, lane: &LaneId) -> Vec<Row> {
        self.find_lane(lane).into_iter().flat_map(LaneState::rows).cloned().collect()
    }

    pub(super) fn runs(&self, lane: Option<&LaneId>, limit: usize) -> Vec<RunInfo> {
        let runs = self.runs.iter().rev().map(Arc::as_ref);
        let wanted = |run: &&RunInfo| lane.is_none_or(|lane| run.lane == *lane);
        let runs = runs.filter(wanted).take(limit).cloned().collect();
        pending_runs::merge_pending(runs, self.run_messages(lane), limit)
    }

    /// Returns unread messages about runs; their time is unknown, because there is no clock here.
    fn run_messages(&self, lane: Option<&LaneId>) -> Vec<PendingMessage> {
        let lanes = self.lanes.iter().filter(|(id, _)| lane.is_none_or(|lane| *id == lane));
        let waiting = lanes.flat_map(|(id, lane)| {
            lane.pending.values().rev().map(move |body| PendingMessage {
                lane: id.clone(),
                at: UnixMillis(0),
                body: body.clone(),
                folder: lane.affinity.folder.clone(),
                agent: lane.affinity.agent.clone(),
                tenant: lane.tenant(),
            })
        });
        waiting.collect()
    }

    pub(super) fn trace_ends(&self, since: UnixMillis, limit: usize) -> Vec<RunTraceEnd> {
        let over = |run: &&RunInfo| run.cause.is_some() && run.at >= since;
        let ended = self.runs.iter().rev().map(Arc::as_ref).filter(over);
        ended.filter_map(|run| self.trace_end(run)).take(limit).collect()
    }

    pub(super) fn raw_responses(&self, lane: &LaneId, after: Seq, limit: usize) -> Vec<RawRow> {
        let rows = self.find_lane(lane).into_iter().flat_map(LaneState::rows);
        let raw = rows.filter_map(|row| match row {
            Row::Raw(row) if row.seq > after => Some(row),
            _ => None,
        });
        raw.take(limit).cloned().collect()
    }

    fn trace_end(&self, run: &RunInfo) -> Option<RunTraceEnd> {
        let rows = self.lanes.get(&run.lane)?.rows().rev();
        let mut mine = rows.filter_map(|row| match row {
            Row::Trace(row) if row.run == run.run => Some(row),
            _ => None,
        });
        let last = mine.next()?;
        let (mut input_tokens, mut cached_tokens, mut output_tokens) = (0, 0, 0);
        for row in std::iter::once(last).chain(mine) {
            let usage = row.usage;
            let cached = usage.cache_read_tokens.saturating_add(usage.cache_write_tokens);
            input_tokens += usage.input_tokens.saturating_add(cached);
            cached_tokens += usage.cache_read_tokens;
            output_tokens += usage.output_tokens;
        }
        Some(RunTraceEnd {
            run: run.run.clone(),
            iterations: last.iter,
            cause: Arc::from(run.cause.map_or("", StopCause::as_str)),
            at: run.at,
            agent: run.description.agent.clone(),
            profile: run.description.profile.clone(),
            model: run.description.model.clone(),
            input_tokens,
            cached_tokens,
            output_tokens,
        })
    }
}

fn run_info(lane: &LaneId, tenant: Arc<str>, row: &RunRow) -> RunInfo {
    RunInfo {
        run: row.run.clone(),
        lane: lane.clone(),
        tenant,
        state: row.state,
        cause: row.cause,
        text: row.text.clone(),
        at: row.at,
        resume_available: false,
        cancel_requested: row.cancel_requested,
        description: row.description.clone(),
        usd_micros: row.usd_micros,
    }
}
