//! A new owner takes over. What was completed is replayed, what never started is run, what was in
//! the air is run again only if that does no harm; otherwise the tool is asked, then a human.

use std::sync::Arc;

use super::answer;
use super::boundary;
use super::calls;
use super::counsel;
use super::draft::Draft;
use super::stopping;
use crate::call::{Call, CallState};
use crate::drift::{self, Offer};
use crate::facts::Verify;
use crate::ids::{CallId, Epoch};
use crate::input::Finding;
use crate::outcome::Shown;
use crate::question::About;
use crate::record::{Record, TimeLimit, Transition};
use crate::run::{Halt, Leave, Run};

pub(super) fn adopted(
    draft: &mut Draft<'_>,
    epoch: Epoch,
    prompt_hash: &Arc<str>,
    offer: Option<&Offer>,
) {
    if draft.run().is_none() {
        return;
    }
    draft.record(Record::Adopted { epoch });
    // A run that is to end asks the model nothing more: what it would be told does not matter.
    let changed = draft.now().prompt_hash.as_ref() != Some(prompt_hash);
    let drifted = changed && !draft.is_stopping() && !calls::is_fatal(draft) && !is_over(draft);
    let was_asking = give_up_attempt(draft);
    account_for_lost_calls(draft);
    match leave(draft) {
        Some(Leave::Awaited) if !changed => draft.record(Record::DriftAccepted {}),
        Some(Leave::Awaited | Leave::Given) => {}
        None if drifted => ask_about_drift(draft, offer),
        None => go_on(draft, was_asking),
    }
}

fn is_over(draft: &Draft<'_>) -> bool {
    let up = draft.run().and_then(|run| run.time_up);
    up.is_some_and(|up| up.limit == TimeLimit::Hard)
}

fn ask_about_drift(draft: &mut Draft<'_>, offer: Option<&Offer>) {
    // A complete answer needs no model any more.
    if let Some(kept) = draft.run().and_then(Run::halt).and_then(Halt::kept_answer).cloned() {
        return answer::keep_answer(draft, &kept);
    }
    if counsel::give_up(draft).is_some_and(|about| answer::cut_short(draft, &about)) {
        return;
    }
    let what = match (draft.now().run_owner.as_ref(), offer) {
        (Some(owner), Some(offer)) => drift::what(&owner.offer(), offer),
        (Some(_) | None, _) => {
            Arc::from("the system prompt or the tools changed since the run began")
        }
    };
    calls::question(draft, About::Drift { what });
}

/// Whether a run that is halted because of a change may go on.
fn leave(draft: &Draft<'_>) -> Option<Leave> {
    let halt = draft.run().and_then(Run::halt)?;
    matches!(halt.question.about, About::Drift { .. }).then_some(halt.leave)
}

enum WasAsking {
    Yes,
    No,
}

/// A model call without a reply is charged in full and will be made again.
fn give_up_attempt(draft: &mut Draft<'_>) -> WasAsking {
    let Some(asking) = draft.run().and_then(Run::asking) else { return WasAsking::No };
    let abandoned = stopping::abandon(asking, "its process ended");
    draft.record(abandoned);
    WasAsking::Yes
}

fn go_on(draft: &mut Draft<'_>, was_asking: WasAsking) {
    match was_asking {
        WasAsking::Yes => boundary::ask(draft, Transition::Adopted),
        WasAsking::No if calls::is_acting(draft) => calls::advance(draft),
        WasAsking::No => counsel::taken_over(draft),
    }
}

fn account_for_lost_calls(draft: &mut Draft<'_>) {
    let running = |call: &&Call| matches!(call.state, CallState::Running { .. });
    let ids: Vec<CallId> = draft.calls().iter().filter(running).map(|call| call.id).collect();
    for id in ids {
        let Some(call) = draft.call(id) else { continue };
        if call.facts.is_repeatable() {
            draft.record(Record::CallCleared { call: id });
        } else {
            let verify = call.facts.verify;
            draft.record(Record::CallLost { call: id });
            if verify == Verify::CannotTell {
                calls::question(draft, About::Uncertain { call: id });
            }
        }
    }
}

/// The tool says what became of a call that was in the air.
pub(super) fn probed(draft: &mut Draft<'_>, id: CallId, finding: &Finding) {
    if draft.call(id).is_none_or(|call| call.state != CallState::Lost) {
        return;
    }
    match finding {
        Finding::Happened { text } => {
            let limit = draft.result_chars();
            calls::settle(draft, id, Shown::done(text, limit));
        }
        Finding::DidNotHappen {} => draft.record(Record::CallCleared { call: id }),
        Finding::Unknown {} => calls::question(draft, About::Uncertain { call: id }),
    }
    calls::advance(draft);
}
