//! Applies records about child runs (sub-agents), on the side of the parent and of the child.

use std::sync::Arc;

use crate::budget::spending::SpendingCaps;
use crate::call::call_state::{Call, CallState};
use crate::log::ids::{CallId, InboxMessageId};
use crate::log::inbox::InboxCommand;
use crate::log::input::Input;
use crate::permission::ContentSource;
use crate::run::active_run::Run;
use crate::run::child_runs::{ChildCancellation, ChildReply, OrphanedChild, PendingChildren};
use crate::run::conversation::Conversation;

use super::prompts::command_of;
use super::{with_call, with_run};

pub(super) fn apply_parent_assigned(
    c: &mut Conversation,
    input: &Input,
    message_id: InboxMessageId,
) {
    if let Some(InboxCommand::Task { parent, .. }) = command_of(input, message_id) {
        c.parent = Some(parent.clone());
        if parent.untrusted {
            c.exposure.add_source(&ContentSource::Conversation(Arc::from(parent.lane.as_str())));
        }
    }
}

pub(super) fn apply_children_spawned(
    c: &mut Conversation,
    id: CallId,
    to: u16,
    granted: SpendingCaps,
) {
    with_call(c, id, |call| {
        let tasks = call.facts.children.len();
        let mut away = match &call.state {
            CallState::AwaitingChildren(away) => away.clone(),
            CallState::AwaitingPreHook
            | CallState::AwaitingPermission
            | CallState::AwaitingClassifier
            | CallState::AwaitingHuman(_)
            | CallState::Ready
            | CallState::Running { .. }
            | CallState::AwaitingRetry { .. }
            | CallState::Lost
            | CallState::AwaitingPostHook(_)
            | CallState::Finished(_) => PendingChildren::new(tasks, granted),
        };
        away.started = usize::from(to).min(tasks);
        call.state = CallState::AwaitingChildren(away);
    });
}

/// Applies the result of a child run. Its spending counts whenever it returns, and only once.
pub(super) fn apply_child_result(c: &mut Conversation, input: &Input, message_id: InboxMessageId) {
    let Some(InboxCommand::ChildFinished { text, result: Some(home), .. }) =
        command_of(input, message_id)
    else {
        return;
    };
    c.spent.add_spending(&home.spent);
    if home.untrusted {
        let child = Arc::from(format!("of task {} of call {}", home.part, home.call));
        c.exposure.add_source(&ContentSource::Conversation(child));
    }
    if let Some(index) = c.orphans.iter().position(|stray| stray.matches(home.call, home.part)) {
        c.orphans.remove(index);
        return;
    }
    with_run(c, |run| run.spent.add_spending(&home.spent));
    with_call(c, home.call, |call| {
        if let CallState::AwaitingChildren(away) = &mut call.state
            && let Some(place) = away.replies.get_mut(usize::from(home.part))
        {
            *place = Some(ChildReply { text: Arc::clone(text), ending: home.ending });
        }
    });
}

/// Remembers the children that have not returned when their call has its result (orphans): the call
/// was given up, or they work in the background.
pub(super) fn remember_orphans(c: &mut Conversation, id: CallId) {
    let call = c.run.as_ref().and_then(Run::round).and_then(|round| round.call(id));
    let Some(away) = call.and_then(Call::pending_children) else { return };
    let granted = away.granted;
    let is_background = call.is_some_and(|call| call.facts.children_in_background);
    let out: Vec<u16> = away.running_parts().collect();
    let orphan = |part| OrphanedChild { call: id, part, granted, is_background };
    c.orphans.extend(out.into_iter().map(orphan));
    while c.orphans.len() > MAX_ORPHANS {
        c.orphans.pop_front();
    }
}

/// Number of orphans that are remembered.
const MAX_ORPHANS: usize = 256;

pub(super) fn apply_children_cancelled(c: &mut Conversation, id: CallId) {
    with_call(c, id, |call| {
        if let CallState::AwaitingChildren(away) = &mut call.state {
            away.cancellation = ChildCancellation::Requested;
        }
    });
}
