//! A complete answer: what must be true before it counts, and how the run ends with it.

use std::sync::Arc;

use super::boundary::{self, finish, finish_badly};
use super::budget;
use super::clock;
use super::counsel;
use super::draft::Draft;
use crate::aside::{self, Ruling};
use crate::call::{Call, CallState};
use crate::counsel::{Advice, Counsel};
use crate::cut;
use crate::ids::CallId;
use crate::outcome::OutcomeKind;
use crate::record::{Record, Rejection, Transition};
use crate::reply::Reply;
use crate::run::Round;
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
        None => to_judge(draft, cause),
    }
}

fn has_steers(draft: &Draft<'_>) -> bool {
    draft.run().is_some_and(|run| !run.steers.is_empty())
}

/// Whether nothing may hold the end up: it is wanted, its time is up, or it waits for leave to go
/// on, which an answer does not need.
fn must_end(draft: &Draft<'_>) -> bool {
    draft
        .run()
        .is_some_and(|run| run.stop.is_some() || run.time_up.is_some() || run.halt().is_some())
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
    let reason = bounded(reason);
    let may = match by {
        Rejection::Schema => used.output_retries < settings.limits.output_retries,
        Rejection::Checklist | Rejection::Hook | Rejection::Judge => {
            used.rejections < settings.limits.rejections
        }
    };
    if may && !must_end(draft) && boundary::can_ask(draft) {
        draft.record(Record::Rejected { by, reason: reason.clone() });
        counsel::note(draft, &reason);
        let tool = settings.output.as_ref().map(|output| output.tool.clone());
        boundary::ask_for(draft, Transition::Rejected, tool.filter(|_| by == Rejection::Schema));
    } else if by == Rejection::Schema {
        finish_badly(draft, &[StopCause::StructuredOutputRetries]);
    } else {
        draft.record(Record::Suspected { why: reason });
        finish_with(draft, cause);
    }
}

/// Hooks and the gate's command looked at the answer.
pub(super) fn judged(draft: &mut Draft<'_>, cause: StopCause, advice: &Advice) {
    clock::look(draft);
    match advice {
        Advice::Block { reason } => reject(draft, cause, Rejection::Hook, reason),
        Advice::Failed { why, .. } => unverified(draft, cause, why),
        Advice::Pass { .. } | Advice::Summary { .. } => to_judge(draft, cause),
        Advice::Stop { .. } if is_judged(draft) => not_judged(draft, cause),
        Advice::Stop { .. } => steer_or_finish(draft, cause),
    }
}

fn is_judged(draft: &Draft<'_>) -> bool {
    draft.settings().is_some_and(|settings| settings.gate.judge.is_some())
}

/// Nobody could say whether the answer counts. Hooks stand in nobody's way; a command that must
/// succeed and did not leaves a doubt. A judge is asked either way.
fn unverified(draft: &mut Draft<'_>, cause: StopCause, why: &str) {
    let gated = draft.settings().is_some_and(|settings| settings.gate.command.is_some());
    if gated {
        draft.record(Record::Suspected { why: bounded(why) });
    }
    to_judge(draft, cause);
}

/// The last to look at an answer. A judge who cannot be paid leaves a doubt.
pub(super) fn to_judge(draft: &mut Draft<'_>, cause: StopCause) {
    clock::look(draft);
    let goes_on = has_steers(draft) && boundary::can_ask(draft);
    if goes_on || !is_judged(draft) {
        return steer_or_finish(draft, cause);
    }
    if must_end(draft) {
        return not_judged(draft, cause);
    }
    match budget::for_ruling(draft) {
        Some((max_tokens, reserved_tokens)) => {
            counsel::seek(draft, Counsel::Ruling { cause, max_tokens, reserved_tokens });
        }
        None => doubted(draft, cause, words::JUDGE_UNPAID),
    }
}

