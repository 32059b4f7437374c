//! Counsels: somebody is asked who is neither the model nor a call, and what follows from the answer.

use std::sync::Arc;

use super::answer;
use super::boundary::{self, finish, finish_badly};
use super::draft::Draft;
use super::room;
use crate::counsel::{Advice, Counsel, CounselId, Cut, Goal};
use crate::record::{Record, Transition};
use crate::run::Run;
use crate::stop::StopCause;

/// Asks for counsel.
pub(super) fn seek(draft: &mut Draft<'_>, about: Counsel) {
    let counsel = draft.now().counsels.saturating_add(1);
    draft.record(Record::CounselSought { counsel, about });
}

/// The counsel in the air.
pub(super) fn sought(draft: &Draft<'_>) -> Option<(CounselId, Counsel)> {
    let consulting = draft.run().and_then(Run::consulting)?;
    Some((consulting.id, consulting.about.clone()))
}

/// Somebody answered.
pub(super) fn counselled(draft: &mut Draft<'_>, id: CounselId, advice: &Advice) {
    let Some((counsel, about)) = sought(draft).filter(|(sought, _)| *sought == id) else { return };
    let charged = match advice {
        Advice::Summary { usage, .. } | Advice::Failed { usage, .. } => Some(*usage),
        Advice::Pass { .. } | Advice::Block { .. } | Advice::Stop { .. } => None,
    };
    draft.record(Record::CounselHeard { counsel, charged });
    match about {
        Counsel::Prompt {} => prompt_seen(draft, advice),
        Counsel::Answer { cause } => answer::judged(draft, cause, advice),
        Counsel::Ruling { cause, .. } => answer::ruled(draft, cause, advice),
        Counsel::Pruning { goal, then } => pruning_seen(draft, goal, then, advice),
        Counsel::Compaction { cut } => compaction_seen(draft, cut, advice),
        Counsel::Summary { cut, .. } => room::compact(draft, &cut, summary(advice)),
    }
}

fn summary(advice: &Advice) -> Option<&str> {
    match advice {
        Advice::Summary { text, .. } => Some(text),
        Advice::Pass { .. }
        | Advice::Block { .. }
        | Advice::Stop { .. }
        | Advice::Failed { .. } => None,
    }
}

/// A hook that does not answer stands in nobody's way; one that says no does.
fn prompt_seen(draft: &mut Draft<'_>, advice: &Advice) {
    match advice {
        Advice::Block { reason } | Advice::Stop { reason } => {
            draft.record(Record::PromptWithdrawn {});
            finish(draft, &[StopCause::HookStopped], Some(reason.clone()));
        }
        Advice::Pass { context: Some(context) } => {
            draft.record(Record::Noted { text: context.clone() });
            boundary::ask(draft, Transition::Prompt);
        }
        Advice::Pass { context: None } | Advice::Summary { .. } | Advice::Failed { .. } => {
            boundary::ask(draft, Transition::Prompt);
        }
    }
}

/// A hook may put a compaction off; that uses up a rung, so it cannot do so for ever.
fn compaction_seen(draft: &mut Draft<'_>, cut: Cut, advice: &Advice) {
    match advice {
        Advice::Stop { .. } => finish_badly(draft, &[StopCause::HookStopped]),
        Advice::Block { .. } => room::put_off(draft, &cut),
        Advice::Pass { context } => room::sum_up(draft, cut, context.clone()),
        Advice::Summary { .. } | Advice::Failed { .. } => room::sum_up(draft, cut, None),
    }
}

/// A hook may put off what the cheap stages do, as long as the window is not full.
fn pruning_seen(draft: &mut Draft<'_>, goal: Goal, then: Transition, advice: &Advice) {
    match (advice, goal) {
        (Advice::Stop { .. }, _) => finish_badly(draft, &[StopCause::HookStopped]),
        (Advice::Block { .. }, Goal::Gain) => room::left_as_it_is(draft, then),
        (_, Goal::Gain) => room::make(draft, then),
        (_, Goal::OneCall) => room::make_do(draft, then),
    }
}

/// A new owner takes over, or the run is to end: what a model was writing is charged in full.
pub(super) fn give_up(draft: &mut Draft<'_>) -> Option<Counsel> {
    let (counsel, about) = sought(draft)?;
    draft.record(Record::CounselHeard { counsel, charged: about.in_full() });
    Some(about)
}

/// The run is to end while somebody is consulted. A complete answer is never lost.
pub(super) fn stopped(draft: &mut Draft<'_>, cause: StopCause) {
    let Some(about) = give_up(draft) else { return };
    if !answer::cut_short(draft, &about) {
        finish_badly(draft, &[cause]);
    }
}

/// A new owner took over in the middle of a counsel. Hooks are asked again, and so is a judge; a
/// summary is done without.
pub(super) fn taken_over(draft: &mut Draft<'_>) {
    match sought(draft) {
        Some((_, Counsel::Summary { cut, .. })) => {
            give_up(draft);
            room::compact(draft, &cut, None);
        }
        Some((_, Counsel::Ruling { cause, .. })) => {
            give_up(draft);
            answer::to_judge(draft, cause);
        }
        Some(_) | None => {}
    }
}

/// The reason as a note to the model.
pub(super) fn note(draft: &mut Draft<'_>, text: &str) {
    draft.record(Record::Noted { text: Arc::from(text) });
}
