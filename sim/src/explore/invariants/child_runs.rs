//! Invariants of child runs and of the journal: every sub-agent result is used once.

use windlass_core::Conversation;
use windlass_core::apply::apply;
use windlass_core::call::call_facts::AnsweredBy;
use windlass_core::call::call_state::{Call, CallState};
use windlass_core::call::outcome::OutcomeKind;
use windlass_core::log::ids::CallId;
use windlass_core::log::record::{Record, RecordedResult, StopMode, TimeLimit};
use windlass_core::run::active_run::{RoundFatality, Run};
use windlass_core::run::child_runs::PendingChildren;
use windlass_core::run::journal::JournalRequest;
use windlass_core::run::wanted::Effect;

use super::{
    InvariantResult, RecordInvariant, RecordUnderTest, StateInvariant, StateUnderTest,
    StepInvariant, StepUnderTest, ensure,
};
use crate::explore::ledger::{StartedChild, home_in};
use crate::explore::permission_model;

pub(super) const STATES: &[StateInvariant] =
    &[("a call whose children are out holds nothing", away_holds_nothing)];

pub(super) const FACTS: &[RecordInvariant] = &[
    ("child runs start with approval, within their number and depth", spawned_rightly),
    ("a child's result is accepted once", taken_once),
    ("child runs that are abandoned were cancelled and waited for", given_up_rightly),
    ("child runs do not outlive their run without a cancel", recalled_at_the_end),
    ("the journal is changed as the call requests, with approval", changed_rightly),
];

pub(super) const STEPS: &[StepInvariant] =
    &[("no change of the journal is lost", changes_are_kept)];

fn call<'a>(fact: &'a RecordUnderTest<'_>, id: CallId) -> Option<&'a Call> {
    fact.now.run.as_ref().and_then(Run::round).and_then(|round| round.call(id))
}

fn away_holds_nothing(state: &StateUnderTest<'_>) -> InvariantResult {
    let round = state.world.live.run.as_ref().and_then(Run::round);
    let calls = round.into_iter().flat_map(|round| &round.calls);
    let mut away = calls.filter(|call| call.pending_children().is_some());
    let held = away.find(|call| state.wanted.effects.iter().any(|e| is_about(e, call.id)));
    ensure(held.is_none(), || format!("call {:?} holds something", held.map(|call| call.id)))
}

fn is_about(effect: &Effect, id: CallId) -> bool {
    match effect {
        Effect::RunTool { call, .. } | Effect::RunPreHook(call) | Effect::RunPostHook(call) => {
            *call == id
        }
        Effect::ClassifyCall(call) | Effect::ProbeCall(call) => *call == id,
        Effect::CallModel(_) | Effect::RequestReview(_) | Effect::RecordSettings => false,
    }
}

fn spawned_rightly(fact: &RecordUnderTest<'_>) -> InvariantResult {
    let Record::ChildrenSpawned { call: id, from, to, .. } = fact.record else { return Ok(()) };
    let (Some(call), Some(settings)) = (call(fact, *id), &fact.now.settings) else {
        return Err(format!("no call {id}"));
    };
    let limits = &settings.limits;
    let depth = fact.now.parent.as_ref().map_or(0, |parent| parent.depth).max(settings.depth);
    let out = fact
        .world
        .ledger
        .started_children()
        .iter()
        .filter(|kid| kid.is_out() && !kid.recalled)
        .count();
    let tasks = usize::from(to.saturating_sub(*from));
    let next = match &call.state {
        CallState::Ready => *from == 0,
        // More children start when others have returned.
        CallState::AwaitingChildren(away) => away.started == usize::from(*from),
        _ => false,
    };
    let fits = next
        && call.facts.answered_by == AnsweredBy::Children
        && (out == 0 || out + tasks <= usize::from(limits.children))
        && depth < limits.child_depth
        && (fact.world.ledger.is_settled(*id)
            || permission_model::has_leave(settings, call, &fact.world.ledger));
    ensure(fits, || format!("call {id}: {:?}, {out} out, {depth} deep", call.state))
}

fn taken_once(fact: &RecordUnderTest<'_>) -> InvariantResult {
    let Record::ChildResultReceived { message } = fact.record else { return Ok(()) };
    let Some(home) = home_in(&fact.entry.input, *message) else {
        return Err(format!("message {message} has no child result"));
    };
    let waits = fact
        .world
        .ledger
        .started_children()
        .iter()
        .any(|kid| (kid.call, kid.part) == (home.call, home.part) && is_awaited(fact.now, kid));
    // An orphan is still charged for what it spent, once.
    let strays = fact.now.orphans.iter().any(|stray| stray.matches(home.call, home.part));
    ensure(waits || strays, || format!("no call waits for {home:?}"))
}

/// Whether a call waits for this child.
pub(super) fn is_awaited(c: &Conversation, kid: &StartedChild) -> bool {
    let call = c.run.as_ref().and_then(Run::round).and_then(|round| round.call(kid.call));
    let place = call
        .and_then(Call::pending_children)
        .and_then(|away| away.replies.get(usize::from(kid.part)));
    place.is_some_and(Option::is_none)
}

