//! The time a run may take: noticed, told once, and then obeyed.

use windlass_core::ids::Millis;
use windlass_core::limits::Times;
use windlass_core::record::{Launch, Record, TimeLimit, ToolChoice, Transition};
use windlass_core::run::Run;
use windlass_core::wanted::Effect;
use windlass_core::{Conversation, Input};

use super::{Fact, OfFact, OfState, State, Verdict, ensure};

pub(super) const FACTS: &[OfFact] = &[
    ("a time is up when it is, and once", time_up_is_true),
    ("after the soft time the model is asked once more, to sum up", only_sums_up),
    ("after the soft time nothing new starts", nothing_starts),
];

pub(super) const STATES: &[OfState] = &[
    ("after the hard time nothing runs", hard_is_the_end),
    ("a time that comes is waited for", times_wake),
];

fn times(c: &Conversation) -> Option<Times> {
    c.settings.as_ref()?.times
}

fn time_up(c: &Conversation) -> Option<TimeLimit> {
    c.run.as_ref()?.time_up.map(|up| up.limit)
}

/// Whether this time is known to be up.
pub(super) fn is_up(fact: &Fact<'_>, limit: TimeLimit) -> bool {
    time_up(fact.now) == Some(limit)
}

/// Whether the calls in the air had their time after the soft limit.
pub(super) fn is_out_of_grace(fact: &Fact<'_>) -> bool {
    let up = fact.now.run.as_ref().and_then(|run| run.time_up);
    let grace_ms = times(fact.now).map_or(0, |times| times.grace_ms);
    up.is_some_and(|up| fact.entry.at >= up.at.plus(grace_ms))
}

/// How long the run was at work; what a dead process did not do, or one that slept, does not count.
fn worked_ms(fact: &Fact<'_>) -> u64 {
    let slept = fact.entry.records.contains(&Record::Slept {});
    let dead = slept || matches!(fact.entry.input, Input::Adopted { .. });
    let run = fact.now.run.as_ref();
    // A run that began with this entry has not worked yet.
    let live = &fact.world.live;
    let same = live.run.as_ref().map(|run| &run.id) == run.map(|run| &run.id);
    match (dead, same) {
        (false, true) => live.active_ms(fact.entry.at),
        (true, _) | (_, false) => run.map_or(0, |run| run.active_ms),
    }
}

fn time_up_is_true(fact: &Fact<'_>) -> Verdict {
    let Record::TimeUp { limit } = fact.record else { return Ok(()) };
    let Some(times) = times(fact.now) else { return Err("there is no such time".to_owned()) };
    let due = match limit {
        TimeLimit::Soft => times.soft_ms,
        TimeLimit::Hard => times.hard_ms,
    };
    let known = time_up(fact.now);
    let fresh = known.is_none_or(|known| known < *limit);
    let worked = worked_ms(fact);
    ensure(fresh && worked >= due, || format!("{limit:?} after {worked} ms, known {known:?}"))
}

fn only_sums_up(fact: &Fact<'_>) -> Verdict {
    let Record::Asked { transition, choice, .. } = fact.record else { return Ok(()) };
    let (Some(times), Some(run)) = (times(fact.now), &fact.now.run) else { return Ok(()) };
    let worked = worked_ms(fact);
    let soft = worked >= times.soft_ms || run.time_up.is_some();
    let again = fact.world.ledger.has_summed_up(&run.id);
    let anew = matches!(fact.entry.input, Input::Configured { .. });
    let sums_up = *transition == Transition::SumUp && *choice == ToolChoice::Nothing;
    let fits = if soft { sums_up && (!again || anew) } else { !sums_up };
    ensure(fits && worked < times.hard_ms, || format!("{transition:?} after {worked} ms"))
}

fn nothing_starts(fact: &Fact<'_>) -> Verdict {
    let starts = match fact.record {
        Record::Launched { .. } | Record::Started { .. } | Record::Spawned { .. } => true,
        Record::RoundOpened { .. } | Record::JournalChanged { .. } => true,
        Record::EarlyJudged { launch, .. } => *launch == Launch::Launched,
        _ => false,
    };
    let up = time_up(fact.now);
    ensure(!(starts && up.is_some()), || format!("{:?} after {up:?}", fact.record))
}

fn hard_is_the_end(state: &State<'_>) -> Verdict {
    if time_up(&state.world.live) != Some(TimeLimit::Hard) {
        return Ok(());
    }
    let runs = |effect: &&Effect| match effect {
        Effect::Ask(_) | Effect::RunTool { .. } | Effect::Consult(_) => true,
        Effect::Classify(_) | Effect::HookBefore(_) => true,
        Effect::HookAfter(_) | Effect::Probe(_) | Effect::Configure => false,
    };
    let found = state.wanted.effects.iter().find(runs);
    ensure(found.is_none(), || format!("{found:?} is in the air"))
}

/// A run at work is looked at when its next time comes, and when the grace of its calls is over.
fn times_wake(state: &State<'_>) -> Verdict {
    let live = &state.world.live;
    let (Some(run), Some(times)) = (&live.run, times(live)) else { return Ok(()) };
    let limit = match time_up(live) {
        None => times.soft_ms.min(times.hard_ms),
        Some(TimeLimit::Soft) => times.hard_ms,
        Some(TimeLimit::Hard) => return Ok(()),
    };
    let due = live.counted_to.plus(limit.saturating_sub(run.active_ms));
    let due = Some(due).filter(|_| run.is_active()).into_iter().chain(grace(run, times)).min();
    let wakes = |due: Millis| state.wanted.wake_at.is_some_and(|wake| wake <= due);
    ensure(due.is_none_or(wakes), || format!("due {due:?}, wakes {:?}", state.wanted.wake_at))
}

fn grace(run: &Run, times: Times) -> Option<Millis> {
    let up = run.time_up?;
    let calls = run.round().into_iter().flat_map(|round| &round.calls);
    let mut running = calls.filter(|call| call.is_running());
    let stops = |call: &windlass_core::call::Call| {
        call.facts.interrupt == windlass_core::facts::Interrupt::Interruptible
    };
    running.any(stops).then(|| up.at.plus(times.grace_ms))
}
