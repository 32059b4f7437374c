//! A complete answer: what must be true before it counts, and how the run ends with it.

use std::sync::Arc;

use super::boundary::{self, finish, finish_badly};
use super::clock;
use super::counsel;
use super::draft::Draft;
use super::guardrail;
use super::judge;
use super::person;
use crate::call::{Call, CallState};
use crate::counsel::{Advice, Counsel};
use crate::cut;
use crate::ids::CallId;
use crate::outcome::OutcomeKind;
use crate::question::KeptAnswer;
use crate::record::{Record, Rejection, Transition};
use crate::reply::Reply;
use crate::run::Round;
use crate::settings::{Listening, Settings};
use crate::stop::{Anomaly, StopCause};
use crate::thrash::Level;
use crate::words;

/// The model ended its turn and its reply is kept. A finished answer is never lost: it comes before
/// every other reason to stop. Only a person who said something more meanwhile, and a gate that is
/// not fulfilled, keep the run going.
pub(super) fn complete(draft: &mut Draft<'_>, cause: StopCause) {
    let Some(settings) = draft.settings() else { return };
    clock::look(draft);
    if goes_on(draft) {
        return boundary::ask(draft, Transition::Steer);
    }
    if must_end(draft) {
        return finish_with(draft, cause);
    }
    if let Some(question) = person::due(draft) {
        return answered_instead(draft, cause, &question);
    }
    match objection(draft, &settings) {
        Some((by, reason)) => reject(draft, cause, by, &reason),
        None if is_looked_at(&settings) => counsel::seek(draft, Counsel::Answer { cause }),
        None => judge::asked(draft, cause),
    }
}

/// The model was made to ask a person and answered: the runtime asks. A person is not asked about
/// what the model can no longer be told; then the answer counts and is marked.
fn answered_instead(draft: &mut Draft<'_>, cause: StopCause, question: &str) {
    let suspect = Arc::from(words::ANSWERED_INSTEAD);
    // Words are no answer where one by schema is wanted.
    let wordy = draft.settings().is_some_and(|settings| lacks_structure(draft, &settings));
    if !boundary::can_ask(draft) {
        return match wordy {
            true => finish_badly(draft, &[StopCause::StructuredOutputRetries]),
            false => keep_answer(draft, &KeptAnswer { cause, suspect }),
        };
    }
    counsel::note(draft, words::ASKED_FOR_YOU);
    if wordy {
        return person::ask(draft, question);
    }
    person::ask_about(draft, question, KeptAnswer { cause, suspect });
}

fn has_steers(draft: &Draft<'_>) -> bool {
    draft.run().is_some_and(|run| !run.steers.is_empty())
}

/// Whether a person said something more meanwhile that the model can still be asked about: then the
/// answer is not the last.
pub(super) fn goes_on(draft: &Draft<'_>) -> bool {
    has_steers(draft) && boundary::can_ask(draft)
}

/// Whether nothing may hold the end up: it is wanted, its time is up, or it waits for leave to go
/// on, which an answer does not need.
pub(super) fn must_end(draft: &Draft<'_>) -> bool {
    draft
        .run()
        .is_some_and(|run| run.stop.is_some() || run.time_up.is_some() || run.halt().is_some())
}

fn is_looked_at(settings: &Settings) -> bool {
    settings.hooks.answer == Listening::Hooked || settings.gate.command.is_some()
}

fn lacks_structure(draft: &Draft<'_>, settings: &Settings) -> bool {
    settings.output.is_some() && draft.run().is_some_and(|run| run.structured.is_none())
}

/// What the core itself has against the answer.
fn objection(draft: &Draft<'_>, settings: &Settings) -> Option<(Rejection, String)> {
    let run = draft.run()?;
    if let Some(output) = settings.output.as_ref().filter(|_| lacks_structure(draft, settings)) {
        return Some((Rejection::Schema, words::answer_with(&output.tool)));
    }
    settings.gate.missing(&run.done).map(|missing| (Rejection::Checklist, missing))
}

