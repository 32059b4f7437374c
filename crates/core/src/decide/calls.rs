//! A round: every call judged, let go in order, brought home, and answered.

use std::sync::Arc;

use super::boundary;
use super::draft::Draft;
use super::stopping;
use crate::call::{Call, CallState};
use crate::facts::AnsweredBy;
use crate::ids::{CallId, Millis};
use crate::input::HookAnswer;
use crate::jitter;
use crate::outcome::{Outcome, OutcomeKind, Shown, ToolError};
use crate::policy::Verdict;
use crate::question::{About, Question};
use crate::record::{Record, Settlement, Transition};
use crate::run::{Fatality, Phase, Round, Run};
use crate::settings::Listening;

/// Brings the open round as far as it goes without the world.
pub(super) fn advance(draft: &mut Draft<'_>) {
    stopping::wind_down(draft);
    judge_all(draft);
    let_go_all(draft);
    close_if_complete(draft);
}

fn judge_all(draft: &mut Draft<'_>) {
    let unjudged = |call: &&Call| call.state == CallState::Unjudged;
    let ids: Vec<CallId> = draft.calls().iter().filter(unjudged).map(|call| call.id).collect();
    for id in ids {
        judge(draft, id);
    }
}

/// Gives a call its verdict and what follows from it.
pub(super) fn judge(draft: &mut Draft<'_>, id: CallId) {
    let limits = draft.limits();
    let Some(place) = draft.calls().iter().position(|call| call.id == id) else { return };
    if place >= usize::from(limits.calls_per_reply) {
        let reason = format!("one reply may hold {} calls", limits.calls_per_reply);
        return settle(draft, id, Shown::skipped(&reason));
    }
    let (Some(call), Some(settings)) = (draft.call(id), draft.settings()) else { return };
    if let Some(error) = problem(call) {
        return settle(draft, id, Shown::error(OutcomeKind::Failed, &error, limits.result_chars));
    }
    let verdict = settings.rules.judge(&call.tool_use.name);
    let answered_by = call.facts.answered_by;
    draft.record(Record::Judged { call: id, verdict: verdict.clone() });
    match (verdict, answered_by) {
        (Verdict::Deny { reason }, _) => settle(draft, id, Shown::denied(&reason)),
        (_, AnsweredBy::Human) => question(draft, About::Asking { call: id }),
        (Verdict::Ask { .. }, AnsweredBy::Tool) => question(draft, About::Approval { call: id }),
        (Verdict::Allow { .. }, AnsweredBy::Tool) => {}
    }
}

/// Why a call cannot run whatever the rules say.
fn problem(call: &Call) -> Option<ToolError> {
    if !call.tool_use.input.is_object() {
        return Some(ToolError::not_an_object());
    }
    call.facts.problem.clone()
}

/// Asks a human.
pub(super) fn question(draft: &mut Draft<'_>, about: About) {
    let id = draft.now().questions.saturating_add(1);
    draft.record(Record::Questioned { question: Question { id, about } });
}

/// Makes a result final.
pub(super) fn settle(draft: &mut Draft<'_>, call: CallId, shown: Shown) {
    draft.record(Record::Settled { call, shown: Settlement::Shown(shown) });
}

/// Lets go whatever may run now: no earlier call in conflict, and room for it.
fn let_go_all(draft: &mut Draft<'_>) {
    if draft.run().is_some_and(|run| run.halt().is_some()) {
        return;
    }
    let most = usize::from(draft.limits().parallel_calls.max(1));
    for place in 0..draft.calls().len() {
        let running = draft.calls().iter().filter(|call| call.is_running()).count();
        if running >= most {
            return;
        }
        for record in startable(draft.calls(), place, draft.at) {
            draft.record(record);
        }
    }
}

fn startable(calls: &[Call], place: usize, at: Millis) -> Vec<Record> {
    let Some((call, before)) = calls.get(..=place).and_then(<[Call]>::split_last) else {
        return Vec::new();
    };
    let due = match call.state {
        CallState::Ready => true,
        CallState::Resting { until } => until <= at,
        CallState::BeforeHook
        | CallState::Unjudged
        | CallState::Questioned(_)
        | CallState::Running { .. }
        | CallState::Lost
        | CallState::AfterHook(_)
        | CallState::Settled(_) => false,
    };
    let blocked = before.iter().any(|earlier| earlier.stands_before(call));
    if due && !blocked { let_go(call) } else { Vec::new() }
}

/// The end of a pause is stored: later entries were decided with the call in the air.
fn let_go(call: &Call) -> Vec<Record> {
    let id = call.id;
    let rested = matches!(call.state, CallState::Resting { .. });
    let go = if call.facts.is_repeatable() {
        Record::Launched { call: id }
    } else {
        Record::Started { call: id }
    };
    rested.then_some(Record::CallCleared { call: id }).into_iter().chain([go]).collect()
}

fn close_if_complete(draft: &mut Draft<'_>) {
    let Some(round) = draft.run().and_then(Run::round) else { return };
    if !round.is_complete() {
        return;
    }
    let fatal = round.fatal;
    draft.record(Record::RoundClosed {});
    boundary::ask_after(draft, Transition::ToolResults, fatal);
}

