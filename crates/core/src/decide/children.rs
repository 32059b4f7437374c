//! Calls without a tool process: the journal answers some, child runs (sub-agents) answer others.

use super::budget;
use super::draft::DecisionDraft;
use super::next_step::NextStep;
use crate::budget::spending::SpendingCaps;
use crate::call::call_state::Call;
use crate::call::outcome::{CallResult, OutcomeKind, ToolError};
use crate::log::ids::{CallId, InboxMessageId};
use crate::log::record::Record;
use crate::message::prompt_texts;
use crate::run::child_runs::{ChildCancellation, ChildResult, PendingChildren};
use crate::run::journal::{JournalConflict, JournalRequest};

/// Answers a call from the run journal, at once.
pub(super) fn answer_from_journal(draft: &mut DecisionDraft<'_>, id: CallId) {
    let wish = draft.call(id).and_then(|call| call.facts.journal.clone());
    let limit = draft.result_char_limit();
    let changes = match wish {
        Some(JournalRequest::Change(changes)) => changes,
        Some(JournalRequest::ChangeIfUnmodified { version, changes }) => {
            if let Err(conflict) = draft.state().journal.check_version(version, &changes) {
                let result = CallResult::from_error(
                    OutcomeKind::Failed,
                    &journal_conflict_error(&conflict),
                    limit,
                );
                return draft.finalize_result(id, result);
            }
            changes
        }
        Some(JournalRequest::Read) | None => {
            let text = draft.state().journal.render();
            return draft.finalize_result(id, CallResult::from_text(&text, limit));
        }
    };
    for change in changes {
        draft.record(Record::JournalChanged { call: id, change });
    }
    let text = format!("the journal is at version {}", draft.state().journal.version());
    draft.finalize_result(id, CallResult::from_text(&text, limit));
}

fn journal_conflict_error(conflict: &JournalConflict) -> ToolError {
    let hint = "nothing was changed; read the journal with get_run_journal and try again";
    ToolError::new("journal_conflict", &conflict.to_string(), hint)
}

/// Starts the child runs of a call, as soon as there are free slots.
pub(super) fn start_children(draft: &mut DecisionDraft<'_>, id: CallId) {
    let (Some(call), Some(settings)) = (draft.call(id), draft.settings()) else { return };
    let tasks = call.facts.children.len();
    let limits = &settings.limits;
    let depth = draft.state().parent.as_ref().map_or(0, |parent| parent.depth).max(settings.depth);
    if tasks == 0 || depth >= limits.child_depth {
        let error = if tasks == 0 { no_task_error() } else { too_deep_error(limits.child_depth) };
        let result = CallResult::from_error(OutcomeKind::Failed, &error, limits.result_chars);
        return draft.finalize_result(id, result);
    }
    let in_background = call.facts.children_in_background;
    let granted = budget::child_share(draft, tasks);
    match in_background {
        true => start_in_background(draft, id, tasks, granted),
        false => start_child_range(draft, id, 0, tasks, granted),
    }
}

/// Starts child runs that work in the background, and answers their call. There is no call that
/// could wait for a free slot.
fn start_in_background(
    draft: &mut DecisionDraft<'_>,
    call: CallId,
    tasks: usize,
    granted: SpendingCaps,
) {
    let limit = draft.result_char_limit();
    if free_slots(draft) < tasks {
        let error = too_many_error(draft.limits().children);
        let result = CallResult::from_error(OutcomeKind::Failed, &error, limit);
        return draft.finalize_result(call, result);
    }
    start_child_range(draft, call, 0, tasks, granted);
    let text = prompt_texts::background_started(call);
    draft.finalize_result(call, CallResult::from_text(&text, limit));
}

/// Returns how many more child runs may work now.
fn free_slots(draft: &DecisionDraft<'_>) -> usize {
    let pending = draft.calls().iter().filter_map(Call::pending_children);
    let awaited: usize = pending.map(PendingChildren::running_count).sum();
    let at_work = awaited.saturating_add(draft.state().background_children().count());
    usize::from(draft.limits().children.max(1)).saturating_sub(at_work)
}

