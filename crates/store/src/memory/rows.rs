//! The rows that travel with entries. Only runs are asked for through the port; the others are
//! kept as they came, for whoever checks them.

use std::sync::Arc;

use windlass_core::ids::{LaneId, Millis, Seq};
use windlass_core::project::{RawRow, Row, RunRow};
use windlass_core::stop::StopCause;
use windlass_runtime::ports::{RunInfo, StoreError, TraceEnd};

use super::world::{Lane, World};
use crate::names::is_active;
use crate::pending::{self, PendingMessage};
use crate::valid::refusal;

impl World {
    pub(super) fn write(&mut self, lane: &LaneId, rows: &[Row]) -> Result<(), StoreError> {
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
        self.occupy(lane, row)?;
        let next = self.runs.len();
        let place = *self.run_places.entry(row.run.clone()).or_insert(next);
        match self.runs.get_mut(place) {
            None => self.runs.push_back(info(lane, row)),
            Some(run) if run.lane == *lane => {
                let description = row.description.clone().or(&run.description);
                let cancel_requested = row.cancel_requested || run.cancel_requested;
                *run = RunInfo { description, cancel_requested, ..info(lane, row) };
            }
            Some(_) => return Err(refusal::foreign_run(lane, &row.run)),
        }
        Ok(())
    }

    /// One active run per lane.
    fn occupy(&mut self, id: &LaneId, row: &RunRow) -> Result<(), StoreError> {
        let lane = self.lane_mut(id)?;
        let other = lane.occupied_by.as_ref().is_some_and(|run| *run != row.run);
        match (is_active(row.state), other) {
            (true, true) => return Err(refusal::second_active_run(id)),
            (true, false) => lane.occupied_by = Some(row.run.clone()),
            (false, true) => (),
            (false, false) => lane.occupied_by = None,
        }
        Ok(())
    }

    pub(super) fn rows(&self, lane: &LaneId) -> Vec<Row> {
        self.lanes.get(lane).into_iter().flat_map(Lane::rows).cloned().collect()
    }

    pub(super) fn runs(&self, lane: Option<&LaneId>, most: usize) -> Vec<RunInfo> {
        let wanted = |run: &&RunInfo| lane.is_none_or(|lane| run.lane == *lane);
        let runs = self.runs.iter().rev().filter(wanted).take(most).cloned().collect();
        pending::merge(runs, self.pending(lane), most)
    }

    /// Messages that wait. Nobody knows when they came: there is no clock here.
    fn pending(&self, lane: Option<&LaneId>) -> Vec<PendingMessage> {
        let lanes = self.lanes.iter().filter(|(id, _)| lane.is_none_or(|lane| *id == lane));
        let waiting = lanes.flat_map(|(id, lane)| {
            lane.waiting.values().rev().map(move |body| PendingMessage {
                lane: id.clone(),
                at: Millis(0),
                body: body.clone(),
                folder: lane.whose.folder.clone(),
                agent: lane.whose.agent.clone(),
            })
        });
        waiting.collect()
    }

    pub(super) fn trace_ends(&self, since: Millis, most: usize) -> Vec<TraceEnd> {
        let over = |run: &&RunInfo| run.cause.is_some() && run.at >= since;
        let ended = self.runs.iter().rev().filter(over);
        ended.filter_map(|run| self.trace_end(run)).take(most).collect()
    }

    pub(super) fn raw_responses(&self, lane: &LaneId, after: Seq, most: usize) -> Vec<RawRow> {
        let rows = self.lanes.get(lane).into_iter().flat_map(Lane::rows);
        let raw = rows.filter_map(|row| match row {
            Row::Raw(row) if row.seq > after => Some(row),
            _ => None,
        });
        raw.take(most).cloned().collect()
    }

    fn trace_end(&self, run: &RunInfo) -> Option<TraceEnd> {
        let rows = self.lanes.get(&run.lane)?.rows().rev();
        let mut mine = rows.filter_map(|row| match row {
            Row::Trace(row) if row.run == run.run => Some(row),
            _ => None,
        });
        let last = mine.next()?;
        Some(TraceEnd {
            run: run.run.clone(),
            iter: last.iter,
            cause: Arc::from(run.cause.map_or("", StopCause::name)),
            at: run.at,
            agent: run.description.agent.clone(),
            profile: run.description.profile.clone(),
            model: run.description.model.clone(),
        })
    }
}

fn info(lane: &LaneId, row: &RunRow) -> RunInfo {
    RunInfo {
        run: row.run.clone(),
        lane: lane.clone(),
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
