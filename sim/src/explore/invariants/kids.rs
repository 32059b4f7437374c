//! Children, and the journal: what they bring is taken in once.

use windlass_core::Conversation;
use windlass_core::apply::apply;
use windlass_core::call::{Call, CallState};
use windlass_core::child::Away;
use windlass_core::facts::AnsweredBy;
use windlass_core::ids::CallId;
use windlass_core::journal::Wish;
use windlass_core::outcome::OutcomeKind;
use windlass_core::record::{Record, Settlement, Stop, TimeLimit};
use windlass_core::run::{Fatality, Run};
use windlass_core::wanted::Effect;

use super::{Fact, OfFact, OfState, OfStep, State, Step, Verdict, ensure};
use crate::explore::law;
use crate::explore::ledger::{Kid, home_in};

pub(super) const STATES: &[OfState] =
    &[("a call whose children are out holds nothing", away_holds_nothing)];

pub(super) const FACTS: &[OfFact] = &[
    ("children are sent out with leave, in number, and not too deep", spawned_rightly),
    ("a child's result is taken in once", taken_once),
    ("children who are given up were told to stop and waited for", given_up_rightly),
    ("children do not outlive their run untold", recalled_at_the_end),
    ("the journal is changed as the call wishes, with leave", changed_rightly),
];

pub(super) const STEPS: &[OfStep] = &[("no change of the journal is lost", changes_are_kept)];

fn call<'a>(fact: &'a Fact<'_>, id: CallId) -> Option<&'a Call> {
    fact.now.run.as_ref().and_then(Run::round).and_then(|round| round.call(id))
}

fn away_holds_nothing(state: &State<'_>) -> Verdict {
    let round = state.world.live.run.as_ref().and_then(Run::round);
    let calls = round.into_iter().flat_map(|round| &round.calls);
    let mut away = calls.filter(|call| call.away().is_some());
    let held = away.find(|call| state.wanted.effects.iter().any(|e| is_about(e, call.id)));
    ensure(held.is_none(), || format!("call {:?} holds something", held.map(|call| call.id)))
}

fn is_about(effect: &Effect, id: CallId) -> bool {
    match effect {
        Effect::RunTool { call, .. } | Effect::HookBefore(call) | Effect::HookAfter(call) => {
            *call == id
        }
        Effect::Classify(call) | Effect::Probe(call) => *call == id,
        Effect::Ask(_) | Effect::Consult(_) | Effect::Configure => false,
    }
}

fn spawned_rightly(fact: &Fact<'_>) -> Verdict {
    let Record::Spawned { call: id, from, to, .. } = fact.record else { return Ok(()) };
    let (Some(call), Some(settings)) = (call(fact, *id), &fact.now.settings) else {
        return Err(format!("no call {id}"));
    };
    let limits = &settings.limits;
    let depth = fact.now.parent.as_ref().map_or(0, |parent| parent.depth).max(settings.depth);
    let out = fact.world.ledger.kids().iter().filter(|kid| kid.is_out() && !kid.recalled).count();
    let tasks = usize::from(to.saturating_sub(*from));
    let next = match &call.state {
        CallState::Ready => *from == 0,
        // More of them begin when others have come back.
        CallState::Away(away) => away.sent == usize::from(*from),
        _ => false,
    };
    let fits = next
        && call.facts.answered_by == AnsweredBy::Children
        && (out == 0 || out + tasks <= usize::from(limits.children))
        && depth < limits.child_depth
        && law::has_leave(settings, call, &fact.world.ledger);
    ensure(fits, || format!("call {id}: {:?}, {out} out, {depth} deep", call.state))
}

fn taken_once(fact: &Fact<'_>) -> Verdict {
    let Record::ChildBack { mail } = fact.record else { return Ok(()) };
    let Some(home) = home_in(&fact.entry.input, *mail) else {
        return Err(format!("mail {mail} brings no child home"));
    };
    let waits = fact
        .world
        .ledger
        .kids()
        .iter()
        .any(|kid| (kid.call, kid.part) == (home.call, home.part) && is_awaited(fact.now, kid));
    // One that was given up is still heard for what it spent, once.
    let strays = fact.now.strays.iter().any(|stray| stray.is(home.call, home.part));
    ensure(waits || strays, || format!("nobody waits for {home:?}"))
}

