//! A round: every call judged, let go in order, brought home, and answered.

use std::sync::Arc;

use super::answer::{self, Given};
use super::budget;
use super::children;
use super::draft::Draft;
use super::plan;
use super::stopping;
use super::watch;
use crate::aside;
use crate::call::{Call, CallState};
use crate::facts::AnsweredBy;
use crate::ids::{CallId, Millis};
use crate::input::Opinion;
use crate::jitter;
use crate::outcome::{Outcome, OutcomeKind, Shown};
use crate::permission::{Asked, Effect, Grant, Lean, Verdict};
use crate::question::{About, Question};
use crate::record::{Record, Settlement};
use crate::run::{Fatality, Phase, Round, Run};
use crate::settings::Listening;
use crate::stop::StopCause;
use crate::words;

/// Brings the open round as far as it goes without the world.
pub(super) fn advance(draft: &mut Draft<'_>) {
    stopping::wind_down(draft);
    expire_all(draft);
    judge_all(draft);
    let_go_all(draft);
    close_if_complete(draft);
}

fn judge_all(draft: &mut Draft<'_>) {
    let unjudged = |call: &&Call| call.state == CallState::Unjudged;
    let ids: Vec<CallId> = draft.calls().iter().filter(unjudged).map(|call| call.id).collect();
    for id in ids {
        judge(draft, id, Lean::Neutral);
    }
}

/// Gives a call its verdict and what follows from it.
pub(super) fn judge(draft: &mut Draft<'_>, id: CallId, lean: Lean) {
    let limits = draft.limits();
    let Some(place) = draft.calls().iter().position(|call| call.id == id) else { return };
    if place >= usize::from(limits.calls_per_reply) {
        let reason = format!("one reply may hold {} calls", limits.calls_per_reply);
        return settle(draft, id, Shown::skipped(&reason));
    }
    let (Some(call), Some(settings)) = (draft.call(id), draft.settings()) else { return };
    if let Some(error) = call.problem() {
        return settle(draft, id, Shown::error(OutcomeKind::Failed, &error, limits.result_chars));
    }
    let asked = asked(call, &draft.now().grants, lean);
    let mut verdict = settings.rules.decide(asked);
    if verdict == (Verdict::Refer {}) && !budget::can_classify(draft) {
        verdict = Verdict::ask(&call.tool_use.name, Arc::from("budget"), settings.rules.human);
    }
    if verdict == (Verdict::Refer {}) && !aside::can_be_classified(call) {
        let by = Arc::from("too long for the classifier");
        verdict = Verdict::ask(&call.tool_use.name, by, settings.rules.human);
    }
    let answered_by = call.facts.answered_by;
    follow(draft, id, verdict, answered_by);
}

/// Records a verdict and does what follows from it.
fn follow(draft: &mut Draft<'_>, id: CallId, verdict: Verdict, answered_by: AnsweredBy) {
    draft.record(Record::Judged { call: id, verdict: verdict.clone() });
    match (verdict, answered_by) {
        (Verdict::Deny { reason }, _) => settle(draft, id, Shown::denied(&reason)),
        (_, AnsweredBy::Human) => question(draft, About::Asking { call: id }),
        (_, AnsweredBy::PlanApproval) => plan::present(draft, id),
        (Verdict::Ask { .. }, _) => question(draft, About::Approval { call: id }),
        (Verdict::Allow { .. } | Verdict::Refer {}, _) => {}
    }
}

/// The call as rules see it. The journal and children are ours: what they lead to is judged there.
pub(super) fn asked<'a>(call: &'a Call, grants: &'a [Grant], lean: Lean) -> Asked<'a> {
    let ours = match call.facts.answered_by {
        AnsweredBy::Journal | AnsweredBy::Children | AnsweredBy::PlanApproval => true,
        AnsweredBy::Tool | AnsweredBy::Human => false,
    };
    let effect = if ours || call.facts.only_looks() { Effect::None } else { Effect::Some };
    let (tool, subject) = (&*call.tool_use.name, &call.facts.subject);
    Asked { tool, subject, effect, lean, grants }
}

/// A classifier answered. What it cannot tell, a human decides.
pub(super) fn classified(draft: &mut Draft<'_>, id: CallId, opinion: &Opinion) {
    let Some(call) = draft.call(id).filter(|call| call.state == CallState::Referred) else {
        return;
    };
    let answered_by = call.facts.answered_by;
    let tool = call.tool_use.name.clone();
    let human = draft.settings().map(|settings| settings.rules.human).unwrap_or_default();
    draft.record(Record::Classified { call: id });
    let verdict = match opinion {
        Opinion::Allow {} => Verdict::Allow { by: Arc::from("classifier") },
        Opinion::Deny { reason } => Verdict::Deny { reason: reason.clone() },
        Opinion::Unsure { .. } => Verdict::ask(&tool, Arc::from("classifier"), human),
    };
    follow(draft, id, verdict, answered_by);
    advance(draft);
}

/// Asks a human.
pub(super) fn question(draft: &mut Draft<'_>, about: About) {
    let id = draft.now().questions.saturating_add(1);
    let leave = matches!(about, About::Approval { .. });
    let expires_at = draft.limits().approval_ms.filter(|_| leave).map(|ms| draft.at.plus(ms));
    draft.record(Record::Questioned { question: Question { id, about, expires_at } });
}

