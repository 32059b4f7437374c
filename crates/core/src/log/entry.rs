//! The log of a lane: entries in order, folded into a conversation. An entry is one line of JSON;
//! every tag has its version, and an unknown tag is an error that names it, never a guess.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::apply::{apply, has_slept};
use crate::decide::decide;
use crate::log::ids::{Seq, UnixMillis};
use crate::log::input::Input;
use crate::log::record::{Durability, Record};
use crate::message::response_envelope::ResponseEnvelope;
use crate::run::conversation::Conversation;

/// One entry of a lane's log.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Entry {
    /// Sequence number of the entry, dense from 1.
    pub seq: Seq,
    /// When the input arrived.
    pub at: UnixMillis,
    /// The input.
    pub input: Input,
    /// The records that were decided.
    pub records: Vec<Record>,
}

/// Why an entry cannot be read or folded.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LogError {
    /// The text is not JSON, or not an entry.
    #[error("entry {at} is malformed ({reason}); restore the log from a backup")]
    Malformed {
        /// Sequence number of the entry.
        at: Seq,
        /// The message of the parser.
        reason: String,
    },
    /// The entry has a tag or version that this program does not know.
    #[error(
        "entry {at} has the unknown tag {kind}; it was written by a newer version, upgrade to read it"
    )]
    UnknownTag {
        /// Sequence number of the entry.
        at: Seq,
        /// The unknown tag.
        kind: String,
    },
    /// Entries are missing or repeated.
    #[error(
        "expected entry {expected}, found {found}; the log has a gap, restore it from a backup"
    )]
    SequenceGap {
        /// The sequence number that was expected.
        expected: Seq,
        /// The sequence number that was found.
        found: Seq,
    },
    /// This version would decide differently than the log records.
    #[error("entry {at}: this version would decide differently than recorded")]
    Diverged {
        /// Sequence number of the entry.
        at: Seq,
    },
}

impl Entry {
    /// Returns the entry that follows `conversation`, including its volatile records; `None` if the
    /// input yields no record.
    #[must_use]
    pub fn decide(conversation: &Conversation, at: UnixMillis, input: Input) -> Option<Self> {
        let records = decide(conversation, at, &input);
        let seq = conversation.head.saturating_add(1);
        (!records.is_empty()).then_some(Self { seq, at, input, records })
    }

    /// Returns the part of the entry that is stored; `None` if all of it is volatile.
    #[must_use]
    pub fn to_durable(&self) -> Option<Self> {
        let stays = |record: &&Record| record.durability() != Durability::Volatile;
        let records: Vec<Record> = self.records.iter().filter(stays).cloned().collect();
        let input = || self.input.clone();
        (!records.is_empty()).then(|| Self { seq: self.seq, at: self.at, input: input(), records })
    }

    /// Returns the raw answer of a provider: to a reply, or to an attempt that failed.
    #[must_use]
    pub fn envelope(&self) -> Option<&ResponseEnvelope> {
        if let Input::ModelReplied { reply, .. } = &self.input {
            return reply.envelope.as_ref();
        }
        let Input::ModelFailed { failure, .. } = &self.input else { return None };
        failure.raw.as_ref()
    }

    /// Returns the entry without the provider's raw answer, which is kept beside the log for a
    /// limited time.
    #[must_use]
    pub fn without_envelope(&self) -> Self {
        let mut rest = self.clone();
        if let Input::ModelReplied { reply, .. } = &mut rest.input {
            *reply = Arc::new(reply.without_envelope());
        } else if let Input::ModelFailed { failure, .. } = &mut rest.input {
            failure.raw = None;
        }
        rest
    }

    /// Encodes the entry as JSON: one line, unless a value that is kept byte for byte contains line
    /// breaks.
    #[must_use]
    pub fn encode(&self) -> String {
        // Every part consists of strings, numbers and raw JSON: it always serialises.
        serde_json::to_string(self).unwrap_or_default()
    }

    /// Parses one line; `at` names it in errors.
    pub fn parse(at: Seq, line: &str) -> Result<Self, LogError> {
        serde_json::from_str(line).map_err(|error| describe_parse_error(at, &error.to_string()))
    }
}

/// Converts an error of serde, which names an unknown variant in backquotes, to an error that says
/// what to do.
fn describe_parse_error(at: Seq, reason: &str) -> LogError {
    match reason.strip_prefix("unknown variant `").and_then(|rest| rest.split('`').next()) {
        Some(kind) => LogError::UnknownTag { at, kind: kind.to_owned() },
        None => LogError::Malformed { at, reason: reason.to_owned() },
    }
}

impl Conversation {
    /// Folds one entry that was read from a log.
    pub fn fold(&mut self, entry: &Entry) -> Result<(), LogError> {
        self.check_sequence(entry)?;
        self.start_entry(entry);
        self.apply_volatile(entry);
        Ok(())
    }

    /// Checks that the entry is the next.
    pub(crate) fn check_sequence(&self, entry: &Entry) -> Result<(), LogError> {
        let expected = self.head.saturating_add(1);
        if entry.seq == expected {
            return Ok(());
        }
        Err(LogError::SequenceGap { expected, found: entry.seq })
    }

    /// Starts the entry, whose records are applied next.
    pub(crate) fn start_entry(&mut self, entry: &Entry) {
        self.head = entry.seq;
        self.count_active_time(entry.at, &entry.input, has_slept(&entry.records));
        self.at = entry.at;
    }

    /// Applies volatile records: they change what is in flight and are not stored in the log.
    pub fn apply_volatile(&mut self, entry: &Entry) {
        self.at = entry.at;
        for record in &entry.records {
            apply(self, entry.at, &entry.input, record);
        }
    }

    /// Returns the state after a crash: what the stored log folds to.
    #[must_use]
    pub fn without_volatile(&self) -> Self {
        let mut stored = self.clone();
        if let Some(run) = &mut stored.run {
            run.discard_volatile();
        }
        stored
    }

    /// Folds a whole log.
    pub fn replay<'a>(entries: impl IntoIterator<Item = &'a Entry>) -> Result<Self, LogError> {
        let mut conversation = Self::default();
        for entry in entries {
            conversation.fold(entry)?;
        }
        Ok(conversation)
    }

    /// Folds one entry, deciding its input again and comparing the records: no model calls, no
    /// tools, no cost.
    pub fn verify(&mut self, entry: &Entry) -> Result<(), LogError> {
        if matches!(entry.input, Input::OwnerChanged { .. }) {
            // The new owner knew only what the previous owner had stored.
            *self = self.without_volatile();
        }
        let decided = Entry::decide(self, entry.at, entry.input.clone());
        let same = decided.as_ref().and_then(Entry::to_durable).is_some_and(|ours| ours == *entry);
        if !same {
            return Err(LogError::Diverged { at: entry.seq });
        }
        let with_volatile = decided.unwrap_or_else(|| entry.clone());
        self.fold(&with_volatile)
    }
}