/// Starts those tasks of a call that had to wait for a free slot.
pub(super) fn start_waiting_children(draft: &mut DecisionDraft<'_>, index: usize) {
    let Some((id, pending)) =
        draft.calls().get(index).and_then(|c| Some((c.id, c.pending_children()?)))
    else {
        return;
    };
    let (sent, tasks, granted) = (pending.started, pending.replies.len(), pending.granted);
    if sent < tasks && pending.cancellation == ChildCancellation::NotRequested {
        start_child_range(draft, id, sent, tasks, granted);
    }
}

/// Starts as many tasks as there are free slots.
fn start_child_range(
    draft: &mut DecisionDraft<'_>,
    call: CallId,
    from: usize,
    tasks: usize,
    granted: SpendingCaps,
) {
    let to = from.saturating_add(free_slots(draft)).min(tasks);
    if let (Ok(from), Ok(to)) = (u16::try_from(from), u16::try_from(to))
        && from < to
    {
        draft.record(Record::ChildrenSpawned { call, from, to, granted });
    }
}

fn no_task_error() -> ToolError {
    ToolError::new(
        "no_task",
        "no task for a sub-agent was given",
        "describe what each sub-agent should do",
    )
}

fn too_many_error(children: u16) -> ToolError {
    ToolError::new(
        "too_many_children",
        &format!("{children} sub-agents are at work, which is the limit"),
        "wait until one of them has answered",
    )
}

fn too_deep_error(depth: u8) -> ToolError {
    ToolError::new(
        "too_deep",
        &format!("sub-agents may be nested at most {depth} levels deep"),
        "do the work yourself",
    )
}

/// Handles a sub-agent result from the inbox: the result of a child run. Returns nothing if neither
/// a call nor an orphan matches it; an orphan in the background starts a run, another one is only
/// charged.
pub(super) fn on_child_result(
    draft: &mut DecisionDraft<'_>,
    message: InboxMessageId,
    result: &ChildResult,
) -> Option<NextStep> {
    // The result counts whichever owner started the child.
    let waits = |call: &Call| {
        let place = call
            .pending_children()
            .and_then(|pending| pending.replies.get(usize::from(result.part)));
        place.is_some_and(Option::is_none)
    };
    let waited_for = draft.call(result.call).is_some_and(waits);
    let orphan = draft.state().orphans.iter().find(|it| it.matches(result.call, result.part));
    let is_background = orphan.map(|orphan| orphan.is_background);
    if !waited_for && is_background.is_none() {
        return None;
    }
    draft.record(Record::ChildResultReceived { message });
    if !waited_for {
        return Some(match is_background {
            // The result becomes a prompt of its own, after the run that may be active.
            Some(true) => {
                draft.record(Record::PromptQueued { message });
                NextStep::StartNextPrompt
            }
            Some(false) | None => NextStep::Wait,
        });
    }
    finalize_if_all_returned(draft, result.call);
    Some(NextStep::AdvanceRound)
}

fn finalize_if_all_returned(draft: &mut DecisionDraft<'_>, id: CallId) {
    let Some(pending) =
        draft.call(id).and_then(Call::pending_children).filter(|pending| pending.is_complete())
    else {
        return;
    };
    let limit = draft.result_char_limit();
    let text = pending.combined_text(limit);
    let result = if pending.has_failed() {
        let error = ToolError::new(
            "child_failed",
            &text,
            "do the work yourself, or delegate a smaller task",
        );
        CallResult::from_error(OutcomeKind::Failed, &error, limit)
    } else {
        CallResult::from_text(&text, limit)
    };
    draft.finalize_result(id, result);
}

/// Cancels the child runs of a call, once.
pub(super) fn cancel_children(draft: &mut DecisionDraft<'_>, id: CallId) {
    let is_cancelled =
        |pending: &PendingChildren| pending.cancellation == ChildCancellation::Requested;
    if draft.call(id).and_then(Call::pending_children).is_some_and(|pending| !is_cancelled(pending))
    {
        draft.record(Record::ChildrenCancelled { call: id });
    }
}

/// Returns what is known of child runs that did not return, and what the others returned.
pub(super) fn abandoned_children_text(pending: &PendingChildren, limit_chars: u64) -> String {
    let missing =
        format!("{} of its sub-agents did not return in time", pending.outstanding_count());
    if pending.replies.iter().all(Option::is_none) {
        return missing;
    }
    format!("{missing}\n\n{}", pending.combined_text(limit_chars))
}
