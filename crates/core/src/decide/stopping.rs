//! Ending on request. Cancel waits for whatever is in the air and starts nothing new; abort also
//! stops the model and what may be interrupted. Either way every call is answered, truthfully.

use super::answer;
use super::boundary::finish_badly;
use super::calls;
use super::children;
use super::counsel;
use super::draft::Draft;
use crate::call::{Call, CallState};
use crate::child::Away;
use crate::facts::Interrupt;
use crate::ids::{CallId, Millis};
use crate::outcome::{OutcomeKind, Reach, Shown, ToolError};
use crate::question::About;
use crate::record::{Record, Stop, TimeLimit};
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
        Phase::Consulting(_) => counsel::stopped(draft, StopCause::UserCancel),
        Phase::Halted(halt) if halt.round.is_none() => match halt.kept_answer().cloned() {
            Some(kept) => answer::keep_answer(draft, &kept),
            None => finish_badly(draft, &[StopCause::UserCancel]),
        },
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
        children::recall(draft, id);
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

/// Why the round must end; `None` if it goes on.
pub(super) fn reason(draft: &Draft<'_>) -> Option<&'static str> {
    if draft.is_stopping() {
        return Some("the run was cancelled before this call ran");
    }
    if draft.run().is_some_and(|run| run.time_up.is_some()) {
        return Some("the time for the run was up before this call ran");
    }
    calls::is_fatal(draft).then_some("another call of the same reply failed for good")
}

/// The result of a call that will not go on, or `None` if it must be waited for.
fn ending(draft: &Draft<'_>, call: &Call, reason: &str) -> Option<Shown> {
    match &call.state {
        CallState::BeforeHook | CallState::Unjudged | CallState::Referred | CallState::Ready => {
            Some(Shown::skipped(reason))
        }
        CallState::Away(away) => recalled(draft, away),
        CallState::Resting { .. } => Some(Shown::not_retried(call.reach())),
        CallState::Questioned(question) => match question.about {
            About::Approval { .. }
            | About::Asking { .. }
            | About::Plan { .. }
            | About::Guidance { .. }
            | About::Budget { .. }
            | About::Drift { .. } => Some(Shown::skipped(reason)),
            About::Uncertain { .. } => waited_enough(draft).then(|| Shown::lost(call.reach())),
        },
        CallState::Running { since } => interrupted(draft, call, *since),
        CallState::Lost | CallState::AfterHook(_) | CallState::Settled(_) => None,
    }
}

/// Children who were told to stop are waited for, but not for ever; what the others found does not
/// matter to a run that failed for good.
fn recalled(draft: &Draft<'_>, away: &Away) -> Option<Shown> {
    let ends = is_urgent(draft) || waited_enough(draft) || calls::is_fatal(draft);
    let limit = draft.result_chars();
    ends.then(|| {
        let message = children::given_up(away, limit / 20);
        let error = ToolError::new("interrupted", &message, INCOMPLETE);
        Shown::error(OutcomeKind::Interrupted, &error, limit)
    })
}

/// Who is told what children found is told that they did not finish.
const INCOMPLETE: &str = "they were told to stop; what they did so far stays done";

fn interrupted(draft: &Draft<'_>, call: &Call, since: Millis) -> Option<Shown> {
    let may = call.facts.interrupt == Interrupt::Interruptible;
    let ends = is_over(draft) || (may && (is_urgent(draft) || is_out_of_grace(draft)));
    ends.then(|| Shown::interrupted(draft.at.since(since), call.reach()))
}

/// Whether nothing more is waited for.
fn is_urgent(draft: &Draft<'_>) -> bool {
    let aborting = draft.run().and_then(|run| run.stop).is_some_and(|stop| stop.how == Stop::Abort);
    aborting || is_over(draft)
}

fn is_over(draft: &Draft<'_>) -> bool {
    let up = draft.run().and_then(|run| run.time_up);
    up.is_some_and(|up| up.limit == TimeLimit::Hard)
}

/// Whether calls in the air were waited for long enough after the soft time limit.
fn is_out_of_grace(draft: &Draft<'_>) -> bool {
    let up = draft.run().and_then(|run| run.time_up);
    let times = draft.settings().and_then(|settings| settings.times).unwrap_or_default();
    up.is_some_and(|up| draft.at >= up.at.plus(times.grace_ms))
}

/// Whether a human who was asked about unknown effects, or children who were told to stop, had time
/// enough before a cancel.
fn waited_enough(draft: &Draft<'_>) -> bool {
    let Some(run) = draft.run() else { return false };
    let since = run.stop.map(|stop| stop.at).or(run.time_up.map(|up| up.at));
    since.is_some_and(|since| draft.at >= since.plus(draft.limits().cancel_wait_ms))
}
