//! A complete answer: what must be true before it counts, and how the run ends with it.

use std::sync::Arc;

use super::boundary::{self, finish, finish_badly};
use super::clock;
use super::counsel;
use super::draft::Draft;
use crate::counsel::{Advice, Counsel};
use crate::record::{Record, Rejection, Transition};
use crate::settings::{Listening, Settings};
use crate::stop::{Anomaly, StopCause};
use crate::words;

/// The model ended its turn and its reply is kept. A finished answer is never lost: it comes before
/// every other reason to stop. Only a person who said something more meanwhile, and a gate that is
/// not fulfilled, keep the run going.
pub(super) fn complete(draft: &mut Draft<'_>, cause: StopCause) {
    let Some(settings) = draft.settings() else { return };
    clock::look(draft);
    if has_steers(draft) && boundary::can_ask(draft) {
        return boundary::ask(draft, Transition::Steer);
    }
    if must_end(draft) {
        return finish_with(draft, cause);
    }
    match objection(draft, &settings) {
        Some((by, reason)) => reject(draft, cause, by, &reason),
        None if is_looked_at(&settings) => counsel::seek(draft, Counsel::Answer { cause }),
        None => finish_with(draft, cause),
    }
}

fn has_steers(draft: &Draft<'_>) -> bool {
    draft.run().is_some_and(|run| !run.steers.is_empty())
}

/// Whether nothing may hold the end up: it is wanted, its time is up, or it waits for leave to go
/// on, which an answer does not need.
fn must_end(draft: &Draft<'_>) -> bool {
    draft.run().is_some_and(|run| {
        run.stop.is_some() || run.time_up.is_some() || run.halt().is_some()
    })
}

fn is_looked_at(settings: &Settings) -> bool {
    settings.hooks.answer == Listening::Hooked || settings.gate.command.is_some()
}

/// What the core itself has against the answer.
fn objection(draft: &Draft<'_>, settings: &Settings) -> Option<(Rejection, String)> {
    let run = draft.run()?;
    if let Some(output) = &settings.output
        && run.structured.is_none()
    {
        return Some((Rejection::Schema, words::answer_with(&output.tool)));
    }
    settings.gate.missing(&run.done).map(|missing| (Rejection::Checklist, missing))
}

/// The answer goes back with the reason, a bounded number of times; then it counts and is marked.
fn reject(draft: &mut Draft<'_>, cause: StopCause, by: Rejection, reason: &str) {
    let (Some(run), Some(settings)) = (draft.run(), draft.settings()) else { return };
    let used = &run.counters;
    let may = match by {
        Rejection::Schema => used.output_retries < settings.limits.output_retries,
        Rejection::Checklist | Rejection::Hook => used.rejections < settings.limits.rejections,
    };
    if may && !must_end(draft) && boundary::can_ask(draft) {
        draft.record(Record::Rejected { by, reason: Arc::from(reason) });
        counsel::note(draft, reason);
        let tool = settings.output.as_ref().map(|output| output.tool.clone());
        boundary::ask_for(draft, Transition::Rejected, tool.filter(|_| by == Rejection::Schema));
    } else if by == Rejection::Schema {
        finish_badly(draft, &[StopCause::StructuredOutputRetries]);
    } else {
        draft.record(Record::Suspected { why: Arc::from(reason) });
        finish_with(draft, cause);
    }
}

/// Hooks and the gate's command looked at the answer.
pub(super) fn judged(draft: &mut Draft<'_>, cause: StopCause, advice: &Advice) {
    clock::look(draft);
    match advice {
        Advice::Block { reason } => reject(draft, cause, Rejection::Hook, reason),
        Advice::Pass { .. }
        | Advice::Stop { .. }
        | Advice::Summary { .. }
        | Advice::Failed { .. } => {
            if has_steers(draft) && boundary::can_ask(draft) {
                boundary::ask(draft, Transition::Steer);
            } else {
                finish_with(draft, cause);
            }
        }
    }
}

/// A call gave the answer that fits its schema, and its round is closed.
pub(super) fn structured(draft: &mut Draft<'_>) -> bool {
    let given = draft.run().is_some_and(|run| run.structured.is_some());
    if given {
        complete(draft, StopCause::EndTurn);
    }
    given
}

/// Ends the run with its answer.
pub(super) fn finish_with(draft: &mut Draft<'_>, cause: StopCause) {
    let Some(run) = draft.run() else { return };
    let text = match &run.structured {
        Some(given) => given.text().to_owned(),
        None => run.pieces.concat(),
    };
    let said = match (text.trim().is_empty(), cause) {
        (false, _) => run.structured.as_ref().map(|given| Arc::from(given.text())),
        (true, StopCause::Unexpected) => Some(Arc::from("")),
        (true, StopCause::SoftTime) => Some(Arc::from(words::NOTHING_SUMMED_UP)),
        (true, _) => Some(Arc::from(words::EMPTY_ANSWER)),
    };
    if text.trim().is_empty() && cause != StopCause::SoftTime {
        draft.record(Record::Anomaly { what: Anomaly::EmptyAnswer });
    }
    let causes = with_others(draft, cause);
    finish(draft, &causes, said);
}

/// What ended the run, and what would have.
pub(super) fn with_others(draft: &Draft<'_>, cause: StopCause) -> Vec<StopCause> {
    let others = boundary::causes_before_tools(draft).into_iter().filter(|also| applies(*also));
    std::iter::once(cause).chain(others).collect()
}

/// Limits on tools do not apply to an answer that asks for none.
fn applies(also: StopCause) -> bool {
    also != StopCause::MaxToolRounds
}