/// Whether a call waits for this child.
pub(super) fn is_awaited(c: &Conversation, kid: &Kid) -> bool {
    let call = c.run.as_ref().and_then(Run::round).and_then(|round| round.call(kid.call));
    let place = call.and_then(Call::away).and_then(|away| away.back.get(usize::from(kid.part)));
    place.is_some_and(Option::is_none)
}

fn given_up_rightly(fact: &Fact<'_>) -> Verdict {
    let Record::Settled { call: id, shown } = fact.record else { return Ok(()) };
    let Some(away) = call(fact, *id).and_then(Call::away) else { return Ok(()) };
    if away.at_work() == 0 {
        return Ok(());
    }
    let Some(run) = &fact.now.run else { return Ok(()) };
    let wait_ms = fact.now.settings.as_ref().map_or(0, |s| s.limits.cancel_wait_ms);
    let since = run.stop.map(|stop| stop.at).or(run.time_up.map(|up| up.at));
    let waited = since.is_some_and(|since| fact.entry.at >= since.plus(wait_ms));
    let aborted = run.stop.is_some_and(|stop| stop.how == Stop::Abort);
    let over = run.time_up.is_some_and(|up| up.limit == TimeLimit::Hard);
    let told = matches!(shown, Settlement::Shown(s) if s.kind == OutcomeKind::Interrupted);
    let recalled =
        fact.world.ledger.kids().iter().filter(|kid| kid.call == *id).all(|k| k.recalled);
    let fatal = run.round().is_some_and(|round| round.fatal == Fatality::Fatal);
    let may = waited || aborted || over || fatal;
    ensure(told && recalled && may && is_remembered(fact, *id, away), || {
        format!("{} children of {id} are given up", away.at_work())
    })
}

/// Those who are still out are heard later for what they spent.
fn is_remembered(fact: &Fact<'_>, id: CallId, away: &Away) -> bool {
    let mut after = fact.now.clone();
    apply(&mut after, fact.entry.at, &fact.entry.input, fact.record);
    let kept = |part| after.strays.iter().any(|stray| stray.is(id, part));
    away.at_work_parts().all(kept)
}

fn recalled_at_the_end(fact: &Fact<'_>) -> Verdict {
    let Record::Finished { run, .. } = fact.record else { return Ok(()) };
    if fact.now.run.as_ref().is_none_or(|active| active.id != *run) {
        return Ok(());
    }
    let untold = |kid: &&Kid| kid.is_out() && !kid.recalled;
    let left = fact.world.ledger.kids().iter().find(untold);
    ensure(left.is_none(), || format!("{left:?} works on"))
}

fn changed_rightly(fact: &Fact<'_>) -> Verdict {
    let Record::JournalChanged { call: id, change } = fact.record else { return Ok(()) };
    let (Some(call), Some(settings)) = (call(fact, *id), &fact.now.settings) else {
        return Err(format!("no call {id}"));
    };
    let wished =
        call.facts.journal.as_ref().and_then(Wish::changes).is_some_and(|it| it.contains(change));
    let fits = wished
        && call.state == CallState::Ready
        && law::has_leave(settings, call, &fact.world.ledger);
    ensure(fits, || format!("call {id} was {:?}", call.state))
}

/// Each call that the journal answers makes all its changes, once, in the entry that settles it.
fn changes_are_kept(step: &Step<'_>) -> Verdict {
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
        Record::Settled { call, shown: Settlement::Shown(shown) } => {
            *call == id && shown.kind == OutcomeKind::Done
        }
        _ => false,
    }
}

/// Calls that want to change the journal, of the open round or of the reply that opens one.
fn calls_of(step: &Step<'_>) -> Vec<(CallId, usize)> {
    let wishes = |wish: &Option<Wish>| wish.as_ref().and_then(Wish::changes).map(<[_]>::len);
    let round = step.before.run.as_ref().and_then(Run::round);
    let open = round.into_iter().flat_map(|round| &round.calls);
    let open = open.filter_map(|call| Some((call.id, wishes(&call.facts.journal)?)));
    let mut calls: Vec<(CallId, usize)> = open.collect();
    if let windlass_core::Input::Replied { ask, reply, facts } = &step.entry.input {
        let new = reply.tool_uses().zip(facts);
        calls.extend(new.filter_map(|((index, _), facts)| {
            Some((CallId { ask: *ask, index }, wishes(&facts.journal)?))
        }));
    }
    calls
}
