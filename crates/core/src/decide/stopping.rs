//! Ending on request. Cancel waits for whatever is in the air and starts nothing new; abort also
//! stops the model and what may be interrupted. Either way every call is answered, truthfully.

use super::boundary::finish_badly;
use super::calls;
use super::draft::Draft;
use crate::call::{Call, CallState};
use crate::facts::Interrupt;
use crate::ids::{CallId, Millis};
use crate::outcome::{Reach, Shown};
use crate::question::About;
use crate::record::{Record, Stop};
use crate::reply::Usage;
use crate::run::{Asking, Phase};
use crate::stop::StopCause;

/// A stop was asked for: does at once what can be done at once.
pub(super) fn requested(draft: &mut Draft<'_>, how: Stop) {
    let Some(run) = draft.run() else { return };
    match &run.phase {
        Phase::Between => {}
        Phase::Asking(_) if how == Stop::Cancel => {}
        Phase::Asking(asking) => {
            let abandoned = abandon(asking, "aborted by the user");
            draft.record(abandoned);
            finish_badly(draft, &[StopCause::UserCancel]);
        }
        Phase::Deferred { .. } => finish_badly(draft, &[StopCause::UserCancel]),
        Phase::Halted(halt) if halt.round.is_none() => {
            finish_badly(draft, &[StopCause::UserCancel]);
        }
        Phase::Acting(_) | Phase::Halted(_) => calls::advance(draft),
    }
}

/// A model call that will bring nothing any more, charged in full: its answer had begun.
pub(super) fn abandon(asking: &Asking, why: &str) -> Record {
    let charged = Usage {
        input_tokens: asking.reserved_tokens.saturating_sub(asking.max_tokens),
        output_tokens: asking.max_tokens,
        ..Usage::default()
    };
    Record::AttemptAbandoned { ask: asking.ask, why: why.into(), charged }
}

/// In a round that must end, answers every call that is not in the air.
pub(super) fn wind_down(draft: &mut Draft<'_>) {
    let Some(reason) = reason(draft) else { return };
    let flown = forgotten_flights(draft);
    let ids: Vec<CallId> = draft.calls().iter().map(|call| call.id).collect();
    for id in ids {
        let shown = draft.call(id).and_then(|call| match flown.contains(&id) {
            true => Some(Shown::lost(call.reach())),
            false => ending(draft, call, reason),
        });
        if let Some(shown) = shown {
            calls::settle(draft, id, shown);
        }
    }
}

/// Calls that may have been in the air when the last owner died. That a repeatable call was let go
/// is not stored, so one that changes something and had its turn cannot be called skipped.
fn forgotten_flights(draft: &Draft<'_>) -> Vec<CallId> {
    let halted = draft.run().is_some_and(|run| run.halt().is_some());
    if !halted && !draft.is_takeover() {
        return Vec::new();
    }
    let calls = draft.calls();
    let flew = |(place, call): &(usize, &Call)| {
        let mut before = calls.iter().take(*place);
        call.state == CallState::Ready
            && call.facts.is_repeatable()
            && call.reach() == Reach::Unknown
            && !before.any(|earlier| earlier.stands_before(call))
    };
    calls.iter().enumerate().filter(flew).map(|(_, call)| call.id).collect()
}

fn reason(draft: &Draft<'_>) -> Option<&'static str> {
    if draft.is_stopping() {
        return Some("the run was cancelled before this call ran");
    }
    calls::is_fatal(draft).then_some("another call of the same reply failed for good")
}

/// The result of a call that will not go on, or `None` if it must be waited for.
fn ending(draft: &Draft<'_>, call: &Call, reason: &str) -> Option<Shown> {
    match &call.state {
        CallState::BeforeHook | CallState::Unjudged | CallState::Ready => {
            Some(Shown::skipped(reason))
        }
        CallState::Resting { .. } => Some(Shown::not_retried(call.reach())),
        CallState::Questioned(question) => match question.about {
            About::Approval { .. } | About::Asking { .. } | About::Drift { .. } => {
                Some(Shown::skipped(reason))
            }
            About::Uncertain { .. } => waited_enough(draft).then(|| Shown::lost(call.reach())),
        },
        CallState::Running { since } => interrupted(draft, call, *since),
        CallState::Lost | CallState::AfterHook(_) | CallState::Settled(_) => None,
    }
}

fn interrupted(draft: &Draft<'_>, call: &Call, since: Millis) -> Option<Shown> {
    let aborting = draft.run().and_then(|run| run.stop).is_some_and(|stop| stop.how == Stop::Abort);
    let may = call.facts.interrupt == Interrupt::Interruptible;
    (aborting && may).then(|| Shown::interrupted(draft.at.since(since), call.reach()))
}

/// Whether a human who was asked about unknown effects had time enough to answer before a cancel.
fn waited_enough(draft: &Draft<'_>) -> bool {
    let stop = draft.run().and_then(|run| run.stop);
    stop.is_some_and(|stop| draft.at >= stop.at.plus(draft.limits().cancel_wait_ms))
}
