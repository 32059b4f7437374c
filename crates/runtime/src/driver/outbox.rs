//! The transactional outbox: messages to other lanes that an entry causes, which are tasks for
//! child runs, cancels, and the sub-agent result for the parent. They are written in the entry's
//! own transaction, and their idempotency keys are derived from their subject, so that a message
//! that is sent twice is enqueued once.

use std::ops::Range;
use std::sync::Arc;

use windlass_core::apply::apply;
use windlass_core::budget::spending::SpendingCaps;
use windlass_core::call::call_state::Call;
use windlass_core::log::command_rejection::CommandRejection;
use windlass_core::log::entry::Entry;
use windlass_core::log::ids::{CallId, InboxMessageId, LaneId, RunId};
use windlass_core::log::inbox::InboxCommand;
use windlass_core::log::input::Input;
use windlass_core::log::record::Record;
use windlass_core::message::{prompt_texts, truncate};
use windlass_core::run::active_run::Run;
use windlass_core::run::child_runs::{
    self, ChildOutcome, ChildResult, OrphanedChild, ParentLink, PendingChildren,
};
use windlass_core::run::conversation::{Conversation, RunEnd};
use windlass_core::stop::RunState;

use crate::ports::OutboxMessage;

/// The largest number of characters of a sub-agent result.
const MAX_CHILD_RESULT_CHARS: u64 = 100_000;

/// An entry that was applied.
pub(super) struct AppliedEntry<'a> {
    pub(super) lane: &'a LaneId,
    /// The calls for which the entry starts child runs, see [`spawning_calls`].
    pub(super) spawning: &'a [Call],
    pub(super) after: &'a Conversation,
    pub(super) finished_runs: &'a [RunEnd],
}

/// The id of the one run of a child. It is derived from the child's lane, which names the parent's
/// call, so that a task that is sent twice is one run.
pub(crate) fn child_run_id(child: &LaneId) -> RunId {
    RunId::from_name(&format!("run:{child}"))
}

/// The lanes of the child runs that a conversation waits for.
pub(crate) fn pending_child_lanes(lane: &LaneId, conversation: &Conversation) -> Vec<LaneId> {
    let round = conversation.run.as_ref().and_then(Run::round);
    let calls = round.into_iter().flat_map(|round| &round.calls);
    calls.flat_map(|call| child_lanes_of_call(lane, call)).collect()
}

/// The lanes of the child runs that work in the background.
pub(crate) fn background_child_lanes(lane: &LaneId, conversation: &Conversation) -> Vec<LaneId> {
    let lane_of = |child: &OrphanedChild| child_runs::child_lane(lane, child.call, child.part);
    conversation.background_children().map(lane_of).collect()
}

/// The calls for which an entry starts child runs. A call with child runs in the background has its
/// result in the same entry, and the state after it no longer has the call.
pub(super) fn spawning_calls(before: &Conversation, entry: &Entry) -> Vec<Call> {
    let spawns = |record: &Record| matches!(record, Record::ChildrenSpawned { .. });
    if !entry.records.iter().any(spawns) {
        return Vec::new();
    }
    let (mut state, mut calls) = (before.clone(), Vec::new());
    for record in &entry.records {
        apply(&mut state, entry.at, &entry.input, record);
        if let Record::ChildrenSpawned { call, .. } = record {
            calls.extend(state.call(*call).cloned());
        }
    }
    calls
}

fn child_lanes_of_call(lane: &LaneId, call: &Call) -> Vec<LaneId> {
    let out = call.pending_children().into_iter().flat_map(PendingChildren::running_parts);
    out.map(|part| child_runs::child_lane(lane, call.id, part)).collect()
}

/// Cancel messages for the child runs of a call. `before` is the state without the entry: the entry
/// may abandon the call, and the state after it no longer shows the child runs.
pub(super) fn cancel_messages(
    lane: &LaneId,
    before: &Conversation,
    entry: &Entry,
) -> Vec<(LaneId, OutboxMessage)> {
    let recalled = entry.records.iter().filter_map(|record| match record {
        Record::ChildrenCancelled { call: id } => before.call(*id),
        _ => None,
    });
    let message = |to: LaneId| {
        let idempotency_key = Arc::from(format!("recall:{to}"));
        let body = InboxCommand::Cancel { run: Some(child_run_id(&to)) };
        (to, OutboxMessage { idempotency_key, body })
    };
    recalled.flat_map(|call| child_lanes_of_call(lane, call)).map(message).collect()
}

