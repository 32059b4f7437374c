//! A lane's log, read and folded step by step.

use windlass_core::log::entry::{Entry, LogError};
use windlass_core::log::ids::{LaneId, UnixMillis};
use windlass_core::log::input::Input;
use windlass_core::log::record::Record;
use windlass_core::run::conversation::Conversation;

use crate::world::evidence::LaneEvidence;

/// A lane's log with the state before and after every entry.
pub(crate) struct LaneHistory<'a> {
    pub(crate) evidence: &'a LaneEvidence,
    pub(crate) steps: Vec<HistoryStep>,
}

/// One entry.
pub(crate) struct HistoryStep {
    pub(crate) before: Conversation,
    pub(crate) entry: Entry,
    pub(crate) after: Conversation,
}

impl<'a> LaneHistory<'a> {
    /// Folds the log. Fails on lines that are not entries, on gaps, and on entries stored at the
    /// wrong sequence number.
    pub(crate) fn of(evidence: &'a LaneEvidence) -> Result<Self, LogError> {
        let mut now = Conversation::default();
        let mut steps = Vec::with_capacity(evidence.lines.len());
        for stored in &evidence.lines {
            let entry = Entry::parse(stored.seq, &stored.line)?;
            if entry.seq != stored.seq {
                return Err(LogError::SequenceGap { expected: stored.seq, found: entry.seq });
            }
            let before = now.clone();
            now.fold(&entry)?;
            steps.push(HistoryStep { before, entry, after: now.clone() });
        }
        Ok(Self { evidence, steps })
    }

    pub(crate) fn lane(&self) -> &LaneId {
        &self.evidence.lane
    }

    pub(crate) fn end(&self) -> Conversation {
        self.steps.last().map(|step| step.after.clone()).unwrap_or_default()
    }

    /// Every record with the step it belongs to.
    pub(crate) fn records(&self) -> impl Iterator<Item = (&HistoryStep, &Record)> {
        self.steps
            .iter()
            .flat_map(|step| step.entry.records.iter().map(move |record| (step, record)))
    }

    /// How often a record was made.
    pub(crate) fn count(&self, wanted: impl Fn(&Record) -> bool) -> usize {
        self.records().filter(|(_, record)| wanted(record)).count()
    }
}

impl HistoryStep {
    pub(crate) fn at(&self) -> UnixMillis {
        self.entry.at
    }

    pub(crate) fn input(&self) -> &Input {
        &self.entry.input
    }
}
