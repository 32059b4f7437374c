//! A log, read as far as it can be read, and the walks through it.

use std::collections::BTreeSet;

use windlass::core::apply::apply;
use windlass::core::conversation::Conversation;
use windlass::core::ids::{LaneId, RunId, Seq};
use windlass::core::log::{self, Entry};
use windlass::core::project::{self, Row};
use windlass::core::record::Record;
use windlass::ports::{Store, StoreError};

/// Entries read at once.
const PAGE: usize = 1_000;

/// A conversation as its log tells it.
pub(crate) struct Story {
    /// Which.
    pub(crate) lane: LaneId,
    /// Its entries, up to the first that cannot be read.
    pub(crate) entries: Vec<Entry>,
    /// How things stand after them.
    pub(crate) now: Conversation,
    /// Why it cannot be read on.
    pub(crate) damage: Option<log::Error>,
}

/// One record in its place.
#[derive(Clone, Copy)]
pub(crate) struct Moment<'a> {
    /// The entry it belongs to.
    pub(crate) entry: &'a Entry,
    /// The record.
    pub(crate) record: &'a Record,
    /// How things stood without it.
    pub(crate) before: &'a Conversation,
    /// How they stand with it.
    pub(crate) now: &'a Conversation,
}

impl Moment<'_> {
    /// The run it belongs to.
    pub(crate) fn run(&self) -> Option<&RunId> {
        if let Record::Finished { run, .. } = self.record {
            return Some(run);
        }
        let active = self.now.run.as_ref().or(self.before.run.as_ref());
        active.map(|run| &run.id)
    }
}

impl Story {
    /// A conversation in which nothing was said yet.
    pub(crate) fn untold(lane: LaneId) -> Self {
        Self { lane, entries: Vec::new(), now: Conversation::default(), damage: None }
    }

    /// Reads the log of a lane. Damage ends the story; it is no error.
    pub(crate) async fn read(store: &dyn Store, lane: LaneId) -> Result<Self, StoreError> {
        let mut story = Self::untold(lane);
        while story.damage.is_none() && story.read_on(store).await? > 0 {}
        Ok(story)
    }

    /// Reads what has come since; gives how many entries that were.
    pub(crate) async fn read_on(&mut self, store: &dyn Store) -> Result<usize, StoreError> {
        let stored = store.read_log(self.lane.clone(), self.now.head, PAGE).await?;
        let known = self.entries.len();
        for line in &stored {
            if let Err(damage) = self.take(line.seq, &line.line) {
                self.damage = Some(damage);
                break;
            }
        }
        Ok(self.entries.len() - known)
    }

    fn take(&mut self, seq: Seq, line: &str) -> Result<(), log::Error> {
        let entry = Entry::parse(seq, line)?;
        self.now.fold(&entry)?;
        self.entries.push(entry);
        Ok(())
    }

    /// Shows every record in its place.
    pub(crate) fn walk(&self, mut visit: impl FnMut(Moment<'_>)) {
        let mut before = Conversation::default();
        for entry in &self.entries {
            // Head and time belong to the entry; its records follow one by one.
            let (seq, at, input) = (entry.seq, entry.at, entry.input.clone());
            let opening = Entry { seq, at, input, records: Vec::new() };
            if before.fold(&opening).is_err() {
                return;
            }
            for record in &entry.records {
                let mut now = before.clone();
                apply(&mut now, entry.at, &entry.input, record);
                visit(Moment { entry, record, before: &before, now: &now });
                before = now;
            }
        }
    }

    /// The rows that belong to the entries after `after`, made again.
    pub(crate) fn rows(&self, after: Seq) -> Vec<Row> {
        let mut before = Conversation::default();
        let mut rows = Vec::new();
        for entry in &self.entries {
            if entry.seq > after {
                rows.extend(project::project(&before, entry));
            }
            if before.fold(entry).is_err() {
                break;
            }
        }
        rows
    }

    /// The runs in it, in the order they began.
    pub(crate) fn runs(&self) -> Vec<RunId> {
        let mut seen = BTreeSet::new();
        let mut runs = Vec::new();
        let named =
            self.entries.iter().flat_map(|entry| &entry.records).filter_map(
                |record| match record {
                    Record::RunStarted { run } | Record::Finished { run, .. } => Some(run),
                    _ => None,
                },
            );
        for run in named.chain(self.now.queue.iter().map(|queued| &queued.run)) {
            if seen.insert(run.clone()) {
                runs.push(run.clone());
            }
        }
        runs
    }
}