impl AppliedEntry<'_> {
    /// The other outbox messages of the entry.
    pub(super) fn outbox_messages(&self, entry: &Entry) -> Vec<(LaneId, OutboxMessage)> {
        let of_records = entry.records.iter().flat_map(|record| match record {
            Record::ChildrenSpawned { call, from, to, granted } => {
                self.task_messages(*call, *from..*to, *granted)
            }
            Record::CommandRejected { message, reason } => {
                self.rejected_task_message(entry, *message, reason)
            }
            _ => Vec::new(),
        });
        of_records
            .chain(self.finished_runs.iter().filter_map(|ended| self.child_result_message(ended)))
            .collect()
    }

    fn task_messages(
        &self,
        id: CallId,
        parts: Range<u16>,
        caps: SpendingCaps,
    ) -> Vec<(LaneId, OutboxMessage)> {
        let Some(settings) = &self.after.settings else { return Vec::new() };
        let Some(call) = self.spawning.iter().find(|call| call.id == id) else {
            return Vec::new();
        };
        let depth = settings.depth.saturating_add(1);
        let untrusted = self.after.exposure.is_untrusted();
        let message = |(part, task): (u16, &child_runs::ChildTask)| {
            let to = child_runs::child_lane(self.lane, id, part);
            let parent =
                ParentLink { lane: self.lane.clone(), call: id, part, caps, depth, untrusted };
            let body = InboxCommand::Task { run: child_run_id(&to), task: task.clone(), parent };
            let idempotency_key = Arc::from(format!("task:{to}"));
            (to, OutboxMessage { idempotency_key, body })
        };
        let tasks = (0_u16..).zip(&call.facts.children);
        tasks.filter(|(part, _)| parts.contains(part)).map(message).collect()
    }

    /// The sub-agent result as an outbox message: the end of the one run of a child.
    fn child_result_message(&self, ended: &RunEnd) -> Option<(LaneId, OutboxMessage)> {
        let parent = self.after.parent.as_ref()?;
        if ended.run != child_run_id(self.lane) {
            return None;
        }
        let ending = match ended.cause.run_state(ended.text_presence()) {
            RunState::Completed => ChildOutcome::Answered,
            _ => ChildOutcome::Failed,
        };
        let result = ChildResult {
            call: parent.call,
            part: parent.part,
            spent: ended.spent,
            ending,
            untrusted: self.after.exposure.is_untrusted(),
        };
        let mut text = child_result_text(ended);
        let workspace = self.after.settings.as_ref().map(|settings| &settings.rules.root);
        if workspace.is_some_and(|root| child_runs::is_own_worktree(self.lane, root)) {
            let note = prompt_texts::worktree_result(&child_runs::worktree_branch(self.lane));
            text = Arc::from(format!("{text}\n\n{note}"));
        }
        Some(self.message_to_parent(parent, text, result))
    }

    /// The outbox message that reports a rejected task to the parent, which waits for it.
    fn rejected_task_message(
        &self,
        entry: &Entry,
        id: InboxMessageId,
        reason: &CommandRejection,
    ) -> Vec<(LaneId, OutboxMessage)> {
        let Input::CommandsReceived { messages } = &entry.input else { return Vec::new() };
        let refused = messages.iter().find(|message| message.id == id).map(|message| &message.body);
        let Some(InboxCommand::Task { parent, .. }) = refused else { return Vec::new() };
        if self.after.parent.is_some() {
            return Vec::new();
        }
        let (call, part) = (parent.call, parent.part);
        let (spent, ending) = (Default::default(), ChildOutcome::Failed);
        let result = ChildResult { call, part, spent, ending, untrusted: false };
        vec![self.message_to_parent(parent, prompt_texts::rejected_task(reason).into(), result)]
    }

    fn message_to_parent(
        &self,
        parent: &ParentLink,
        text: Arc<str>,
        home: ChildResult,
    ) -> (LaneId, OutboxMessage) {
        let idempotency_key = Arc::from(format!("home:{}", self.lane));
        let body =
            InboxCommand::ChildFinished { child: self.lane.clone(), text, result: Some(home) };
        (parent.lane.clone(), OutboxMessage { idempotency_key, body })
    }
}

/// The text that the parent reads: the answer, or why there is none.
fn child_result_text(ended: &RunEnd) -> Arc<str> {
    if ended.text.trim().is_empty() {
        let reason = ended.cause.as_str();
        return Arc::from(format!("the sub-agent ended without an answer: {reason}"));
    }
    Arc::from(truncate::truncate_text(&ended.text, MAX_CHILD_RESULT_CHARS).as_ref())
}
