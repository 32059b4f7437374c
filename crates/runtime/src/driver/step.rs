//! One step: decide every input on a copy, append what is durable in one transaction, and only then
//! replace the conversation by the copy and publish to the readers.

use std::sync::Arc;

use windlass_core::log::entry::Entry;
use windlass_core::log::ids::{InboxMessageId, LaneId, UnixMillis};
use windlass_core::log::input::Input;
use windlass_core::log::record::{Durability, entry_durability};
use windlass_core::message::response_envelope::ResponseEnvelope;
use windlass_core::projection::{ProjectedEntry, RawRow, Row, fold_and_project};
use windlass_core::run::active_run::RunPhase;
use windlass_core::run::conversation::Conversation;
use windlass_core::run::wanted::wanted;

use super::changed_inputs::assess_changed_inputs;
use super::outbox::{AppliedEntry, cancel_messages, spawning_calls};
use super::{DriveError, Driver, fault_injection};
use crate::feed::StreamItem;
use crate::ports::{AppendRequest, EncodedEntry, OutboxMessage};
use crate::telemetry;

/// A step in preparation. Boxed, because a future takes space for every place that it passes
/// through.
pub(super) struct StepDraft {
    pub(super) conversation: Conversation,
    entries: Vec<Arc<Entry>>,
    items: Vec<StreamItem>,
    rows: Vec<Row>,
    messages_read: Vec<InboxMessageId>,
    outbox: Vec<(LaneId, OutboxMessage)>,
}

impl Driver {
    pub(super) async fn run_step(&mut self, inputs: Vec<Input>) -> Result<(), DriveError> {
        let inputs = self.with_shared_spending(inputs).await?;
        let inputs = self.with_summary_charges(inputs)?;
        let mut draft = StepDraft::new(&self.conversation);
        self.decide_inputs(&mut draft, inputs)?;
        self.commit_draft(draft).await
    }

    /// Returns the tools that servers offer now, if they are others than those of the active run and
    /// no model call is in flight.
    fn changed_server_tools(&self, conversation: &Conversation) -> Option<Input> {
        let run = conversation.run.as_ref().filter(|_| self.ports.tools.has_source())?;
        let owner = conversation.run_owner.as_ref()?;
        if matches!(run.phase, RunPhase::CallingModel(_)) {
            return None;
        }
        let tools = self.ports.tools.server_tools();
        (!owner.server_tools().eq(&tools)).then_some(Input::ServerToolsOffered { tools })
    }

    /// Returns the conversation as it would be after these inputs.
    pub(super) fn preview_inputs(
        &mut self,
        inputs: Vec<Input>,
    ) -> Result<Conversation, DriveError> {
        let mut draft = StepDraft::new(&self.conversation);
        self.decide_inputs(&mut draft, inputs)?;
        Ok(draft.conversation)
    }

    /// Decides more inputs on the step that `draft` is.
    pub(super) fn decide_inputs(
        &mut self,
        draft: &mut StepDraft,
        inputs: Vec<Input>,
    ) -> Result<(), DriveError> {
        for input in inputs {
            if let Some(offer) = self.changed_server_tools(&draft.conversation) {
                self.decide_input(draft, offer)?;
            }
            self.decide_input(draft, input)?;
        }
        Ok(())
    }

    fn decide_input(&mut self, draft: &mut StepDraft, input: Input) -> Result<(), DriveError> {
        // A clock that goes backwards must not precede what was recorded.
        let at = self.now().max(draft.conversation.at);
        let input = without_known_context(&draft.conversation, input);
        let tools = &self.ports.tools;
        let input = assess_changed_inputs(&draft.conversation, &self.lane, tools, input);
        if let Some(entry) = Entry::decide(&draft.conversation, at, input) {
            draft.add_entry(&self.lane, &entry)?;
        }
        Ok(())
    }

    pub(super) async fn commit_draft(
        &mut self,
        mut draft: Box<StepDraft>,
    ) -> Result<(), DriveError> {
        if !draft.entries.is_empty() {
            self.append_draft(&mut draft).await?;
        }
        let items = self.accept_draft(*draft);
        self.publish_items(items).await;
        Ok(())
    }

    /// Replaces the conversation by the draft and returns the items to publish.
    fn accept_draft(&mut self, draft: StepDraft) -> Vec<StreamItem> {
        let before = std::mem::replace(&mut self.conversation, draft.conversation);
        self.run_observers(&before, &draft.entries);
        self.summarise_rounds(&draft.entries);
        draft.items
    }

