//! A lane's log, read and folded step by step.

use windlass_core::conversation::Conversation;
use windlass_core::ids::{LaneId, Millis};
use windlass_core::input::Input;
use windlass_core::log::{Entry, Error};
use windlass_core::record::Record;

use crate::world::evidence::LaneEvidence;

/// A lane's log with the state before and after every entry.
pub(crate) struct History<'a> {
    pub(crate) evidence: &'a LaneEvidence,
    pub(crate) steps: Vec<Step>,
}

/// One entry.
pub(crate) struct Step {
    pub(crate) before: Conversation,
    pub(crate) entry: Entry,
    pub(crate) after: Conversation,
}

impl<'a> History<'a> {
    /// Fails on lines that are no entries, on gaps, and on entries stored at another's place.
    pub(crate) fn of(evidence: &'a LaneEvidence) -> Result<Self, Error> {
        let mut now = Conversation::default();
        let mut steps = Vec::with_capacity(evidence.lines.len());
        for stored in &evidence.lines {
            let entry = Entry::parse(stored.seq, &stored.line)?;
            if entry.seq != stored.seq {
                return Err(Error::Gap { expected: stored.seq, found: entry.seq });
            }
            let before = now.clone();
            now.fold(&entry)?;
            steps.push(Step { before, entry, after: now.clone() });
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
    pub(crate) fn records(&self) -> impl Iterator<Item = (&Step, &Record)> {
        self.steps
            .iter()
            .flat_map(|step| step.entry.records.iter().map(move |record| (step, record)))
    }

    /// How often a record was made.
    pub(crate) fn count(&self, wanted: impl Fn(&Record) -> bool) -> usize {
        self.records().filter(|(_, record)| wanted(record)).count()
    }
}

impl Step {
    pub(crate) fn at(&self) -> Millis {
        self.entry.at
    }

    pub(crate) fn input(&self) -> &Input {
        &self.entry.input
    }
}
