//! Calls that no tool runs: the journal answers some, children answer others.

use std::sync::Arc;

use super::budget;
use super::calls::{self, settle};
use super::draft::Draft;
use crate::call::Call;
use crate::child::{Away, Homecoming};
use crate::ids::{CallId, MailId};
use crate::journal::Wish;
use crate::outcome::{OutcomeKind, Shown, ToolError};
use crate::record::Record;

/// The journal answers at once.
pub(super) fn ask_journal(draft: &mut Draft<'_>, id: CallId) {
    let wish = draft.call(id).and_then(|call| call.facts.journal.clone());
    let limit = draft.limits().result_chars;
    let text = match wish {
        Some(Wish::Change(changes)) => {
            for change in changes {
                draft.record(Record::JournalChanged { call: id, change });
            }
            format!("the journal is at version {}", draft.now().journal.version())
        }
        Some(Wish::Read) | None => draft.now().journal.render(),
    };
    settle(draft, id, Shown::done(&text, limit));
}

/// Children begin to work, when there is room for them.
pub(super) fn spawn(draft: &mut Draft<'_>, id: CallId) {
    let (Some(call), Some(settings)) = (draft.call(id), draft.settings()) else { return };
    let tasks = call.facts.children.len();
    let limits = &settings.limits;
    let depth = draft.now().parent.as_ref().map_or(0, |parent| parent.depth).max(settings.depth);
    if tasks == 0 || depth >= limits.child_depth {
        let error = too_deep(limits.child_depth);
        let shown = Shown::error(OutcomeKind::Failed, &error, limits.result_chars);
        return settle(draft, id, shown);
    }
    let at_work: usize = draft.calls().iter().filter_map(Call::away).map(Away::at_work).sum();
    if at_work > 0 && at_work.saturating_add(tasks) > usize::from(limits.children) {
        return;
    }
    let granted = budget::share(draft, tasks);
    draft.record(Record::Spawned { call: id, granted });
}

fn too_deep(depth: u8) -> ToolError {
    ToolError::new(
        "too_deep",
        &format!("children may stand {depth} deep and not deeper, and need a task"),
        "do the work here",
    )
}

/// A child came back with mail. Says whether anybody waited for it.
pub(super) fn back(draft: &mut Draft<'_>, mail: MailId, home: &Homecoming) -> bool {
    let waits = |call: &Call| {
        let place = call.away().and_then(|away| away.back.get(usize::from(home.part)));
        place.is_some_and(Option::is_none)
    };
    if !draft.call(home.call).is_some_and(waits) {
        return false;
    }
    draft.record(Record::ChildBack { mail });
    let done = draft.call(home.call).and_then(Call::away).filter(|away| away.at_work() == 0);
    if let Some(text) = done.map(Away::text) {
        let shown = Shown::done(&text, draft.limits().result_chars);
        settle(draft, home.call, shown);
    }
    calls::advance(draft);
    true
}

/// Tells the children of a call to stop, once.
pub(super) fn recall(draft: &mut Draft<'_>, id: CallId) {
    let told = |away: &Away| away.recalled == crate::child::Recalled::Yes;
    if draft.call(id).and_then(Call::away).is_some_and(|away| !told(away)) {
        draft.record(Record::ChildrenRecalled { call: id });
    }
}

/// What is known of children that were waited for in vain.
pub(super) fn given_up(away: &Away) -> Arc<str> {
    Arc::from(format!("{} of its children did not come back in time", away.at_work()))
}