    async fn append_draft(&mut self, draft: &mut StepDraft) -> Result<(), DriveError> {
        let mode = self.settings.durability;
        let durability =
            draft.entries.iter().map(|entry| entry_durability(&entry.records, mode)).max();
        let rows = self.take_rows(draft);
        let events = telemetry::subscribed_events(&rows);
        let append = AppendRequest {
            entries: draft.entries.iter().map(|entry| encode_entry(entry)).collect(),
            messages_read: std::mem::take(&mut draft.messages_read),
            outbox: draft.outbox.clone(),
            rows,
            durability: durability.unwrap_or(Durability::Commit),
            spending: self.spending_change(&draft.conversation, draft.conversation.at),
            ..self.empty_append(&draft.conversation)
        };
        let lapses = self.lease.lapse_count();
        self.ports.store.append(append).await?;
        self.owned_since_lapse = lapses;
        self.counted_spending = draft.conversation.committed_spending();
        draft.outbox.iter().for_each(|(to, _)| self.notify_lane(to));
        telemetry::emit_events(&self.lane, &events);
        Ok(())
    }

    /// An append without entries, after which the lane is in the state of `after`.
    pub(super) fn empty_append(&self, after: &Conversation) -> AppendRequest {
        AppendRequest {
            lane: self.lane.clone(),
            owner: Arc::clone(&self.lease.worker),
            epoch: self.epoch,
            head: self.conversation.head,
            entries: Vec::new(),
            messages_read: Vec::new(),
            outbox: Vec::new(),
            rows: Vec::new(),
            wake_at: lane_wake_at(after),
            active_run: after.run.as_ref().map(|run| run.id.clone()),
            durability: Durability::Commit,
            spending: None,
        }
    }

    /// The rows to be stored. The raw response of a provider becomes one of them, because it is not
    /// kept for as long as the log.
    fn take_rows(&self, draft: &mut StepDraft) -> Vec<Row> {
        let mut rows = std::mem::take(&mut draft.rows);
        if self.options.keeps_raw_responses {
            // A reply that ended its run belongs to that run too.
            let run = draft.conversation.run.as_ref().or(self.conversation.run.as_ref());
            let run = run.map(|run| &run.id);
            let raw = |entry: &Arc<Entry>| {
                let ResponseEnvelope { fields: body, body: response } = entry.envelope()?.clone();
                let (seq, at) = (entry.seq, entry.at);
                Some(Row::Raw(RawRow { run: run.cloned(), seq, at, body, response }))
            };
            rows.extend(draft.entries.iter().filter_map(raw));
        }
        rows.into_iter().map(Row::without_secrets).collect()
    }

    /// Publishes items to the readers. Only the owner of the run can make this wait.
    pub(super) async fn publish_items(&mut self, items: Vec<StreamItem>) {
        for item in items {
            self.feed.publish(&item);
            if let Some(owner) = &self.owner {
                // An owner that left is noticed where the driver waits.
                let _ = owner.send_item(item).await;
            }
        }
    }
}

impl StepDraft {
    pub(super) fn new(conversation: &Conversation) -> Box<Self> {
        Box::new(Self {
            conversation: conversation.clone(),
            entries: Vec::new(),
            items: Vec::new(),
            rows: Vec::new(),
            messages_read: Vec::new(),
            outbox: Vec::new(),
        })
    }

    fn add_entry(&mut self, lane: &LaneId, entry: &Entry) -> Result<(), DriveError> {
        let Some(durable) = fault_injection::durable_part(entry) else {
            self.conversation.apply_volatile(entry);
            return Ok(());
        };
        if let Input::CommandsReceived { messages } = &entry.input {
            self.messages_read.extend(messages.iter().map(|message| message.id));
        }
        self.outbox.extend(cancel_messages(lane, &self.conversation, &durable));
        let spawning = spawning_calls(&self.conversation, entry);
        // Rows also show effects in flight, so they are projected with the volatile records.
        let ProjectedEntry { rows, finished_runs } =
            fold_and_project(&mut self.conversation, entry)?;
        self.rows.extend(rows);
        let applied = AppliedEntry {
            lane,
            spawning: &spawning,
            after: &self.conversation,
            finished_runs: &finished_runs,
        };
        self.outbox.extend(applied.outbox_messages(&durable));
        let durable = Arc::new(durable);
        self.items.push(StreamItem::Entry(Arc::clone(&durable)));
        self.items.extend(finished_runs.into_iter().map(|end| StreamItem::RunEnded(Arc::new(end))));
        self.entries.push(durable);
        Ok(())
    }
}

/// Drops context that the conversation has already, so that the log contains each text once.
fn without_known_context(conversation: &Conversation, mut input: Input) -> Input {
    if let Input::ToolReturned { context, .. } = &mut input {
        context.retain(|note| conversation.can_add_context(&note.source));
    }
    input
}

/// When the lane is due without a new message: at once if an effect is wanted and no driver is
/// there to start it.
fn lane_wake_at(conversation: &Conversation) -> Option<UnixMillis> {
    let wanted = wanted(conversation);
    if wanted.effects.is_empty() { wanted.wake_at } else { Some(UnixMillis(0)) }
}

fn encode_entry(entry: &Entry) -> EncodedEntry {
    let line = match entry.envelope() {
        Some(_) => entry.without_envelope().encode(),
        None => entry.encode(),
    };
    EncodedEntry { seq: entry.seq, at: entry.at, line: Arc::from(line) }
}
