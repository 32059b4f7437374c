//! Invariants of time limits: noticed, reported once, and then obeyed.

use windlass_core::log::ids::UnixMillis;
use windlass_core::log::record::{EarlyStart, Record, TimeLimit, ToolChoice, Transition};
use windlass_core::run::active_run::Run;
use windlass_core::run::wanted::Effect;
use windlass_core::settings::limits::RunTimeLimits;
use windlass_core::{Conversation, Input};

use super::{
    InvariantResult, RecordInvariant, RecordUnderTest, StateInvariant, StateUnderTest, ensure,
};

pub(super) const FACTS: &[RecordInvariant] = &[
    ("a time limit is reached when its time has come, and once", time_up_is_true),
    ("after the soft time the model is asked once more, to sum up", only_sums_up),
    ("after the soft time nothing new starts", nothing_starts),
];

pub(super) const STATES: &[StateInvariant] = &[
    ("after the hard time nothing runs", hard_is_the_end),
    ("a timer that will be due is waited for", times_wake),
];

fn times(c: &Conversation) -> Option<RunTimeLimits> {
    c.settings.as_ref()?.times
}

fn time_up(c: &Conversation) -> Option<TimeLimit> {
    c.run.as_ref()?.reached_time_limit.map(|up| up.limit)
}

/// Whether this limit is known to be reached.
pub(super) fn is_up(fact: &RecordUnderTest<'_>, limit: TimeLimit) -> bool {
    time_up(fact.now) == Some(limit)
}

/// Whether the grace period of calls in flight after the soft limit is over.
pub(super) fn is_out_of_grace(fact: &RecordUnderTest<'_>) -> bool {
    let up = fact.now.run.as_ref().and_then(|run| run.reached_time_limit);
    let grace_ms = times(fact.now).map_or(0, |times| times.grace_ms);
    up.is_some_and(|up| fact.entry.at >= up.at.plus_ms(grace_ms))
}

/// Returns the active time of the run; the time of a dead or sleeping process does not count.
fn worked_ms(fact: &RecordUnderTest<'_>) -> u64 {
    let slept = fact.entry.records.contains(&Record::SleepDetected {});
    let dead = slept || matches!(fact.entry.input, Input::OwnerChanged { .. });
    let run = fact.now.run.as_ref();
    // A run that started with this entry has not worked yet.
    let live = &fact.world.live;
    let same = live.run.as_ref().map(|run| &run.id) == run.map(|run| &run.id);
    match (dead, same) {
        (false, true) => live.active_ms(fact.entry.at),
        (true, _) | (_, false) => run.map_or(0, |run| run.active_ms),
    }
}

fn time_up_is_true(fact: &RecordUnderTest<'_>) -> InvariantResult {
    let Record::TimeLimitReached { limit } = fact.record else { return Ok(()) };
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

fn only_sums_up(fact: &RecordUnderTest<'_>) -> InvariantResult {
    let Record::ModelCallStarted { transition, choice, .. } = fact.record else { return Ok(()) };
    let (Some(times), Some(run)) = (times(fact.now), &fact.now.run) else { return Ok(()) };
    let worked = worked_ms(fact);
    let soft = worked >= times.soft_ms || run.reached_time_limit.is_some();
    let again = fact.world.ledger.has_summed_up(&run.id);
    let anew = matches!(fact.entry.input, Input::Configured { .. });
    let sums_up = *transition == Transition::WrapUp && *choice == ToolChoice::NoTools;
    let fits = if soft { sums_up && (!again || anew) } else { !sums_up };
    ensure(fits && worked < times.hard_ms, || format!("{transition:?} after {worked} ms"))
}

fn nothing_starts(fact: &RecordUnderTest<'_>) -> InvariantResult {
    let starts = match fact.record {
        Record::RepeatableCallStarted { .. }
        | Record::CallStarted { .. }
        | Record::ChildrenSpawned { .. } => true,
        Record::RoundOpened { .. } | Record::JournalChanged { .. } => true,
        Record::EarlyCallDecided { start, .. } => *start == EarlyStart::Started,
        _ => false,
    };
    let up = time_up(fact.now);
    ensure(!(starts && up.is_some()), || format!("{:?} after {up:?}", fact.record))
}

fn hard_is_the_end(state: &StateUnderTest<'_>) -> InvariantResult {
    if time_up(&state.world.live) != Some(TimeLimit::Hard) {
        return Ok(());
    }
    let runs = |effect: &&Effect| match effect {
        Effect::CallModel(_) | Effect::RunTool { .. } | Effect::RequestReview(_) => true,
        Effect::ClassifyCall(_) | Effect::RunPreHook(_) => true,
        Effect::RunPostHook(_) | Effect::ProbeCall(_) | Effect::RecordSettings => false,
    };
    let found = state.wanted.effects.iter().find(runs);
    ensure(found.is_none(), || format!("{found:?} is in flight"))
}

/// A timer is set for the next time limit of an active run, and for the end of the grace period of
/// its calls.
fn times_wake(state: &StateUnderTest<'_>) -> InvariantResult {
    let live = &state.world.live;
    let (Some(run), Some(times)) = (&live.run, times(live)) else { return Ok(()) };
    let limit = match time_up(live) {
        None => times.soft_ms.min(times.hard_ms),
        Some(TimeLimit::Soft) => times.hard_ms,
        Some(TimeLimit::Hard) => return Ok(()),
    };
    let due = live.active_time_counted_to.plus_ms(limit.saturating_sub(run.active_ms));
    let due = Some(due).filter(|_| run.is_active()).into_iter().chain(grace(run, times)).min();
    let wakes = |due: UnixMillis| state.wanted.wake_at.is_some_and(|wake| wake <= due);
    ensure(due.is_none_or(wakes), || format!("due {due:?}, wakes {:?}", state.wanted.wake_at))
}

fn grace(run: &Run, times: RunTimeLimits) -> Option<UnixMillis> {
    let up = run.reached_time_limit?;
    let calls = run.round().into_iter().flat_map(|round| &round.calls);
    let mut running = calls.filter(|call| call.is_running());
    let stops = |call: &windlass_core::call::call_state::Call| {
        call.facts.interrupt == windlass_core::call::call_facts::Interruptibility::Interruptible
    };
    running.any(stops).then(|| up.at.plus_ms(times.grace_ms))
}
