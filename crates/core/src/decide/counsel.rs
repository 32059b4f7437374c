//! Counsels: somebody is asked who is neither the model nor a call, and what follows from the answer.

use std::sync::Arc;

use super::answer;
use super::boundary::{self, finish, finish_badly};
use super::draft::Draft;
use super::room;
use crate::counsel::{Advice, Counsel, CounselId, Cut};
use crate::record::{Record, Transition};
use crate::reply::Usage;
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

/// A new owner takes over, or the run is to end: a summary that was being made is charged in full.
pub(super) fn give_up(draft: &mut Draft<'_>) -> Option<Counsel> {
    let (counsel, about) = sought(draft)?;
    let charged = match &about {
        Counsel::Summary { max_tokens, reserved_tokens, .. } => Some(Usage {
            input_tokens: reserved_tokens.saturating_sub(*max_tokens),
            output_tokens: *max_tokens,
            ..Usage::default()
        }),
        Counsel::Prompt {} | Counsel::Answer { .. } | Counsel::Compaction { .. } => None,
    };
    draft.record(Record::CounselHeard { counsel, charged });
    Some(about)
}

/// The run is to end while somebody is consulted. A complete answer is never lost.
pub(super) fn stopped(draft: &mut Draft<'_>) {
    match give_up(draft) {
        Some(Counsel::Answer { cause }) => answer::finish_with(draft, cause),
        Some(Counsel::Prompt {} | Counsel::Compaction { .. } | Counsel::Summary { .. }) => {
            finish_badly(draft, &[StopCause::UserCancel]);
        }
        None => {}
    }
}

/// What hooks say to a run that a new owner took over in the middle of a counsel: they are asked
/// again; a summary is done without.
pub(super) fn taken_over(draft: &mut Draft<'_>) {
    if let Some((_, Counsel::Summary { cut, .. })) = sought(draft) {
        give_up(draft);
        room::compact(draft, &cut, None);
    }
}

/// The reason as a note to the model.
pub(super) fn note(draft: &mut Draft<'_>, text: &str) {
    draft.record(Record::Noted { text: Arc::from(text) });
}