/// Leave that nobody gave in time is not given any more.
fn expire_all(draft: &mut Draft<'_>) {
    let at = draft.at;
    let late = |call: &&Call| call.question().is_some_and(|question| question.is_expired(at));
    let ids: Vec<CallId> = draft.calls().iter().filter(late).map(|call| call.id).collect();
    for call in ids {
        let reason: Arc<str> = Arc::from(words::NOT_APPROVED_IN_TIME);
        draft.record(Record::Judged { call, verdict: Verdict::Deny { reason: reason.clone() } });
        settle(draft, call, Shown::denied(&reason));
    }
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
        children::send_more(draft, place);
        let Some(id) = startable(draft.calls(), place, draft.at) else { continue };
        let answered_by = draft.call(id).map(|call| call.facts.answered_by);
        match answered_by {
            Some(AnsweredBy::Journal) => children::ask_journal(draft, id),
            Some(AnsweredBy::Children) => children::spawn(draft, id),
            Some(AnsweredBy::Tool | AnsweredBy::Human | AnsweredBy::PlanApproval) | None => {
                let_go(draft, id);
            }
        }
    }
}

fn startable(calls: &[Call], place: usize, at: Millis) -> Option<CallId> {
    let (call, before) = calls.get(..=place).and_then(<[Call]>::split_last)?;
    let due = match call.state {
        CallState::Ready => true,
        CallState::Resting { until } => until <= at,
        CallState::BeforeHook
        | CallState::Unjudged
        | CallState::Referred
        | CallState::Questioned(_)
        | CallState::Away(_)
        | CallState::Running { .. }
        | CallState::Lost
        | CallState::AfterHook(_)
        | CallState::Settled(_) => false,
    };
    let blocked = before.iter().any(|earlier| earlier.stands_before(call));
    (due && !blocked).then_some(call.id)
}

/// The end of a pause is stored: later entries were decided with the call in the air.
fn let_go(draft: &mut Draft<'_>, id: CallId) {
    let Some(call) = draft.call(id) else { return };
    let rested = matches!(call.state, CallState::Resting { .. });
    let go = if call.facts.is_repeatable() {
        Record::Launched { call: id }
    } else {
        Record::Started { call: id }
    };
    if rested {
        draft.record(Record::CallCleared { call: id });
    }
    draft.record(go);
}

fn close_if_complete(draft: &mut Draft<'_>) {
    let Some(round) = draft.run().and_then(Run::round) else { return };
    if !round.is_complete() {
        return;
    }
    let fatal = round.fatal;
    let given = answer::given(draft, round);
    if let Some(Given::Fitting(call)) = given {
        draft.record(Record::Structured { call });
    }
    let watch = watch::look(draft);
    draft.record(Record::RoundClosed {});
    match given.filter(|_| fatal == Fatality::GoesOn) {
        Some(Given::Fitting(_)) => answer::complete(draft, StopCause::EndTurn),
        Some(Given::Unfit) if !answer::may_try_again(draft) => {}
        Some(Given::Unfit) | None => watch::go_on(draft, watch, fatal),
    }
}

/// A tool came back.
pub(super) fn tool_returned(
    draft: &mut Draft<'_>,
    id: CallId,
    attempt: u32,
    started_at: Millis,
    outcome: &Outcome,
) {
    let Some(call) = draft.call(id) else { return };
    if !call.is_running() || call.attempts != attempt {
        return;
    }
    if let Some(until) = retry_at(draft, call, started_at, outcome) {
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

/// When a call that failed in passing is tried again; `None` if its failure goes to the model,
/// because it was tried often enough or the next attempt would have no time left.
fn retry_at(
    draft: &Draft<'_>,
    call: &Call,
    started_at: Millis,
    outcome: &Outcome,
) -> Option<Millis> {
    let passing = match outcome {
        Outcome::Failed(error) => error.transient && error.recoverable,
        Outcome::TimedOut { .. } => true,
        Outcome::Done(_) | Outcome::Detailed { .. } | Outcome::Interrupted { .. } => false,
    };
    if !passing || !call.facts.is_repeatable() || stopping::reason(draft).is_some() {
        return None;
    }
    let tried = call.retries.granted;
    let pause = *draft.limits().tool_retry_ms.get(usize::try_from(tried).ok()?)?;
    let seed = u64::from(call.id.ask) << 32 | u64::from(call.id.index) << 8 | u64::from(tried);
    let until = draft.at.plus(jitter::spread(pause, seed));
    (call.retry_ms(started_at, draft.at, until, outcome) < call.time_ms()).then_some(until)
}

pub(super) fn is_fatal(draft: &Draft<'_>) -> bool {
    draft.run().and_then(Run::round).is_some_and(|round| round.fatal == Fatality::Fatal)
}

pub(super) fn settle_completed(draft: &mut Draft<'_>, id: CallId) {
    let limit = draft.result_chars();
    let Some(call) = draft.call(id) else { return };
    let CallState::AfterHook(outcome) = &call.state else { return };
    let shown = Shown::of(outcome, limit, call.reach());
    let unchanged = outcome.content() == Some(&shown.content);
    let shown = if unchanged { Settlement::AsCompleted {} } else { Settlement::Shown(shown) };
    draft.record(Record::Settled { call: id, shown });
}

pub(super) fn reach(draft: &Draft<'_>, id: CallId) -> crate::outcome::Reach {
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
