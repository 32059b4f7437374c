//! Shared spending, tool statistics and worker events; retention.

use std::collections::BTreeMap;
use std::sync::Arc;

use windlass_core::budget::spending::Spending;
use windlass_core::log::ids::UnixMillis;
use windlass_core::projection::{Row, ToolResultRow};
use windlass_runtime::ports::{
    DeletedRows, EventCount, NumberedWorkerEvent, RetentionCutoffs, SpendingAccount,
    SpendingChange, ToolStats, WorkerEvent, WorkerEventPage,
};

use super::store_state::{LaneState, StoreState};
use crate::column_values;

impl StoreState {
    pub(super) fn add_spending(&mut self, change: &SpendingChange) {
        let spent = self.spending.entry(change.account.clone()).or_default();
        spent.tokens = spent.tokens.saturating_add_signed(change.tokens);
        spent.usd_micros = spent.usd_micros.saturating_add_signed(change.usd_micros);
    }

    pub(super) fn spending_of(&self, account: &SpendingAccount) -> Spending {
        self.spending.get(account).copied().unwrap_or_default()
    }

    /// Returns the statistics of tools since a time; the last row of each call counts.
    pub(super) fn tool_stats(&self, since: UnixMillis) -> Vec<ToolStats> {
        let mut calls: BTreeMap<(&str, &str), ToolResultRow> = BTreeMap::new();
        for row in self.lanes.values().flat_map(|lane| lane.rows()) {
            if let Row::ToolResult(row) = row {
                let known = calls.entry((row.run.as_str(), &row.call)).or_insert(row.clone());
                let attempts = known.attempts.max(row.attempts);
                let started_at = row.started_at.or(known.started_at);
                *known = ToolResultRow { attempts, started_at, ..row.clone() };
            }
        }
        let mut stats: BTreeMap<Arc<str>, ToolStats> = BTreeMap::new();
        let recent = |row: &&ToolResultRow| row.started_at.max(row.completed_at) >= Some(since);
        for row in calls.values().filter(recent).filter(|row| row.attempts > 0) {
            let new = || column_values::empty_tool_stats(row.tool.clone());
            let of_tool = stats.entry(row.tool.clone()).or_insert_with(new);
            of_tool.calls += 1;
            of_tool.attempts += u64::from(row.attempts);
            of_tool.retried += u64::from(row.attempts > 1);
            of_tool.failed +=
                u64::from(row.outcome.as_deref().is_some_and(column_values::is_failed_outcome));
        }
        stats.into_values().collect()
    }

    pub(super) fn event_counts(&self, since: UnixMillis) -> Vec<EventCount> {
        let mut counts = BTreeMap::new();
        for row in self.lanes.values().flat_map(|lane| lane.rows()) {
            if let Row::Event(row) = row
                && row.at >= since
            {
                let key = (row.agent.clone(), row.profile.clone(), row.name);
                let is_calm = row.fields.text().contains("\"escalated\":false");
                let (count, escalated) = counts.entry(key).or_insert((0_u64, 0_u64));
                (*count, *escalated) = (*count + 1, *escalated + u64::from(!is_calm));
            }
        }
        let counted = counts.into_iter().map(|((agent, profile, name), (count, escalated))| {
            EventCount { agent, profile, name: Arc::from(name), count, escalated }
        });
        counted.collect()
    }

    pub(super) fn record_worker_event(&mut self, event: WorkerEvent) {
        let no = self.worker_events.last().map_or(0, |last| last.no) + 1;
        self.worker_events.push_back(NumberedWorkerEvent { no, event });
    }

    pub(super) fn worker_events(
        &self,
        page: WorkerEventPage,
        limit: usize,
    ) -> Vec<NumberedWorkerEvent> {
        let events = self.worker_events.iter();
        match page {
            WorkerEventPage::Newest => {
                events.skip(self.worker_events.len().saturating_sub(limit)).cloned().collect()
            }
            WorkerEventPage::After(after) => {
                events.filter(|known| known.no > after).take(limit).cloned().collect()
            }
        }
    }
}

impl StoreState {
    pub(super) fn forget(&mut self, forget: &RetentionCutoffs) -> DeletedRows {
        let mut forgotten = DeletedRows::default();
        let lanes: Vec<_> = self.lanes.keys().cloned().collect();
        for lane in lanes {
            if let Some(lane) = self.lanes.get_mut(&lane) {
                forget_lane_rows(Arc::make_mut(lane), forget, &mut forgotten);
            }
        }
        let old = |known: &NumberedWorkerEvent| known.event.at < forget.trace_before;
        let remaining = forget.limit.saturating_sub(forgotten.events);
        let count =
            self.worker_events.iter().take_while(|event| old(event)).take(remaining).count();
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
