//! The log of a lane: entries in order, folded into a conversation. An entry is one line of JSON;
//! every tag carries its version, and what this version does not know is named, never guessed.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::apply::{Worked, apply};
use crate::conversation::{Conversation, Ended};
use crate::decide::decide;
use crate::ids::{Millis, Seq};
use crate::input::Input;
use crate::raw::Raw;
use crate::record::{Durability, Record};

/// One step of a lane.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Entry {
    /// Its place, dense from 1.
    pub seq: Seq,
    /// When it happened.
    pub at: Millis,
    /// What happened.
    pub input: Input,
    /// What was settled.
    pub records: Vec<Record>,
}

/// Why an entry cannot be read or folded.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// It is not JSON, or not an entry.
    #[error("entry {at}: malformed ({reason}); restore the log from a copy")]
    Malformed {
        /// Where it stands.
        at: Seq,
        /// What the parser said.
        reason: String,
    },
    /// It holds a kind or version this program does not know.
    #[error(
        "entry {at}: unknown kind {kind}; it was written by a newer version, upgrade to read it"
    )]
    Unknown {
        /// Where it stands.
        at: Seq,
        /// The tag.
        kind: String,
    },
    /// Entries are missing or doubled.
    #[error("entry {found} where {expected} was due; the log has a gap, restore it from a copy")]
    Gap {
        /// The sequence number due.
        expected: Seq,
        /// The one found.
        found: Seq,
    },
    /// The same version decides otherwise than the log says.
    #[error("entry {at}: this version decides differently than the log records")]
    Diverged {
        /// Where.
        at: Seq,
    },
}

impl Entry {
    /// The entry that would follow `conversation`, with its volatile records still in it; `None`
    /// if the input settles nothing.
    #[must_use]
    pub fn decide(conversation: &Conversation, at: Millis, input: Input) -> Option<Self> {
        let records = decide(conversation, at, &input);
        let seq = conversation.head.saturating_add(1);
        (!records.is_empty()).then_some(Self { seq, at, input, records })
    }

    /// What of it is stored: `None` if all of it is volatile.
    #[must_use]
    pub fn durable(&self) -> Option<Self> {
        let stays = |record: &&Record| record.durability() != Durability::Volatile;
        let records: Vec<Record> = self.records.iter().filter(stays).cloned().collect();
        let input = || self.input.clone();
        (!records.is_empty()).then(|| Self { seq: self.seq, at: self.at, input: input(), records })
    }

    /// The runs that end with it, given what it follows. There can be two: a prompt that waited may
    /// be over as soon as it begins.
    #[must_use]
    pub fn ends(&self, before: &Conversation) -> Vec<Ended> {
        let finishes = |record: &Record| matches!(record, Record::Finished { .. });
        if !self.records.iter().any(finishes) {
            return Vec::new();
        }
        let mut now = before.clone();
        now.count_time(self.at, &self.input, Worked::before(&self.records));
        let mut ends = Vec::new();
        for record in &self.records {
            apply(&mut now, self.at, &self.input, record);
            if finishes(record) {
                ends.extend(now.last_end.clone());
            }
        }
        ends
    }

    /// The answer of a provider as it came: to a reply, or to an attempt that failed.
    #[must_use]
    pub fn envelope(&self) -> Option<&Raw> {
        if let Input::Replied { reply, .. } = &self.input {
            return reply.envelope.as_ref();
        }
        let Input::ModelFailed { failure, .. } = &self.input else { return None };
        failure.raw.as_ref()
    }

    /// The same without that: it is kept beside the log, and not for ever.
    #[must_use]
    pub fn without_envelope(&self) -> Self {
        let mut rest = self.clone();
        if let Input::Replied { reply, .. } = &mut rest.input {
            *reply = Arc::new(reply.without_envelope());
        } else if let Input::ModelFailed { failure, .. } = &mut rest.input {
            failure.raw = None;
        }
        rest
    }

    /// As JSON: one line, unless a value that is kept byte for byte has line breaks of its own.
    #[must_use]
    pub fn encode(&self) -> String {
        // Every part is made of strings, numbers and raw JSON: it always serialises.
        serde_json::to_string(self).unwrap_or_default()
    }

    /// Reads one line; `at` names it in errors.
    pub fn parse(at: Seq, line: &str) -> Result<Self, Error> {
        serde_json::from_str(line).map_err(|error| explain(at, &error.to_string()))
    }
}

/// serde names the unknown variant in backquotes; we turn that into the reader's next step.
fn explain(at: Seq, reason: &str) -> Error {
    match reason.strip_prefix("unknown variant `").and_then(|rest| rest.split('`').next()) {
        Some(kind) => Error::Unknown { at, kind: kind.to_owned() },
        None => Error::Malformed { at, reason: reason.to_owned() },
    }
}

impl Conversation {
    /// Folds one entry that was read from a log.
    pub fn fold(&mut self, entry: &Entry) -> Result<(), Error> {
        self.expects(entry)?;
        self.begin(entry);
        self.take(entry);
        Ok(())
    }

    /// Whether the entry is the next.
    pub(crate) fn expects(&self, entry: &Entry) -> Result<(), Error> {
        let expected = self.head.saturating_add(1);
        if entry.seq == expected {
            return Ok(());
        }
        Err(Error::Gap { expected, found: entry.seq })
    }

    /// Moves on to the entry, whose records are applied next.
    pub(crate) fn begin(&mut self, entry: &Entry) {
        self.head = entry.seq;
        self.count_time(entry.at, &entry.input, Worked::before(&entry.records));
        self.at = entry.at;
    }

    /// Applies volatile records: they change what is in the air and leave the log as it is.
    pub fn take(&mut self, entry: &Entry) {
        self.at = entry.at;
        for record in &entry.records {
            apply(self, entry.at, &entry.input, record);
        }
    }

    /// What a crash leaves: this state as its stored log folds to.
    #[must_use]
    pub fn without_volatile(&self) -> Self {
        let mut stored = self.clone();
        if let Some(run) = &mut stored.run {
            run.forget_volatile();
        }
        stored
    }

    /// Folds a whole log.
    pub fn replay<'a>(entries: impl IntoIterator<Item = &'a Entry>) -> Result<Self, Error> {
        let mut conversation = Self::default();
        for entry in entries {
            conversation.fold(entry)?;
        }
        Ok(conversation)
    }

    /// Folds one entry, deciding its input again and comparing: no model, no tools, no money.
    pub fn verify(&mut self, entry: &Entry) -> Result<(), Error> {
        if matches!(entry.input, Input::Adopted { .. }) {
            // Its owner knew only what the one before had stored.
            *self = self.without_volatile();
        }
        let decided = Entry::decide(self, entry.at, entry.input.clone());
        let same = decided.as_ref().and_then(Entry::durable).is_some_and(|ours| ours == *entry);
        if !same {
            return Err(Error::Diverged { at: entry.seq });
        }
        let with_volatile = decided.unwrap_or_else(|| entry.clone());
        self.fold(&with_volatile)
    }
}
