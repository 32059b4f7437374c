//! History of a conversation: its log as far as it can be read, and iteration over its records.

use std::collections::BTreeSet;

use windlass::core::apply::apply;
use windlass::core::log::entry::{Entry, LogError};
use windlass::core::log::ids::{LaneId, RunId, Seq};
use windlass::core::log::record::Record;
use windlass::core::projection::{self, Row};
use windlass::core::run::conversation::Conversation;
use windlass::messages::{RunFacts, RunFactsBuilder};
use windlass::ports::{Store, StoreError};

use crate::messages::{MessageContext, RecordSource};

/// Entries read at once.
const PAGE_ENTRIES: usize = 1_000;

/// A conversation with the history of its log.
pub(crate) struct ConversationHistory {
    /// The lane of the conversation.
    pub(crate) lane: LaneId,
    /// Entries up to the first unreadable one.
    pub(crate) entries: Vec<Entry>,
    /// The state after these entries.
    pub(crate) conversation: Conversation,
    /// Why the log cannot be read further.
    pub(crate) damage: Option<LogError>,
}

/// A record with the state before and after it.
#[derive(Clone, Copy)]
pub(crate) struct RecordContext<'a> {
    /// The entry of the record.
    pub(crate) entry: &'a Entry,
    /// The record itself.
    pub(crate) record: &'a Record,
    /// The state before the record.
    pub(crate) before: &'a Conversation,
    /// The state after the record.
    pub(crate) after: &'a Conversation,
}

impl<'a> RecordContext<'a> {
    /// The record as messages look at it.
    pub(crate) fn message_context(&self) -> MessageContext<'a> {
        let source = RecordSource::History { before: self.before, after: self.after };
        MessageContext { entry: self.entry, record: self.record, source }
    }

    /// The run to which the record belongs.
    pub(crate) fn run(&self) -> Option<&RunId> {
        if let Record::RunFinished { run, .. } = self.record {
            return Some(run);
        }
        let active = self.after.run.as_ref().or(self.before.run.as_ref());
        active.map(|run| &run.id)
    }
}

impl ConversationHistory {
    /// The history of a conversation without entries.
    pub(crate) fn empty(lane: LaneId) -> Self {
        Self { lane, entries: Vec::new(), conversation: Conversation::default(), damage: None }
    }

    /// The history of a log that is given by its lines.
    #[cfg(test)]
    pub(crate) fn from_lines<'a>(lane: &str, lines: impl Iterator<Item = &'a str>) -> Self {
        let mut history = Self::empty(LaneId::from(lane));
        for (seq, line) in (1..).zip(lines) {
            history.push_line(seq, line).unwrap();
        }
        history
    }

    /// Reads the log of a lane. Damage ends the history; it is not an error.
    pub(crate) async fn load(store: &dyn Store, lane: LaneId) -> Result<Self, StoreError> {
        let mut history = Self::empty(lane);
        while history.damage.is_none() && history.load_more(store).await? > 0 {}
        Ok(history)
    }

    /// Reads new entries; returns how many there were.
    pub(crate) async fn load_more(&mut self, store: &dyn Store) -> Result<usize, StoreError> {
        let stored =
            store.read_log(self.lane.clone(), self.conversation.head, PAGE_ENTRIES).await?;
        let known = self.entries.len();
        for line in &stored {
            if let Err(damage) = self.push_line(line.seq, &line.line) {
                self.damage = Some(damage);
                break;
            }
        }
        Ok(self.entries.len() - known)
    }

    fn push_line(&mut self, seq: Seq, line: &str) -> Result<(), LogError> {
        let entry = Entry::parse(seq, line)?;
        self.conversation.fold(&entry)?;
        self.entries.push(entry);
        Ok(())
    }

    /// Calls `visit` for every record, with the state before and after it.
    pub(crate) fn for_each_record(&self, mut visit: impl FnMut(RecordContext<'_>)) {
        let mut before = Conversation::default();
        for entry in &self.entries {
            // Head and time belong to the entry; its records are applied one by one.
            let (seq, at, input) = (entry.seq, entry.at, entry.input.clone());
            let opening = Entry { seq, at, input, records: Vec::new() };
            if before.fold(&opening).is_err() {
                return;
            }
            for record in &entry.records {
                let mut now = before.clone();
                apply(&mut now, entry.at, &entry.input, record);
                visit(RecordContext { entry, record, before: &before, after: &now });
                before = now;
            }
        }
    }

    /// Projects the rows of the entries after `after` again.
    pub(crate) fn project_rows(&self, after: Seq) -> Vec<Row> {
        let mut before = Conversation::default();
        let mut rows = Vec::new();
        for entry in &self.entries {
            if entry.seq > after {
                rows.extend(projection::project_rows(&before, entry));
            }
            if before.fold(entry).is_err() {
                break;
            }
        }
        rows
    }

    /// What the log says about a run.
    pub(crate) fn run_facts(&self, run: &RunId) -> RunFacts {
        let mut builder = RunFactsBuilder::new(self.lane.clone(), run.clone());
        for entry in &self.entries {
            // The entries were folded when they were read.
            if builder.push(entry).is_err() {
                break;
            }
        }
        builder.finish()
    }

    /// The id of the active run, else of the last one.
    pub(crate) fn newest_run_id(&self) -> Option<RunId> {
        let active = self.conversation.run.as_ref().map(|run| run.id.clone());
        active.or_else(|| self.run_ids().pop())
    }

    /// The ids of the runs, in the order they started.
    pub(crate) fn run_ids(&self) -> Vec<RunId> {
        let mut seen = BTreeSet::new();
        let mut runs = Vec::new();
        let named =
            self.entries.iter().flat_map(|entry| &entry.records).filter_map(
                |record| match record {
                    Record::RunStarted { run } | Record::RunFinished { run, .. } => Some(run),
                    _ => None,
                },
            );
        for run in named.chain(self.conversation.prompt_queue.iter().map(|queued| &queued.run)) {
            if seen.insert(run.clone()) {
                runs.push(run.clone());
            }
        }
        runs
    }
}
