//! Events, as they are told again by the log: what happened, and what was tried again.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::value::RawValue;
use windlass::core::ids::{LaneId, RunId, Seq};
use windlass::core::project::{EventRow, Row, alias};
use windlass::ports::{Store, StoreError};

use super::paper::{Ink, Paper, one_line};
use super::story::Story;
use super::time;

/// Characters of an event's fields.
const FIELD_CHARS: usize = 400;

/// Runs looked back on when no conversation is named.
pub(crate) const NEWEST_RUNS: usize = 200;

/// An event and where it happened.
pub(crate) struct Event {
    lane: LaneId,
    row: EventRow,
}

#[derive(Serialize)]
struct Line<'a> {
    at_ms: u64,
    name: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    alias: Option<&'a str>,
    conversation: &'a str,
    run: Option<&'a str>,
    entry: Seq,
    fields: &'a RawValue,
}

/// The conversations whose events are shown, and how far each was read.
#[derive(Default)]
pub(crate) struct Reader {
    stories: BTreeMap<LaneId, Story>,
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
        events.sort_by_key(|event| event.row.at);
        Ok(events)
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
        Row::Event(row) => Some(Event { lane: lane.clone(), row }),
        Row::Run(_) | Row::Trace(_) | Row::ToolResult(_) | Row::Checkpoint(_) | Row::Raw(_) => None,
    }
}

impl Event {
    /// Whether it belongs to a run.
    pub(crate) fn is_of(&self, run: &RunId) -> bool {
        self.row.run.as_ref() == Some(run)
    }

    /// As one JSON object.
    pub(crate) fn json(&self) -> anyhow::Result<String> {
        let fields: &RawValue = serde_json::from_str(self.row.fields.text())?;
        Ok(serde_json::to_string(&Line {
            at_ms: self.row.at.0,
            name: self.row.name,
            alias: alias(self.row.name),
            conversation: self.lane.as_str(),
            run: self.row.run.as_ref().map(RunId::as_str),
            entry: self.row.seq,
            fields,
        })?)
    }

    /// As one line.
    pub(crate) fn line(&self, paper: Paper) -> String {
        let row = &self.row;
        let ink = match row.name {
            "agent.tool.retry" | "agent.model.retry" | "agent.model.fell_back" => Ink::Notable,
            "agent.model.warning" | "agent_run.waiting_on_provider" => Ink::Notable,
            "agent_run.failed" | "agent_run.resume_unsafe" => Ink::Bad,
            "agent_run.completed" => Ink::Good,
            _ => Ink::Strong,
        };
        let fields = match row.fields.text() {
            "{}" => String::new(),
            fields => one_line(fields, FIELD_CHARS),
        };
        let name = paper.ink(ink, &format!("{:<28}", row.name));
        let place = paper.ink(Ink::Faint, &format!("{} [entry {}]", self.lane, row.seq));
        format!("{}  {name} {place} {fields}", time::stamp(row.at)).trim_end().to_owned()
    }
}
