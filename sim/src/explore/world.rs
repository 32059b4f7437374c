//! One state of the explored world: the owner's memory, the disk, the mailbox, the air, the
//! onlooker's ledger and what may still happen.

use std::hash::{Hash, Hasher};
use std::sync::Arc;

use windlass_core::Conversation;
use windlass_core::ids::{CallId, MailId, Millis};
use windlass_core::input::Input;
use windlass_core::log::{Entry, Error};
use windlass_core::mail::Mail;
use windlass_core::record::{Durability, durability};

use super::bounds::Bounds;
use super::config::{Config, Owner};
use super::hash::{Wide, wide};
use super::ledger::Ledger;

/// A state.
#[derive(Debug, Clone)]
pub(crate) struct World {
    /// What the owner has in memory.
    pub(crate) live: Conversation,
    /// What a power loss could leave, oldest first; the last is what a crash leaves.
    pub(crate) disk: Vec<Arc<Stored>>,
    /// Mail that is delivered, durably, and not drained.
    pub(crate) mailbox: Vec<Mail>,
    pub(crate) ledger: Ledger,
    /// Calls in the air whose effect took place and was not reported.
    pub(crate) fired: Vec<CallId>,
    /// The reply that is streaming, if a block of it was seen.
    pub(crate) stream: Option<Stream>,
    pub(crate) owner: Owner,
    pub(crate) left: Bounds,
    pub(crate) now: Millis,
    pub(crate) mails: MailId,
    pub(crate) runs: u8,
}

/// A log as it stands on disk after one entry.
#[derive(Debug)]
pub(crate) struct Stored {
    /// What it folds to.
    pub(crate) conversation: Conversation,
    /// Mail that its last entry drained: it comes back if the entry is lost.
    pub(crate) mail: Vec<Mail>,
    pub(crate) log: Option<Arc<Line>>,
    hash: u128,
}

/// A line of the log and the ones before it.
#[derive(Debug)]
pub(crate) struct Line {
    pub(crate) entry: Entry,
    pub(crate) before: Option<Arc<Line>>,
}

/// How far a reply has streamed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Stream {
    /// Which line of the menu.
    pub(crate) line: u8,
    /// How many of its calls were seen.
    pub(crate) calls: u8,
}

impl World {
    /// An empty lane, before its settings are recorded.
    pub(crate) fn new(config: &Config) -> Self {
        let conversation = Conversation::default();
        let hash = fingerprint(&conversation);
        Self {
            live: conversation.clone(),
            disk: vec![Arc::new(Stored { conversation, mail: Vec::new(), log: None, hash })],
            mailbox: Vec::new(),
            ledger: Ledger::default(),
            fired: Vec::new(),
            stream: None,
            owner: Owner::First,
            left: config.bounds,
            now: Millis(1_000),
            mails: 0,
            runs: 0,
        }
    }

    /// What a crash of the process leaves.
    pub(crate) fn newest(&self) -> Option<&Arc<Stored>> {
        self.disk.last()
    }

    /// The log that a crash leaves, oldest first.
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

    /// The driver's rule: what is durable is stored first, then all of it is applied.
    pub(crate) fn append(&mut self, entry: &Entry) -> Result<(), Error> {
        let Some(durable) = entry.durable() else {
            self.live.take(entry);
            return Ok(());
        };
        let stored = self.stored_after(durable)?;
        if self.waits_for_disk(entry) == Durability::Barrier {
            self.disk.clear();
        }
        self.disk.push(Arc::new(stored));
        self.live.fold(entry)
    }

    /// All that is stored survives power loss from here on.
    pub(crate) fn sync(&mut self) {
        self.disk.drain(..self.disk.len().saturating_sub(1));
    }

    fn stored_after(&self, entry: Entry) -> Result<Stored, Error> {
        let before = self.newest();
        let mut conversation = before.map(|stored| stored.conversation.clone()).unwrap_or_default();
        conversation.fold(&entry)?;
        let hash = fingerprint(&conversation);
        let mail = match &entry.input {
            Input::Received { mail } => mail.clone(),
            _ => Vec::new(),
        };
        let before = before.and_then(|stored| stored.log.clone());
        Ok(Stored { conversation, mail, log: Some(Arc::new(Line { entry, before })), hash })
    }

    fn waits_for_disk(&self, entry: &Entry) -> Durability {
        let mode = self.live.settings.as_ref().map(|settings| settings.durability);
        durability(&entry.records, mode.unwrap_or_default())
    }

    /// The machine stops; the log is what `keep` of the disk's states left. Mail whose entry is
    /// lost is in the mailbox again: it was read in the entry's own transaction.
    pub(crate) fn lose_memory(&mut self, keep: usize) {
        let Some(stored) = self.disk.get(keep).cloned() else { return };
        let lost = self.disk.split_off(keep.saturating_add(1));
        let mut mailbox: Vec<Mail> = lost.iter().flat_map(|stored| stored.mail.clone()).collect();
        mailbox.append(&mut self.mailbox);
        self.mailbox = mailbox;
        self.live = stored.conversation.clone();
        self.fired.clear();
        self.stream = None;
    }

    /// What tells this state from others. Counters that nothing depends on (the length of the log,
    /// the epoch, the time of the last entry) are left out.
    pub(crate) fn key(&self) -> u128 {
        let mut hasher = Wide::new();
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
    let last_end = c.last_end.as_ref();
    let last_end = last_end.map(|end| (&end.run, end.cause, &end.also, &end.text, &end.suspect));
    let last_reply = c.last_reply.as_ref().map(|last| (last.ask, last.truncation));
    wide(&(
        (&c.prompt_hash, &c.transcript, &c.queue, &c.run),
        (last_end, last_reply, c.usage, c.asks, c.questions),
        (c.counted_to, c.counsels, c.spent, c.meter, &c.journal, &c.digest, c.journal_shown),
        (&c.grants, &c.parent, c.compaction),
    ))
}