/// A tool came back.
pub(super) fn tool_returned(draft: &mut Draft<'_>, id: CallId, attempt: u32, outcome: &Outcome) {
    let Some(call) = draft.call(id) else { return };
    if !call.is_running() || call.attempts != attempt {
        return;
    }
    if let Some(until) = retry_at(draft, call, outcome) {
        draft.record(Record::Retried { call: id, until });
    } else {
        complete(draft, id, outcome);
    }
    advance(draft);
}

fn complete(draft: &mut Draft<'_>, id: CallId, outcome: &Outcome) {
    draft.record(Record::Completed { call: id });
    if matches!(outcome, Outcome::Failed(error) if !error.recoverable) {
        draft.record(Record::TurnedFatal { call: id });
    }
    let after = draft.settings().map(|settings| settings.hooks.after_tool);
    if after != Some(Listening::Hooked) {
        settle_completed(draft, id);
    }
}

/// When a call that failed in passing is tried again; `None` if its failure goes to the model.
fn retry_at(draft: &Draft<'_>, call: &Call, outcome: &Outcome) -> Option<Millis> {
    let passing = matches!(outcome, Outcome::Failed(error) if error.transient && error.recoverable);
    if !passing || !call.facts.is_repeatable() || draft.is_stopping() || is_fatal(draft) {
        return None;
    }
    let limits = draft.limits();
    let tried = usize::try_from(call.attempts).ok()?.checked_sub(1)?;
    let pause = *limits.tool_retry_ms.get(tried)?;
    let seed = u64::from(call.id.ask) << 32 | u64::from(call.id.index) << 8 | tried as u64;
    Some(draft.at.plus(jitter::spread(pause, seed)))
}

pub(super) fn is_fatal(draft: &Draft<'_>) -> bool {
    draft.run().and_then(Run::round).is_some_and(|round| round.fatal == Fatality::Fatal)
}

fn settle_completed(draft: &mut Draft<'_>, id: CallId) {
    let limit = draft.limits().result_chars;
    let Some(call) = draft.call(id) else { return };
    let CallState::AfterHook(outcome) = &call.state else { return };
    let shown = Shown::of(outcome, limit, call.reach());
    let unchanged = matches!(outcome, Outcome::Done(content) if *content == shown.content);
    let shown = if unchanged { Settlement::AsCompleted {} } else { Settlement::Shown(shown) };
    draft.record(Record::Settled { call: id, shown });
}

/// A hook answered.
pub(super) fn hook_answered(draft: &mut Draft<'_>, id: CallId, answer: &HookAnswer) {
    let Some(call) = draft.call(id) else { return };
    match call.state {
        CallState::BeforeHook => before_hook_answered(draft, id, answer),
        CallState::AfterHook(_) => after_hook_answered(draft, id, answer),
        CallState::Unjudged
        | CallState::Questioned(_)
        | CallState::Ready
        | CallState::Running { .. }
        | CallState::Resting { .. }
        | CallState::Lost
        | CallState::Settled(_) => return,
    }
    advance(draft);
}

fn before_hook_answered(draft: &mut Draft<'_>, id: CallId, answer: &HookAnswer) {
    match answer {
        HookAnswer::Pass {} => judge(draft, id),
        HookAnswer::Deny { reason } => {
            let verdict = Verdict::Deny { reason: reason.clone() };
            draft.record(Record::Judged { call: id, verdict });
            settle(draft, id, Shown::denied(reason));
        }
        HookAnswer::Change { .. } => {
            draft.record(Record::InputChanged { call: id });
            judge(draft, id);
        }
    }
}

fn after_hook_answered(draft: &mut Draft<'_>, id: CallId, answer: &HookAnswer) {
    let limit = draft.limits().result_chars;
    match answer {
        HookAnswer::Pass {} => settle_completed(draft, id),
        HookAnswer::Deny { reason } => {
            let hint = "the call ran; a hook rejected its result";
            let error = ToolError::new("hook_rejected", reason, hint);
            settle(draft, id, Shown::error(OutcomeKind::Failed, &error, limit));
        }
        HookAnswer::Change { input, .. } => {
            settle(draft, id, Shown::of(&Outcome::Done(input.clone()), limit, reach(draft, id)));
        }
    }
}

fn reach(draft: &Draft<'_>, id: CallId) -> crate::outcome::Reach {
    draft.call(id).map_or(crate::outcome::Reach::Unknown, Call::reach)
}

/// The sentence for a reply whose calls had ids that stand in it already.
pub(super) fn repeated_ids_note(names: &[Arc<str>]) -> Arc<str> {
    let names = names.join(", ");
    Arc::from(format!("calls with an id already used in the same reply were not run: {names}"))
}

/// Whether the run is acting on a round.
pub(super) fn is_acting(draft: &Draft<'_>) -> bool {
    draft.run().is_some_and(|run| matches!(run.phase, Phase::Acting(Round { .. })))
}
