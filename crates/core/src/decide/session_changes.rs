//! Changes that hold for the rest of a conversation: permissions, at once, the model, from the next
//! model call on, and the messages, between two runs.

use std::sync::Arc;

use super::budget;
use super::draft::DecisionDraft;
use super::next_step::NextStep;
use super::tool_calls;
use crate::call::call_state::{Call, CallState};
use crate::log::command_rejection::CommandRejection;
use crate::log::ids::{CallId, InboxMessageId};
use crate::log::record::Record;
use crate::message::history_message::HistoryMessage;
use crate::message::transcript::Transcript;
use crate::permission::{InvalidUpdate, PermissionUpdate};
use crate::run::question::QuestionKind;
use crate::settings::model_change::ModelChange;

/// Handles a command that changes the permissions.
pub(super) fn on_permission_updates(
    draft: &mut DecisionDraft<'_>,
    message: InboxMessageId,
    updates: &[PermissionUpdate],
) -> NextStep {
    if updates.is_empty() {
        return draft.reject_command(message, CommandRejection::NothingToChange);
    }
    if let Some(reason) = find_objection(draft, updates) {
        return draft.reject_command(message, reason);
    }
    record_updates(draft, message, None, updates);
    NextStep::AdvanceRound
}

/// Returns why the permissions cannot be changed like this.
pub(super) fn find_objection(
    draft: &DecisionDraft<'_>,
    updates: &[PermissionUpdate],
) -> Option<CommandRejection> {
    let state = draft.state();
    match state.session_permissions.check_updates(&state.grants, updates) {
        Ok(()) => None,
        Err(InvalidUpdate::TooMany) => Some(CommandRejection::TooManyPermissions),
        Err(InvalidUpdate::RelativeFolder) => Some(CommandRejection::FolderNotAbsolute),
    }
}

/// Records changes of the permissions, and decides again about calls that they may concern. An
/// allow rule for commands that came with the answer to a call applies in the folder of the call.
pub(super) fn record_updates(
    draft: &mut DecisionDraft<'_>,
    message: InboxMessageId,
    answered: Option<CallId>,
    updates: &[PermissionUpdate],
) {
    if updates.is_empty() {
        return;
    }
    let call = answered.and_then(|call| draft.call(call));
    let folder = call.map(|call| call.facts.subject.folder().clone()).unwrap_or_default();
    for update in updates {
        let (update, folder) = (update.clone(), Arc::clone(&folder));
        draft.record(Record::PermissionsUpdated { message, update, folder });
    }
    reconsider_calls(draft, answered);
}

/// Decides again about the calls of the round that were decided before the permissions changed and
/// have not run: an open question may no longer be needed, and a deny rule wins over whatever was
/// decided before it. `answered` is decided by the answer that came with the change.
fn reconsider_calls(draft: &mut DecisionDraft<'_>, answered: Option<CallId>) {
    let is_paused = draft.run().is_some_and(|run| run.human_pause().is_some());
    let others = draft.calls().iter().map(|call| call.id).filter(|call| Some(*call) != answered);
    for id in others.collect::<Vec<_>>() {
        match draft.call(id).map(reconsideration_of) {
            Some(Reconsideration::Question) => tool_calls::reconsider_question(draft, id),
            // The last owner of a paused run may have started a call whose start is not stored.
            Some(Reconsideration::Denial) if is_paused => {}
            Some(Reconsideration::Denial) => tool_calls::deny_if_forbidden(draft, id),
            Some(Reconsideration::Nothing) | None => {}
        }
    }
}

/// What a change of the permissions can still do to a call.
enum Reconsideration {
    /// Answer the question whether it may run.
    Question,
    /// Deny it.
    Denial,
    /// Nothing: it has run, or waits for something else.
    Nothing,
}

fn reconsideration_of(call: &Call) -> Reconsideration {
    match &call.state {
        CallState::AwaitingHuman(question) => match question.kind {
            QuestionKind::Approval { .. } => Reconsideration::Question,
            QuestionKind::Uncertain { .. }
            | QuestionKind::ModelQuestion { .. }
            | QuestionKind::ToolRequest { .. }
            | QuestionKind::Plan { .. }
            | QuestionKind::Guidance { .. }
            | QuestionKind::Budget { .. }
            | QuestionKind::PromptChanged { .. } => Reconsideration::Nothing,
        },
        CallState::AwaitingClassifier => Reconsideration::Denial,
        CallState::Ready if call.attempts == 0 => Reconsideration::Denial,
        CallState::Ready
        | CallState::AwaitingPreHook
        | CallState::AwaitingPermission
        | CallState::AwaitingChildren(_)
        | CallState::Running { .. }
        | CallState::AwaitingRetry { .. }
        | CallState::Lost
        | CallState::AwaitingPostHook(_)
        | CallState::Finished(_) => Reconsideration::Nothing,
    }
}

/// Handles a command that changes the model. A model call in flight is not disturbed: it is charged
/// with the price of its own model.
pub(super) fn on_set_model(
    draft: &mut DecisionDraft<'_>,
    message: InboxMessageId,
    change: &ModelChange,
) -> NextStep {
    let models = change.models.as_ref();
    if models.is_none() && change.thinking.is_none() {
        return draft.reject_command(message, CommandRejection::NothingToChange);
    }
    if models.is_some_and(|models| budget::lacks_required_price(draft, &models.model)) {
        return draft.reject_command(message, CommandRejection::PriceUnknown);
    }
    draft.record(Record::ModelChangeRequested { message });
    NextStep::Wait
}

/// Handles a command that replaces the messages. It needs a conversation at rest: a run would go on
/// with an answer to messages that are gone.
pub(super) fn on_replace_history(
    draft: &mut DecisionDraft<'_>,
    message: InboxMessageId,
    messages: &[HistoryMessage],
) -> NextStep {
    if draft.run().is_some() || !draft.state().prompt_queue.is_empty() {
        return draft.reject_command(message, CommandRejection::RunNotFinished);
    }
    if !Transcript::from_history(messages).can_be_sent() {
        return draft.reject_command(message, CommandRejection::EmptyHistory);
    }
    draft.record(Record::HistoryReplaced { message });
    NextStep::Wait
}

/// Records the switch to the requested model, if one is due: just before a model call is planned.
pub(super) fn switch_model_if_due(draft: &mut DecisionDraft<'_>) {
    if draft.run().is_none_or(|run| !run.is_model_change_due) {
        return;
    }
    let state = draft.state();
    let requested = state.model_override.as_ref().and_then(|over| over.change.models.as_ref());
    let named = requested.map(|models| models.model.name.clone());
    let current = || state.settings.as_ref().map(|settings| settings.model.name.clone());
    let model = named.or_else(current).unwrap_or_default();
    draft.record(Record::ModelChanged { model });
}
