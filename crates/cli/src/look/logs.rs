//! Events, as they are told again by the log: what happened, and what was tried again.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde::Serialize;
use serde_json::value::RawValue;
use windlass::core::ids::{LaneId, Millis, RunId, Seq};
use windlass::core::project::{Row, alias};
use windlass::core::raw::Raw;
use windlass::ports::{
    NumberedWorkerEvent, Store, StoreError, WorkerEvent, WorkerEventPage, WorkerId,
};

use super::paper::{Ink, Paper, clean, one_line};
use super::story::Story;
use super::time;

/// Characters of an event's fields.
const FIELD_CHARS: usize = 400;

/// Events of workers looked back on, and read at once.
const WORKER_EVENTS: usize = 10_000;

/// Events of workers that are read again when following: processes that store events at the same
/// moment may become visible in another order than that of their numbers.
const READ_AGAIN: u64 = 100;

/// Runs looked back on when no conversation is named.
pub(crate) const NEWEST_RUNS: usize = 200;

/// An event and where it happened.
pub(crate) struct Event {
    lane: Option<LaneId>,
    /// The process that tells of it, if it stands in no log.
    worker: Option<WorkerId>,
    /// The entry it belongs to, if it stands in a log.
    entry: Option<Seq>,
    run: Option<RunId>,
    agent: Arc<str>,
    profile: Arc<str>,
    at: Millis,
    name: Arc<str>,
    fields: Raw,
}

#[derive(Serialize)]
struct Line<'a> {
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

/// The conversations whose events are shown, and how far each was read.
#[derive(Default)]
pub(crate) struct Reader {
    stories: BTreeMap<LaneId, Story>,
    /// The numbers of the newest events of workers that were shown already; nothing before the
    /// first look.
    shown_worker_events: Option<BTreeSet<u64>>,
}

impl Reader {
    /// Also looks at this conversation from here on.
    pub(crate) fn add(&mut self, lane: LaneId) {
        let new = || Story {
            lane: lane.clone(),
            entries: Vec::new(),
            now: windlass::core::Conversation::default(),
            damage: None,
        };
        self.stories.entry(lane.clone()).or_insert_with(new);
    }

    /// What is new in all of them, oldest first. The end of a log that cannot be read is its end.
    pub(crate) async fn read(&mut self, store: &dyn Store) -> Result<Vec<Event>, StoreError> {
        let mut events = Vec::new();
        for story in self.stories.values_mut() {
            let seen = story.now.head;
            while story.damage.is_none() && story.read_on(store).await? > 0 {}
            if story.now.head > seen {
                let rows = story.rows(seen).into_iter();
                events.extend(rows.filter_map(|row| event(&story.lane, row)));
            }
        }
        events.extend(self.read_worker_events(store).await?);
        events.sort_by_key(|event| event.at);
        Ok(events)
    }

    /// What workers told since the last look, of these conversations or of none.
    async fn read_worker_events(&mut self, store: &dyn Store) -> Result<Vec<Event>, StoreError> {
        let last = self.shown_worker_events.as_ref().map(|shown| shown.last().copied());
        let shown = self.shown_worker_events.get_or_insert_default();
        let mut page = match last {
            None => WorkerEventPage::Newest,
            Some(last) => WorkerEventPage::After(last.unwrap_or(0).saturating_sub(READ_AGAIN)),
        };
        let mut events = Vec::new();
        loop {
            let found = store.worker_events(page, WORKER_EVENTS).await?;
            let is_whole = found.len() < WORKER_EVENTS || page == WorkerEventPage::Newest;
            for NumberedWorkerEvent { no, event } in found {
                page = WorkerEventPage::After(no);
                let is_new = shown.insert(no);
                let is_mine =
                    event.lane.as_ref().is_none_or(|lane| self.stories.contains_key(lane));
                if is_new && is_mine {
                    events.push(Event::from(event));
                }
            }
            if let Some(last) = shown.last().copied() {
                *shown = shown.split_off(&last.saturating_sub(READ_AGAIN));
            }
            if is_whole {
                return Ok(events);
            }
        }
    }

    /// Which logs could not be read to their end, and why.
    pub(crate) fn damages(&self) -> Vec<String> {
        let told =
            |story: &Story| story.damage.as_ref().map(|damage| format!("{}: {damage}", story.lane));
        self.stories.values().filter_map(told).collect()
    }
}

/// Made anew from the log, it is shown as it was stored.
fn event(lane: &LaneId, row: Row) -> Option<Event> {
    match row.without_secrets() {
        Row::Event(row) => Some(Event {
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

impl From<WorkerEvent> for Event {
    fn from(event: WorkerEvent) -> Self {
        let WorkerEvent { at, worker, lane, name, fields } = event;
        let (agent, profile) = (Arc::from(""), Arc::from(""));
        let worker = Some(worker);
        Self { lane, worker, entry: None, run: None, agent, profile, at, name, fields }
    }
}

impl Event {
    /// Whether it belongs to a run.
    pub(crate) fn is_of(&self, run: &RunId) -> bool {
        self.run.as_ref() == Some(run)
    }

    /// As one JSON object.
    pub(crate) fn json(&self) -> anyhow::Result<String> {
        let fields: &RawValue = serde_json::from_str(self.fields.text())?;
        Ok(serde_json::to_string(&Line {
            at_ms: self.at.0,
            name: &self.name,
            alias: alias(&self.name),
            conversation: self.lane.as_ref().map(LaneId::as_str),
            run: self.run.as_ref().map(RunId::as_str),
            agent: &self.agent,
            profile: &self.profile,
            entry: self.entry,
            worker: self.worker.as_deref(),
            fields,
        })?)
    }

    /// As one line.
    pub(crate) fn line(&self, paper: Paper) -> String {
        let ink = match &*self.name {
            "agent.tool.retry" | "agent.model.retry" | "agent.model.fell_back" => Ink::Notable,
            "agent.model.warning" | "agent_run.waiting_on_provider" => Ink::Notable,
            "agent_run.failed" | "agent_run.resume_unsafe" => Ink::Bad,
            "agent_run.dispatch_next_failed" => Ink::Bad,
            "agent_run.completed" => Ink::Good,
            _ => Ink::Strong,
        };
        let fields = match self.fields.text() {
            "{}" => String::new(),
            fields => one_line(fields, FIELD_CHARS),
        };
        let name = paper.ink(ink, &format!("{:<28}", self.name));
        let place = match (&self.lane, self.entry) {
            (Some(lane), Some(entry)) => format!("{lane} [entry {entry}]"),
            (Some(lane), None) => lane.to_string(),
            (None, _) => format!("worker {}", self.worker.as_deref().unwrap_or_default()),
        };
        let place = paper.ink(Ink::Faint, &clean(&place));
        format!("{}  {name} {place} {fields}", time::stamp(self.at)).trim_end().to_owned()
    }
}