fn given_up_rightly(fact: &RecordUnderTest<'_>) -> InvariantResult {
    let Record::ResultFinalized { call: id, result } = fact.record else { return Ok(()) };
    let Some(away) = call(fact, *id).and_then(Call::pending_children) else { return Ok(()) };
    if away.running_count() == 0 {
        return Ok(());
    }
    let Some(run) = &fact.now.run else { return Ok(()) };
    let wait_ms = fact.now.settings.as_ref().map_or(0, |s| s.limits.cancel_wait_ms);
    let since = run.stop_request.map(|stop| stop.at).or(run.reached_time_limit.map(|up| up.at));
    let waited = since.is_some_and(|since| fact.entry.at >= since.plus_ms(wait_ms));
    let aborted = run.stop_request.is_some_and(|stop| stop.mode == StopMode::Abort);
    let over = run.reached_time_limit.is_some_and(|up| up.limit == TimeLimit::Hard);
    let told = matches!(result, RecordedResult::Replaced(s) if s.kind == OutcomeKind::Interrupted);
    let recalled = fact
        .world
        .ledger
        .started_children()
        .iter()
        .filter(|kid| kid.call == *id)
        .all(|k| k.recalled);
    let fatal = run.round().is_some_and(|round| round.fatality == RoundFatality::Fatal);
    let may = waited || aborted || over || fatal;
    ensure(told && recalled && may && is_remembered(fact, *id, away), || {
        format!("{} children of {id} are given up", away.running_count())
    })
}

/// Children that have not returned are charged later for what they spent.
fn is_remembered(fact: &RecordUnderTest<'_>, id: CallId, away: &PendingChildren) -> bool {
    let mut after = fact.now.clone();
    apply(&mut after, fact.entry.at, &fact.entry.input, fact.record);
    let kept = |part| after.orphans.iter().any(|stray| stray.matches(id, part));
    away.running_parts().all(kept)
}

fn recalled_at_the_end(fact: &RecordUnderTest<'_>) -> InvariantResult {
    let Record::RunFinished { run, .. } = fact.record else { return Ok(()) };
    if fact.now.run.as_ref().is_none_or(|active| active.id != *run) {
        return Ok(());
    }
    let untold = |kid: &&StartedChild| kid.is_out() && !kid.recalled;
    let left = fact.world.ledger.started_children().iter().find(untold);
    ensure(left.is_none(), || format!("{left:?} works on"))
}

fn changed_rightly(fact: &RecordUnderTest<'_>) -> InvariantResult {
    let Record::JournalChanged { call: id, change } = fact.record else { return Ok(()) };
    let (Some(call), Some(settings)) = (call(fact, *id), &fact.now.settings) else {
        return Err(format!("no call {id}"));
    };
    let wished = call
        .facts
        .journal
        .as_ref()
        .and_then(JournalRequest::changes)
        .is_some_and(|it| it.contains(change));
    let fits = wished
        && call.state == CallState::Ready
        && (fact.world.ledger.is_settled(*id)
            || permission_model::has_leave(settings, call, &fact.world.ledger));
    ensure(fits, || format!("call {id} was {:?}", call.state))
}

/// Each call that the journal answers makes all its changes, once, in the entry that finishes it.
fn changes_are_kept(step: &StepUnderTest<'_>) -> InvariantResult {
    let records = &step.entry.records;
    let made = |id: CallId| {
        let of = |r: &&Record| matches!(r, Record::JournalChanged { call, .. } if *call == id);
        records.iter().filter(of).count()
    };
    let all = records.iter().filter(|r| matches!(r, Record::JournalChanged { .. })).count();
    let grown = step.after.journal.version().saturating_sub(step.before.journal.version());
    ensure(grown == all as u64, || format!("{all} changes, version grew by {grown}"))?;
    let facts = calls_of(step);
    for (id, wished) in facts {
        let done = records.iter().any(|record| is_done(record, id));
        ensure(!done || made(id) == wished, || {
            format!("{} of {wished} changes of {id}", made(id))
        })?;
    }
    Ok(())
}

fn is_done(record: &Record, id: CallId) -> bool {
    match record {
        Record::ResultFinalized { call, result: RecordedResult::Replaced(shown) } => {
            *call == id && shown.kind == OutcomeKind::Done
        }
        _ => false,
    }
}

/// Returns the calls that change the journal, of the open round or of the reply that opens one.
fn calls_of(step: &StepUnderTest<'_>) -> Vec<(CallId, usize)> {
    let wishes = |wish: &Option<JournalRequest>| {
        wish.as_ref().and_then(JournalRequest::changes).map(<[_]>::len)
    };
    let round = step.before.run.as_ref().and_then(Run::round);
    let open = round.into_iter().flat_map(|round| &round.calls);
    let open = open.filter_map(|call| Some((call.id, wishes(&call.facts.journal)?)));
    let mut calls: Vec<(CallId, usize)> = open.collect();
    if let windlass_core::Input::ModelReplied { model_call, reply, facts } = &step.entry.input {
        let new = reply.tool_uses().zip(facts);
        calls.extend(new.filter_map(|((index, _), facts)| {
            Some((CallId { model_call: *model_call, index }, wishes(&facts.journal)?))
        }));
    }
    calls
}
