//! Calls that no tool runs: the journal answers some, children answer others.

use super::budget;
use super::calls::{self, settle};
use super::draft::Draft;
use crate::budget::Caps;
use crate::call::Call;
use crate::child::{Away, Homecoming, Recalled};
use crate::ids::{CallId, MailId};
use crate::journal::{Conflict, Wish};
use crate::outcome::{OutcomeKind, Shown, ToolError};
use crate::record::Record;

/// The journal answers at once.
pub(super) fn ask_journal(draft: &mut Draft<'_>, id: CallId) {
    let wish = draft.call(id).and_then(|call| call.facts.journal.clone());
    let limit = draft.result_chars();
    let changes = match wish {
        Some(Wish::Change(changes)) => changes,
        Some(Wish::ChangeAsOf { version, changes }) => {
            if let Err(conflict) = draft.now().journal.check(version, &changes) {
                let shown = Shown::error(OutcomeKind::Failed, &not_changed(&conflict), limit);
                return settle(draft, id, shown);
            }
            changes
        }
        Some(Wish::Read) | None => {
            let text = draft.now().journal.render();
            return settle(draft, id, Shown::done(&text, limit));
        }
    };
    for change in changes {
        draft.record(Record::JournalChanged { call: id, change });
    }
    let text = format!("the journal is at version {}", draft.now().journal.version());
    settle(draft, id, Shown::done(&text, limit));
}

fn not_changed(conflict: &Conflict) -> ToolError {
    let hint = "nothing was changed; read it with get_run_journal and decide again";
    ToolError::new("journal_conflict", &conflict.to_string(), hint)
}

/// Children begin to work, when there is room for them.
pub(super) fn spawn(draft: &mut Draft<'_>, id: CallId) {
    let (Some(call), Some(settings)) = (draft.call(id), draft.settings()) else { return };
    let tasks = call.facts.children.len();
    let limits = &settings.limits;
    let depth = draft.now().parent.as_ref().map_or(0, |parent| parent.depth).max(settings.depth);
    if tasks == 0 || depth >= limits.child_depth {
        let error = if tasks == 0 { no_task() } else { too_deep(limits.child_depth) };
        let shown = Shown::error(OutcomeKind::Failed, &error, limits.result_chars);
        return settle(draft, id, shown);
    }
    let granted = budget::share(draft, tasks);
    send_out(draft, id, 0, tasks, granted);
}

/// Sends out those tasks of a call that had to wait.
pub(super) fn send_more(draft: &mut Draft<'_>, place: usize) {
    let Some((id, away)) = draft.calls().get(place).and_then(|c| Some((c.id, c.away()?))) else {
        return;
    };
    let (sent, tasks, granted) = (away.sent, away.back.len(), away.granted);
    if sent < tasks && away.recalled == Recalled::No {
        send_out(draft, id, sent, tasks, granted);
    }
}

/// As many as there is room for.
fn send_out(draft: &mut Draft<'_>, call: CallId, from: usize, tasks: usize, granted: Caps) {
    let at_work: usize = draft.calls().iter().filter_map(Call::away).map(Away::at_work).sum();
    let room = usize::from(draft.limits().children.max(1)).saturating_sub(at_work);
    let to = from.saturating_add(room).min(tasks);
    if let (Ok(from), Ok(to)) = (u16::try_from(from), u16::try_from(to))
        && from < to
    {
        draft.record(Record::Spawned { call, from, to, granted });
    }
}

fn no_task() -> ToolError {
    ToolError::new("no_task", "there is no task for a child", "say what each child is to do")
}

fn too_deep(depth: u8) -> ToolError {
    ToolError::new(
        "too_deep",
        &format!("children may stand {depth} deep and not deeper"),
        "do the work here",
    )
}

/// A child came back with mail. Says whether anybody knew of it: one that was given up is only
/// charged.
pub(super) fn back(draft: &mut Draft<'_>, mail: MailId, home: &Homecoming) -> bool {
    // Whoever sent it out, it did the work.
    let waits = |call: &Call| {
        let place = call.away().and_then(|away| away.back.get(usize::from(home.part)));
        place.is_some_and(Option::is_none)
    };
    let waited_for = draft.call(home.call).is_some_and(waits);
    if !waited_for && !draft.now().strays.iter().any(|stray| stray.is(home.call, home.part)) {
        return false;
    }
    draft.record(Record::ChildBack { mail });
    if waited_for {
        settle_if_all_back(draft, home.call);
        calls::advance(draft);
    }
    true
}

fn settle_if_all_back(draft: &mut Draft<'_>, id: CallId) {
    let Some(away) = draft.call(id).and_then(Call::away).filter(|away| away.is_over()) else {
        return;
    };
    let limit = draft.result_chars();
    let text = away.text(limit);
    let shown = if away.failed() {
        let error = ToolError::new("child_failed", &text, "do the work here, or ask for less");
        Shown::error(OutcomeKind::Failed, &error, limit)
    } else {
        Shown::done(&text, limit)
    };
    settle(draft, id, shown);
}

/// Tells the children of a call to stop, once.
pub(super) fn recall(draft: &mut Draft<'_>, id: CallId) {
    let told = |away: &Away| away.recalled == Recalled::Yes;
    if draft.call(id).and_then(Call::away).is_some_and(|away| !told(away)) {
        draft.record(Record::ChildrenRecalled { call: id });
    }
}

/// What is known of children that were waited for in vain, and what the others brought back.
pub(super) fn given_up(away: &Away, limit_chars: u64) -> String {
    let missing = format!("{} of its children did not come back in time", away.out());
    if away.back.iter().all(Option::is_none) {
        return missing;
    }
    format!("{missing}\n\n{}", away.text(limit_chars))
}
