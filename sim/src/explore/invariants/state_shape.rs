//! Invariants of every state: a request that the API accepts, nothing stuck, a log that folds to
//! the state, and a transcript that only grows.

use windlass_core::message::request::join_segments;
use windlass_core::message::request_check::check_messages;
use windlass_core::run::active_run::{Run, RunCounters, RunPhase};
use windlass_core::{Conversation, Record};

use super::{
    InvariantResult, StateInvariant, StateUnderTest, StepInvariant, StepUnderTest, ensure,
};
use crate::explore::ledger::StartedChild;

pub(super) const STATES: &[StateInvariant] = &[
    ("a request is accepted by the API", request_is_accepted),
    ("no request while a round is open", no_request_in_a_round),
    ("no run is left between two steps", never_between),
    ("an active run waits for something", never_stuck),
    ("a prompt waits only behind a run", queue_has_a_run),
    ("the log folds to the state", log_folds_to_the_state),
];

pub(super) const STEPS: &[StepInvariant] = &[
    ("within a generation the transcript only grows", transcript_grows),
    ("counters of a run never fall", counters_never_fall),
    ("an early timer decides nothing", early_tick_settles_nothing),
];

fn request_is_accepted(state: &StateUnderTest<'_>) -> InvariantResult {
    let transcript = &state.world.live.transcript;
    if transcript.segments().is_empty() {
        let asks = state.world.live.model_request().is_some();
        return ensure(!asks, || "the model is asked about nothing".to_owned());
    }
    check_messages(&join_segments(transcript.segments().iter()))
        .map_err(|refusal| refusal.to_string())
}

fn no_request_in_a_round(state: &StateUnderTest<'_>) -> InvariantResult {
    let live = &state.world.live;
    let open = live.run.as_ref().and_then(Run::round).is_some();
    ensure(!(open && live.model_request().is_some()), || "a request with an open round".to_owned())
}

fn never_between(state: &StateUnderTest<'_>) -> InvariantResult {
    let between = state.world.live.run.as_ref().is_some_and(|run| run.phase == RunPhase::Deciding);
    ensure(!between, || "the run is between two things".to_owned())
}

fn never_stuck(state: &StateUnderTest<'_>) -> InvariantResult {
    let Some(run) = &state.world.live.run else { return Ok(()) };
    let waits = !state.wanted.effects.is_empty()
        || state.wanted.wake_at.is_some()
        || run.open_questions().next().is_some()
        || state.world.ledger.started_children().iter().any(StartedChild::is_out)
        || !state.world.mailbox.is_empty();
    ensure(waits, || format!("run {} is {} and nothing will ever come", run.id, run.phase_name()))
}

fn queue_has_a_run(state: &StateUnderTest<'_>) -> InvariantResult {
    let live = &state.world.live;
    let orphaned = live.run.is_none() && !live.prompt_queue.is_empty();
    ensure(!orphaned, || format!("{} prompts wait behind nothing", live.prompt_queue.len()))
}

fn log_folds_to_the_state(state: &StateUnderTest<'_>) -> InvariantResult {
    let Some(stored) = state.world.newest() else { return Ok(()) };
    let mut live = state.world.live.without_volatile();
    live.at = stored.conversation.at;
    ensure(live == stored.conversation, || {
        format!("memory {:?}\ndisk {:?}", live.run, stored.conversation.run)
    })
}

fn transcript_grows(step: &StepUnderTest<'_>) -> InvariantResult {
    let (before, after) = (&step.before.transcript, &step.after.transcript);
    if after.generation() != before.generation() {
        let told = step.entry.records.iter().any(begins_generation);
        return ensure(told, || "a new generation without a compaction".to_owned());
    }
    if step.entry.records.contains(&Record::PromptWithdrawn {}) {
        // The model had not seen it.
        return Ok(());
    }
    let kept = before.segments().iter().zip(after.segments()).all(|(a, b)| a == b);
    let longer = after.segments().len() >= before.segments().len();
    ensure(kept && longer, || "what was sent has changed".to_owned())
}

fn begins_generation(record: &Record) -> bool {
    matches!(
        record,
        Record::Compacted { .. } | Record::Pruned { .. } | Record::FallbackModelSelected { .. }
    )
}

fn counters_never_fall(step: &StepUnderTest<'_>) -> InvariantResult {
    let Some((before, after)) = same_run(step.before, step.after) else { return Ok(()) };
    let (a, b) = (&before.counters, &after.counters);
    // The answer of a human resets the guardrails.
    let spoke =
        |r: &Record| matches!(r, Record::GuidanceGiven { .. } | Record::PromptChangeAccepted {});
    let guided = step.entry.records.iter().any(spoke);
    let reprompts = if guided { 0 } else { a.reprompts };
    let a = &RunCounters { reprompts, ..a.clone() };
    ensure(all_of(a).iter().zip(all_of(b)).all(|(a, b)| *a <= b), || format!("{a:?} to {b:?}"))
}

fn all_of(counters: &RunCounters) -> [u64; 6] {
    [
        u64::from(counters.tool_rounds),
        u64::from(counters.model_calls),
        u64::from(counters.tool_calls),
        u64::from(counters.reprompts),
        u64::from(counters.reactive_compactions),
        counters.usage.total_tokens(),
    ]
}

/// Returns the run before and after, if it is the same one.
pub(super) fn same_run<'a>(
    before: &'a Conversation,
    after: &'a Conversation,
) -> Option<(&'a Run, &'a Run)> {
    let (before, after) = (before.run.as_ref()?, after.run.as_ref()?);
    (before.id == after.id).then_some((before, after))
}

fn early_tick_settles_nothing(step: &StepUnderTest<'_>) -> InvariantResult {
    let tick = matches!(step.entry.input, windlass_core::Input::TimerFired {});
    let due = windlass_core::wanted(step.before).wake_at;
    let early = due.is_none_or(|due| step.entry.at < due);
    ensure(!(tick && early), || format!("settled {:?}", step.entry.records))
}
