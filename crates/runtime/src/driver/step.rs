//! One step: decide every input on a copy, append what is durable in one transaction, and only then
//! let the copy become the conversation and the readers see it.

use std::sync::Arc;

use windlass_core::conversation::Conversation;
use windlass_core::ids::{LaneId, MailId, Millis};
use windlass_core::input::Input;
use windlass_core::log::Entry;
use windlass_core::project::{RawRow, Row, fold_projecting};
use windlass_core::record::{Durability, Record, durability};
use windlass_core::wanted::wanted;

use super::letters::{Applied, recalls};
use super::{DriveError, Driver, fault};
use crate::feed::Item;
use crate::keeping::KeepRaw;
use crate::ports::{Append, EncodedEntry, Letter, Scene};
use crate::telemetry;

/// A step in the making. Boxed, because a future keeps room for every place that it passes through.
pub(super) struct Draft {
    pub(super) conversation: Conversation,
    entries: Vec<Arc<Entry>>,
    items: Vec<Item>,
    rows: Vec<Row>,
    mail_read: Vec<MailId>,
    mail_out: Vec<(LaneId, Letter)>,
}

impl Driver {
    pub(super) async fn step(&mut self, inputs: Vec<Input>) -> Result<(), DriveError> {
        let inputs = self.with_spending(inputs).await?;
        let mut draft = Draft::of(&self.conversation);
        self.decide(&mut draft, inputs)?;
        self.settle(draft).await
    }

    /// Goes on with the step that `draft` is.
    pub(super) fn decide(
        &mut self,
        draft: &mut Draft,
        inputs: Vec<Input>,
    ) -> Result<(), DriveError> {
        for input in inputs {
            // A clock that goes backwards must not undo what was recorded.
            let at = self.now().max(draft.conversation.at);
            if let Some(entry) = Entry::decide(&draft.conversation, at, input) {
                draft.take(&self.lane, &entry)?;
            }
        }
        Ok(())
    }

    pub(super) async fn settle(&mut self, mut draft: Box<Draft>) -> Result<(), DriveError> {
        if !draft.entries.is_empty() {
            self.append(&mut draft).await?;
        }
        let items = self.accept(*draft);
        self.publish(items).await;
        Ok(())
    }

    /// Lets the draft become the conversation; what readers are to see is left.
    fn accept(&mut self, draft: Draft) -> Vec<Item> {
        self.conversation = draft.conversation;
        self.notify(&draft.entries);
        draft.items
    }

    /// Tells hooks that a human is asked. Nobody waits for them.
    fn notify(&self, entries: &[Arc<Entry>]) {
        for record in entries.iter().flat_map(|entry| &entry.records) {
            let Record::Questioned { question } = record else { continue };
            let (hooks, clock) = (Arc::clone(&self.ports.hooks), Arc::clone(&self.ports.clock));
            let limit = self.settings.limits.hook_ms;
            let conversation = self.conversation.clone();
            let (scene, question) =
                (Scene { lane: self.lane.clone(), conversation }, question.clone());
            self.notifications.spawn(async move {
                tokio::select! {
                    () = hooks.notified(scene, question) => {}
                    () = clock.sleep(limit) => {}
                }
            });
        }
    }

    async fn append(&mut self, draft: &mut Draft) -> Result<(), DriveError> {
        let mode = self.settings.durability;
        let durability = draft.entries.iter().map(|entry| durability(&entry.records, mode)).max();
        let rows = self.rows_of(draft);
        let events = telemetry::events(&rows);
        let append = Append {
            entries: draft.entries.iter().map(|entry| encode(entry)).collect(),
            mail_read: std::mem::take(&mut draft.mail_read),
            mail_out: draft.mail_out.clone(),
            rows,
            durability: durability.unwrap_or(Durability::Commit),
            spending: self.spending_change(&draft.conversation, draft.conversation.at),
            ..self.empty_append(&draft.conversation)
        };
        let lapses = self.lease.lapses();
        self.ports.store.append(append).await?;
        self.ours_since = lapses;
        self.counted = draft.conversation.committed();
        draft.mail_out.iter().for_each(|(to, _)| self.post(to));
        telemetry::tell(&self.lane, &events);
        Ok(())
    }

