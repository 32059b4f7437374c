//! Events, projected again from the log, and events of workers.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde::Serialize;
use serde_json::value::RawValue;
use windlass::core::log::ids::{LaneId, RunId, Seq, UnixMillis};
use windlass::core::message::raw_json::RawJson;
use windlass::core::projection::{Row, event_alias};
use windlass::ports::{
    NumberedWorkerEvent, Store, StoreError, WorkerEvent, WorkerEventPage, WorkerId,
};

use super::history::ConversationHistory;
use crate::terminal::{Color, OutputStyle, sanitize_line, time_format, to_one_line};

/// Maximum characters of an event's fields.
const MAX_FIELD_CHARS: usize = 400;

/// Events of workers that are read at once, and at most for the first output.
const WORKER_EVENT_PAGE: usize = 10_000;

/// Events of workers that are read again when following: events that processes store at the same
/// time may become visible in another order than that of their numbers.
const REREAD_EVENTS: u64 = 100;

/// Runs whose events are read if no conversation is named.
pub(crate) const NEWEST_RUNS: usize = 200;

/// An event with its origin.
pub(crate) struct LoggedEvent {
    lane: Option<LaneId>,
    /// The process that reported the event, if it is in no log.
    worker: Option<WorkerId>,
    /// The entry of the event, if it is in a log.
    entry: Option<Seq>,
    run: Option<RunId>,
    agent: Arc<str>,
    profile: Arc<str>,
    at: UnixMillis,
    name: Arc<str>,
    fields: RawJson,
}

#[derive(Serialize)]
struct EventJson<'a> {
    at_ms: u64,
    name: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    alias: Option<&'a str>,
    conversation: Option<&'a str>,
    run: Option<&'a str>,
    #[serde(skip_serializing_if = "str::is_empty")]
    agent: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    profile: &'a str,
    entry: Option<Seq>,
    #[serde(skip_serializing_if = "Option::is_none")]
    worker: Option<&'a str>,
    fields: &'a RawValue,
}

/// Reads the events of some conversations, and remembers how far each was read.
#[derive(Default)]
pub(crate) struct EventReader {
    histories: BTreeMap<LaneId, ConversationHistory>,
    /// The numbers of the newest events of workers that were already returned; `None` before the
    /// first read.
    shown_worker_events: Option<BTreeSet<u64>>,
}

impl EventReader {
    /// Also reads this conversation from now on.
    pub(crate) fn add_lane(&mut self, lane: LaneId) {
        let new = || ConversationHistory {
            lane: lane.clone(),
            entries: Vec::new(),
            conversation: windlass::core::Conversation::default(),
            damage: None,
        };
        self.histories.entry(lane.clone()).or_insert_with(new);
    }

    /// Reads the new events of all conversations, oldest first. A log ends at its first unreadable
    /// entry.
    pub(crate) async fn read_new(
        &mut self,
        store: &dyn Store,
    ) -> Result<Vec<LoggedEvent>, StoreError> {
        let mut events = Vec::new();
        for story in self.histories.values_mut() {
            let seen = story.conversation.head;
            while story.damage.is_none() && story.load_more(store).await? > 0 {}
            if story.conversation.head > seen {
                let rows = story.project_rows(seen).into_iter();
                events.extend(rows.filter_map(|row| event_of_row(&story.lane, row)));
            }
        }
        events.extend(self.read_worker_events(store).await?);
        events.sort_by_key(|event| event.at);
        Ok(events)
    }

    /// Reads the new events of workers that belong to these conversations or to none.
    async fn read_worker_events(
        &mut self,
        store: &dyn Store,
    ) -> Result<Vec<LoggedEvent>, StoreError> {
        let last = self.shown_worker_events.as_ref().map(|shown| shown.last().copied());
        let shown = self.shown_worker_events.get_or_insert_default();
        let mut page = match last {
            None => WorkerEventPage::Newest,
            Some(last) => WorkerEventPage::After(last.unwrap_or(0).saturating_sub(REREAD_EVENTS)),
        };
        let mut events = Vec::new();
        loop {
            let found = store.worker_events(page, WORKER_EVENT_PAGE).await?;
            let is_whole = found.len() < WORKER_EVENT_PAGE || page == WorkerEventPage::Newest;
            for NumberedWorkerEvent { no, event } in found {
                page = WorkerEventPage::After(no);
                let is_new = shown.insert(no);
                let is_mine =
                    event.lane.as_ref().is_none_or(|lane| self.histories.contains_key(lane));
                if is_new && is_mine {
                    events.push(LoggedEvent::from(event));
                }
            }
            if let Some(last) = shown.last().copied() {
                *shown = shown.split_off(&last.saturating_sub(REREAD_EVENTS));
            }
            if is_whole {
                return Ok(events);
            }
        }
    }