/// The answer goes back with the reason, a bounded number of times; then a person is asked. Where
/// nobody can be asked it counts and is marked.
pub(super) fn reject(draft: &mut Draft<'_>, cause: StopCause, by: Rejection, reason: &str) {
    let reason = bounded(reason);
    let level = guardrail::next_level(draft, by);
    let over = must_end(draft) || !boundary::can_ask(draft);
    if over || (level == Level::Human && !person::is_reachable(draft)) {
        return not_rejected(draft, cause, by, reason);
    }
    guardrail::record(draft, by, &reason, level);
    match (level, by) {
        (Level::Human, Rejection::Schema) => guardrail::ask_person(draft, by, &reason),
        (Level::Human, _) => {
            let question = guardrail::question(draft, by, &reason);
            person::ask_about(draft, &question, KeptAnswer { cause, suspect: reason });
        }
        (_, Rejection::Schema) => {
            let tool = draft.settings().and_then(|own| own.output.clone()).map(|out| out.tool);
            boundary::ask_for(draft, Transition::Rejected, tool);
        }
        (_, _) => boundary::ask(draft, Transition::Rejected),
    }
}

/// The answer was rejected too often, or nothing more can be asked.
fn not_rejected(draft: &mut Draft<'_>, cause: StopCause, by: Rejection, reason: Arc<str>) {
    if by == Rejection::Schema {
        return finish_badly(draft, &[StopCause::StructuredOutputRetries]);
    }
    draft.record(Record::Suspected { why: reason });
    finish_with(draft, cause);
}

/// A person stops the run, or it is cancelled, while they are asked about its answer: that is kept.
pub(super) fn keep_answer(draft: &mut Draft<'_>, kept: &KeptAnswer) {
    draft.record(Record::Suspected { why: kept.suspect.clone() });
    finish_with(draft, kept.cause);
}

/// Hooks and the gate's command looked at the answer.
pub(super) fn judged(draft: &mut Draft<'_>, cause: StopCause, advice: &Advice) {
    clock::look(draft);
    match advice {
        Advice::Block { reason } => reject(draft, cause, Rejection::Hook, reason),
        Advice::Failed { why, .. } => unverified(draft, cause, why),
        Advice::Pass { .. } | Advice::Summary { .. } => judge::asked(draft, cause),
        Advice::Stop { .. } if judge::is_there(draft) => judge::cut_short(draft, cause),
        Advice::Stop { .. } => steer_or_finish(draft, cause),
    }
}

/// Nobody could say whether the answer counts. Hooks stand in nobody's way; a command that must
/// succeed and did not leaves a doubt. A judge is asked either way.
fn unverified(draft: &mut Draft<'_>, cause: StopCause, why: &str) {
    let gated = draft.settings().is_some_and(|settings| settings.gate.command.is_some());
    if gated {
        draft.record(Record::Suspected { why: bounded(why) });
    }
    judge::asked(draft, cause);
}

/// The run is to end while its answer is looked at.
pub(super) fn cut_short(draft: &mut Draft<'_>, about: &Counsel) -> bool {
    match about {
        Counsel::Answer { cause } if !judge::is_there(draft) => finish_with(draft, *cause),
        Counsel::Answer { cause } | Counsel::Ruling { cause, .. } => {
            judge::cut_short(draft, *cause);
        }
        Counsel::Prompt {}
        | Counsel::Pruning { .. }
        | Counsel::Compaction { .. }
        | Counsel::Summary { .. } => return false,
    }
    true
}

pub(super) fn steer_or_finish(draft: &mut Draft<'_>, cause: StopCause) {
    if goes_on(draft) {
        boundary::ask(draft, Transition::Steer);
    } else {
        finish_with(draft, cause);
    }
}

/// What others say is told in a sentence.
pub(super) fn bounded(text: &str) -> Arc<str> {
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

/// Whether an answer that did not fit its schema may be given again. If not, a person is asked, or
/// the run ends.
pub(super) fn may_try_again(draft: &mut Draft<'_>) -> bool {
    let (by, reason) = (Rejection::Schema, "the answer does not fit its schema");
    match guardrail::next_level(draft, by) {
        Level::Human if person::is_reachable(draft) && !must_end(draft) => {
            guardrail::record(draft, by, reason, Level::Human);
            guardrail::ask_person(draft, by, reason);
            false
        }
        Level::Human => {
            finish_badly(draft, &[StopCause::StructuredOutputRetries]);
            false
        }
        level @ (Level::Calm | Level::Nudge | Level::Directive) => {
            let reason = Arc::from(reason);
            draft.record(Record::Rejected { by, reason, level });
            true
        }
    }
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