    /// An append that brings nothing, after which the lane stands as `after` says.
    pub(super) fn empty_append(&self, after: &Conversation) -> Append {
        Append {
            lane: self.lane.clone(),
            owner: Arc::clone(&self.lease.worker),
            epoch: self.epoch,
            head: self.conversation.head,
            entries: Vec::new(),
            mail_read: Vec::new(),
            mail_out: Vec::new(),
            rows: Vec::new(),
            wake_at: wake_at(after),
            active_run: after.run.as_ref().map(|run| run.id.clone()),
            durability: Durability::Commit,
            spending: None,
        }
    }

    /// The rows to be stored. What a provider said besides its reply becomes one of them: it is not
    /// kept for as long as the log.
    fn rows_of(&self, draft: &mut Draft) -> Vec<Row> {
        let mut rows = std::mem::take(&mut draft.rows);
        if self.keep_raw == KeepRaw::Yes {
            // A reply that ended its run belongs to it all the same.
            let run = draft.conversation.run.as_ref().or(self.conversation.run.as_ref());
            let run = run.map(|run| &run.id);
            let raw = |entry: &Arc<Entry>| {
                let (body, run) = (entry.envelope()?.clone(), run.cloned());
                Some(Row::Raw(RawRow { run, seq: entry.seq, at: entry.at, body }))
            };
            rows.extend(draft.entries.iter().filter_map(raw));
        }
        rows.into_iter().map(Row::without_secrets).collect()
    }

    /// Tells the readers. Only the owner of the run can make it wait.
    async fn publish(&mut self, items: Vec<Item>) {
        for item in items {
            self.feed.publish(&item);
            if let Some(owner) = &self.owner {
                // An owner that left is noticed where the driver waits.
                let _ = owner.item(item).await;
            }
        }
    }
}

impl Draft {
    pub(super) fn of(conversation: &Conversation) -> Box<Self> {
        Box::new(Self {
            conversation: conversation.clone(),
            entries: Vec::new(),
            items: Vec::new(),
            rows: Vec::new(),
            mail_read: Vec::new(),
            mail_out: Vec::new(),
        })
    }

    fn take(&mut self, lane: &LaneId, entry: &Entry) -> Result<(), DriveError> {
        let Some(durable) = fault::durable(entry) else {
            self.conversation.take(entry);
            return Ok(());
        };
        let ends = durable.ends(&self.conversation);
        if let Input::Received { mail } = &entry.input {
            self.mail_read.extend(mail.iter().map(|mail| mail.id));
        }
        self.mail_out.extend(recalls(lane, &self.conversation, &durable));
        // Rows show what is in the air too, so they see the volatile records.
        self.rows.extend(fold_projecting(&mut self.conversation, entry)?);
        let applied = Applied { lane, after: &self.conversation, ends: &ends };
        self.mail_out.extend(applied.letters(&durable));
        let durable = Arc::new(durable);
        self.items.push(Item::Entry(Arc::clone(&durable)));
        self.items.extend(ends.into_iter().map(|end| Item::Ended(Arc::new(end))));
        self.entries.push(durable);
        Ok(())
    }
}

/// When the lane wants to be looked at although nothing arrives: at once, if something is to be in
/// the air and nobody is there to see to it.
fn wake_at(conversation: &Conversation) -> Option<Millis> {
    let wanted = wanted(conversation);
    if wanted.effects.is_empty() { wanted.wake_at } else { Some(Millis(0)) }
}

fn encode(entry: &Entry) -> EncodedEntry {
    let line = match entry.envelope() {
        Some(_) => entry.without_envelope().encode(),
        None => entry.encode(),
    };
    EncodedEntry { seq: entry.seq, at: entry.at, line: Arc::from(line) }
}