    /// Reports which logs could not be read to their end, and why.
    pub(crate) fn damage_reports(&self) -> Vec<String> {
        let told = |story: &ConversationHistory| {
            story.damage.as_ref().map(|damage| format!("{}: {damage}", story.lane))
        };
        self.histories.values().filter_map(told).collect()
    }
}

/// The event of a row that was projected again, without secrets, as it was stored.
fn event_of_row(lane: &LaneId, row: Row) -> Option<LoggedEvent> {
    match row.without_secrets() {
        Row::Event(row) => Some(LoggedEvent {
            lane: Some(lane.clone()),
            worker: None,
            entry: Some(row.seq),
            run: row.run,
            agent: row.agent,
            profile: row.profile,
            at: row.at,
            name: Arc::from(row.name),
            fields: row.fields,
        }),
        Row::Run(_) | Row::Trace(_) | Row::ToolResult(_) | Row::Checkpoint(_) | Row::Raw(_) => None,
    }
}

impl From<WorkerEvent> for LoggedEvent {
    fn from(event: WorkerEvent) -> Self {
        let WorkerEvent { at, worker, lane, name, fields } = event;
        let (agent, profile) = (Arc::from(""), Arc::from(""));
        let worker = Some(worker);
        Self { lane, worker, entry: None, run: None, agent, profile, at, name, fields }
    }
}

impl LoggedEvent {
    /// Returns whether the event belongs to a run.
    pub(crate) fn belongs_to(&self, run: &RunId) -> bool {
        self.run.as_ref() == Some(run)
    }

    /// Returns whether name and fields contain these texts.
    #[cfg(feature = "server")]
    pub(crate) fn matches(&self, name: Option<&str>, text: Option<&str>) -> bool {
        name.is_none_or(|name| self.name.contains(name))
            && text.is_none_or(|text| self.fields.text().contains(text))
    }

    /// Serializes the event as one JSON object.
    pub(crate) fn to_json(&self) -> anyhow::Result<String> {
        let fields: &RawValue = serde_json::from_str(self.fields.text())?;
        Ok(serde_json::to_string(&EventJson {
            at_ms: self.at.0,
            name: &self.name,
            alias: event_alias(&self.name),
            conversation: self.lane.as_ref().map(LaneId::as_str),
            run: self.run.as_ref().map(RunId::as_str),
            agent: &self.agent,
            profile: &self.profile,
            entry: self.entry,
            worker: self.worker.as_deref(),
            fields,
        })?)
    }

    /// Renders the event as one line.
    pub(crate) fn to_line(&self, style: OutputStyle) -> String {
        let ink = match &*self.name {
            "agent.tool.retry" | "agent.model.retry" | "agent.model.fell_back" => Color::Yellow,
            "agent.model.warning" | "agent_run.waiting_on_provider" => Color::Yellow,
            "agent_run.failed" | "agent_run.resume_unsafe" => Color::Red,
            "agent_run.dispatch_next_failed" => Color::Red,
            "agent_run.completed" => Color::Green,
            _ => Color::Bold,
        };
        let fields = match self.fields.text() {
            "{}" => String::new(),
            fields => to_one_line(fields, MAX_FIELD_CHARS),
        };
        let name = style.paint(ink, &format!("{:<28}", self.name));
        let location = match (&self.lane, self.entry) {
            (Some(lane), Some(entry)) => format!("{lane} [entry {entry}]"),
            (Some(lane), None) => lane.to_string(),
            (None, _) => format!("worker {}", self.worker.as_deref().unwrap_or_default()),
        };
        let location = style.paint(Color::Dim, &sanitize_line(&location));
        format!("{}  {name} {location} {fields}", time_format::format_timestamp(self.at))
            .trim_end()
            .to_owned()
    }
}
