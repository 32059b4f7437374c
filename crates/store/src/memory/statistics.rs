//! Shared spending, tool statistics and worker events.

use std::collections::BTreeMap;
use std::sync::Arc;

use windlass_core::budget::spending::Spending;
use windlass_core::log::ids::UnixMillis;
use windlass_core::projection::{Row, ToolResultRow};
use windlass_runtime::ports::{
    EventCount, NumberedWorkerEvent, SpendingAccount, SpendingChange, ToolStats, WorkerEvent,
    WorkerEventPage,
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
        for row in self.lanes.values().flat_map(LaneState::rows) {
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
        for row in self.lanes.values().flat_map(LaneState::rows) {
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
        most: usize,
    ) -> Vec<NumberedWorkerEvent> {
        let events = self.worker_events.iter();
        match page {
            WorkerEventPage::Newest => {
                events.skip(self.worker_events.len().saturating_sub(most)).cloned().collect()
            }
            WorkerEventPage::After(after) => {
                events.filter(|known| known.no > after).take(most).cloned().collect()
            }
        }
    }
}