/// A judge answered, or did not. It is asked once for each answer: whatever is not a yes or a no
/// leaves a doubt, and the answer counts.
pub(super) fn ruled(draft: &mut Draft<'_>, cause: StopCause, advice: &Advice) {
    clock::look(draft);
    match advice {
        Advice::Summary { text, .. } => match aside::ruling(text) {
            Ruling::Yes => steer_or_finish(draft, cause),
            Ruling::No { reason } => reject(draft, cause, Rejection::Judge, &reason),
            Ruling::Unclear => doubted(draft, cause, words::UNCLEAR_RULING),
        },
        Advice::Failed { why, .. } => {
            doubted(draft, cause, &format!("the judge did not answer: {why}"));
        }
        Advice::Pass { .. } | Advice::Block { .. } | Advice::Stop { .. } => {
            doubted(draft, cause, words::UNCLEAR_RULING);
        }
    }
}

/// The run ends while a judge is asked: its answer is kept, with a doubt.
pub(super) fn not_judged(draft: &mut Draft<'_>, cause: StopCause) {
    draft.record(Record::Suspected { why: Arc::from(words::NOT_JUDGED) });
    finish_with(draft, cause);
}

fn doubted(draft: &mut Draft<'_>, cause: StopCause, why: &str) {
    draft.record(Record::Suspected { why: bounded(why) });
    steer_or_finish(draft, cause);
}

/// The run is to end while its answer is looked at.
pub(super) fn cut_short(draft: &mut Draft<'_>, about: &Counsel) -> bool {
    match about {
        Counsel::Answer { cause } if !is_judged(draft) => finish_with(draft, *cause),
        Counsel::Answer { cause } | Counsel::Ruling { cause, .. } => not_judged(draft, *cause),
        Counsel::Prompt {}
        | Counsel::Pruning { .. }
        | Counsel::Compaction { .. }
        | Counsel::Summary { .. } => return false,
    }
    true
}

fn steer_or_finish(draft: &mut Draft<'_>, cause: StopCause) {
    if has_steers(draft) && boundary::can_ask(draft) {
        boundary::ask(draft, Transition::Steer);
    } else {
        finish_with(draft, cause);
    }
}

/// What others say is told in a sentence.
fn bounded(text: &str) -> Arc<str> {
    Arc::from(cut::text(text, cut::SENTENCE_CHARS).as_ref())
}

/// An answer that was given by a call.
#[derive(Clone, Copy)]
pub(super) enum Given {
    /// It fits its schema.
    Fitting(CallId),
    /// It does not.
    Unfit,
}

/// The answer that a round gave through the tool for it, if it gave one. A call that was not let run
/// is none.
pub(super) fn given(draft: &Draft<'_>, round: &Round) -> Option<Given> {
    let output = draft.settings()?.output.clone()?;
    let calls = || round.calls.iter().filter(|call| call.tool_use.name == output.tool);
    let fitting = calls().rfind(|call| call.has_worked()).map(|call| Given::Fitting(call.id));
    let failed = |call: &Call| matches!(&call.state, CallState::Settled(shown) if shown.kind == OutcomeKind::Failed);
    fitting.or_else(|| calls().any(failed).then_some(Given::Unfit))
}

/// Whether this reply gives the answer through the tool for it.
pub(super) fn is_given_by(draft: &Draft<'_>, reply: &Reply) -> bool {
    let output = draft.settings().and_then(|settings| settings.output.clone());
    output.is_some_and(|output| reply.tool_uses().any(|(_, call)| call.name == output.tool))
}

/// An answer did not fit its schema: that is counted, and the run ends when it happened too often.
pub(super) fn may_try_again(draft: &mut Draft<'_>) -> bool {
    let retries = draft.run().map_or(0, |run| run.counters.output_retries);
    let may = retries < draft.limits().output_retries;
    if may {
        let reason = Arc::from("the answer does not fit its schema");
        draft.record(Record::Rejected { by: Rejection::Schema, reason });
    } else {
        finish_badly(draft, &[StopCause::StructuredOutputRetries]);
    }
    may
}

/// Ends the run with its answer.
pub(super) fn finish_with(draft: &mut Draft<'_>, cause: StopCause) {
    let Some(run) = draft.run() else { return };
    let text = run.answer();
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
