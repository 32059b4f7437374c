//! One state of the explored world: the owner's memory, the disk, the inbox, the effects in flight,
//! the observer's ledger and the remaining choices.

use std::hash::{Hash, Hasher};
use std::sync::Arc;

use windlass_core::Conversation;
use windlass_core::log::entry::{Entry, LogError};
use windlass_core::log::ids::{CallId, InboxMessageId, UnixMillis};
use windlass_core::log::inbox::InboxMessage;
use windlass_core::log::input::Input;
use windlass_core::log::record::{Durability, entry_durability};

use super::bounds::RemainingChoices;
use super::config::{ExplorerConfig, OwnerChoice};
use super::hash::{WideHasher, wide};
use super::ledger::Ledger;

/// A state of the explored world.
#[derive(Debug, Clone)]
pub(crate) struct ExploredState {
    /// What the owner has in memory.
    pub(crate) live: Conversation,
    /// What a power loss could leave, oldest first; the last is what a crash leaves.
    pub(crate) disk: Vec<Arc<StoredLog>>,
    /// Commands that are delivered, durably, and not read.
    pub(crate) mailbox: Vec<InboxMessage>,
    pub(crate) ledger: Ledger,
    /// Calls in flight whose effect took place and was not reported.
    pub(crate) fired: Vec<CallId>,
    /// The reply that is streaming, if a block of it was seen.
    pub(crate) stream: Option<StreamProgress>,
    pub(crate) owner: OwnerChoice,
    pub(crate) left: RemainingChoices,
    pub(crate) now: UnixMillis,
    pub(crate) mails: InboxMessageId,
    pub(crate) runs: u8,
}

/// A log as it is stored on disk after one entry.
#[derive(Debug)]
pub(crate) struct StoredLog {
    /// The conversation that the log folds to.
    pub(crate) conversation: Conversation,
    /// Commands that its last entry read: they return to the inbox if the entry is lost.
    pub(crate) mail: Vec<InboxMessage>,
    pub(crate) log: Option<Arc<LogLine>>,
    hash: u128,
}

/// A line of the log and the ones before it.
#[derive(Debug)]
pub(crate) struct LogLine {
    pub(crate) entry: Entry,
    pub(crate) before: Option<Arc<LogLine>>,
}

/// How far a reply has streamed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct StreamProgress {
    /// Index of the reply among the choices.
    pub(crate) line: u8,
    /// How many of its calls were seen.
    pub(crate) calls: u8,
}

impl ExploredState {
    /// Returns an empty lane, before its settings are recorded.
    pub(crate) fn new(config: &ExplorerConfig) -> Self {
        let conversation = Conversation::default();
        let hash = fingerprint(&conversation);
        Self {
            live: conversation.clone(),
            disk: vec![Arc::new(StoredLog { conversation, mail: Vec::new(), log: None, hash })],
            mailbox: Vec::new(),
            ledger: Ledger::default(),
            fired: Vec::new(),
            stream: None,
            owner: OwnerChoice::First,
            left: config.bounds,
            now: UnixMillis(1_000),
            mails: 0,
            runs: 0,
        }
    }

    /// Returns what a crash of the process leaves.
    pub(crate) fn newest(&self) -> Option<&Arc<StoredLog>> {
        self.disk.last()
    }

    /// Returns the log that a crash leaves, oldest first.
    pub(crate) fn log(&self) -> Vec<Entry> {
        let mut entries = Vec::new();
        let mut line = self.newest().and_then(|stored| stored.log.clone());
        while let Some(this) = line {
            entries.push(this.entry.clone());
            line = this.before.clone();
        }
        entries.reverse();
        entries
    }

    /// Appends an entry by the driver's rule: what is durable is stored first, then all of it is
    /// applied.
    pub(crate) fn append(&mut self, entry: &Entry) -> Result<(), LogError> {
        let Some(durable) = entry.to_durable() else {
            self.live.apply_volatile(entry);
            return Ok(());
        };
        let stored = self.stored_after(durable)?;
        if self.waits_for_disk(entry) == Durability::Barrier {
            self.disk.clear();
        }
        self.disk.push(Arc::new(stored));
        self.live.fold(entry)
    }

    /// Everything stored survives power loss from here on.
    pub(crate) fn sync(&mut self) {
        self.disk.drain(..self.disk.len().saturating_sub(1));
    }

    fn stored_after(&self, entry: Entry) -> Result<StoredLog, LogError> {
        let before = self.newest();
        let mut conversation = before.map(|stored| stored.conversation.clone()).unwrap_or_default();
        conversation.fold(&entry)?;
        let hash = fingerprint(&conversation);
        let mail = match &entry.input {
            Input::CommandsReceived { messages } => messages.clone(),
            _ => Vec::new(),
        };
        let before = before.and_then(|stored| stored.log.clone());
        Ok(StoredLog { conversation, mail, log: Some(Arc::new(LogLine { entry, before })), hash })
    }

    fn waits_for_disk(&self, entry: &Entry) -> Durability {
        let mode = self.live.settings.as_ref().map(|settings| settings.durability);
        entry_durability(&entry.records, mode.unwrap_or_default())
    }

    /// The machine stops; the log is what `keep` of the disk's states left. Commands whose entry is
    /// lost are in the inbox again: they were read in the entry's own transaction.
    pub(crate) fn lose_memory(&mut self, keep: usize) {
        let Some(stored) = self.disk.get(keep).cloned() else { return };
        let lost = self.disk.split_off(keep.saturating_add(1));
        let mut mailbox: Vec<InboxMessage> =
            lost.iter().flat_map(|stored| stored.mail.clone()).collect();
        mailbox.append(&mut self.mailbox);
        self.mailbox = mailbox;
        self.live = stored.conversation.clone();
        self.fired.clear();
        self.stream = None;
    }

    /// Returns the hash that tells this state from others. Counters that nothing depends on (the
    /// length of the log, the epoch, the time of the last entry) are left out.
    pub(crate) fn key(&self) -> u128 {
        let mut hasher = WideHasher::new();
        fingerprint(&self.live).hash(&mut hasher);
        for stored in &self.disk {
            stored.hash.hash(&mut hasher);
            hasher.write_usize(stored.mail.len());
        }
        self.mailbox.hash(&mut hasher);
        self.ledger.hash(&mut hasher);
        self.fired.hash(&mut hasher);
        self.stream.hash(&mut hasher);
        (self.owner, self.left, self.now, self.mails, self.runs).hash(&mut hasher);
        hasher.both()
    }
}

fn fingerprint(c: &Conversation) -> u128 {
    let last_end = c.last_run_end.as_ref();
    let last_end = last_end
        .map(|end| (&end.run, end.cause, &end.other_causes, &end.text, &end.suspect_reason));
    let last_reply = c.last_reply.as_ref().map(|last| (last.model_call, last.truncation));
    wide(&(
        (&c.prompt_hash, &c.transcript, &c.prompt_queue, &c.run),
        (last_end, last_reply, c.usage, c.model_call_count, c.question_count),
        (
            c.active_time_counted_to,
            c.review_count,
            c.spent,
            c.meter,
            &c.journal,
            &c.journal_digest,
            c.shown_journal_version,
        ),
        (&c.grants, &c.parent, c.compaction_request),
        (&c.session_permissions, &c.model_override),
    ))
}
