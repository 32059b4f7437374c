//! Invariants of the start and end of runs: in order, once each, for the right reason.

use windlass_core::Input;
use windlass_core::call::outcome::ToolOutcome;
use windlass_core::log::record::Record;
use windlass_core::message::reply::StopReason;
use windlass_core::run::active_run::{RoundFatality, Run};
use windlass_core::stop::{RunState, StopCause};

use super::state_shape::same_run;
use super::{
    InvariantResult, RecordInvariant, RecordUnderTest, StepInvariant, StepUnderTest, ensure,
};

pub(super) const FACTS: &[RecordInvariant] = &[
    ("a run ends once", ends_once),
    ("prompts are taken in order and never supersede", started_in_order),
    ("a cancel is obeyed", cancel_is_obeyed),
    ("stop causes are recorded in order", causes_in_order),
    ("a truncated reply is not an answer", cut_is_no_answer),
    ("a refusal is recorded as one", refusal_is_told),
    ("a fatal error ends the run as such", fatal_is_told),
    ("a run ends with its round closed", ends_at_rest),
    ("an end that looks like success has something to show", success_has_text),
    ("a hook that ends a run is named", hook_end_is_told),
];

pub(super) const STEPS: &[StepInvariant] = &[
    ("a run that goes on has not ended", ended_is_gone),
    ("a run disappears only by ending", no_run_vanishes),
    ("a fatal error is recorded", fatal_is_recorded),
];

fn ends_once(fact: &RecordUnderTest<'_>) -> InvariantResult {
    let Record::RunFinished { run, .. } = fact.record else { return Ok(()) };
    let active = fact.now.run.as_ref().is_some_and(|active| active.id == *run);
    let queued = fact.now.prompt_queue.iter().any(|queued| queued.run == *run);
    let again = fact.world.ledger.has_ended(run);
    ensure((active || queued) && !again, || format!("run {run} ended already or never began"))
}

fn started_in_order(fact: &RecordUnderTest<'_>) -> InvariantResult {
    let Record::RunStarted { run } = fact.record else { return Ok(()) };
    let first = fact.now.prompt_queue.front().is_some_and(|front| front.run == *run);
    let free = fact.now.run.is_none();
    let fresh = !fact.world.ledger.has_ended(run);
    ensure(first && free && fresh, || format!("run {run} began out of turn"))
}

/// Returns the active run, if this record ends it.
fn ended_run<'a>(fact: &'a RecordUnderTest<'_>) -> Option<(&'a Run, StopCause, &'a [StopCause])> {
    let Record::RunFinished { run, cause, other_causes, .. } = fact.record else {
        return None;
    };
    // A queued prompt may end as soon as it starts, for reasons of its own.
    let began_before = fact.world.live.run.as_ref().is_some_and(|live| live.id == *run);
    let active = fact.now.run.as_ref().filter(|active| active.id == *run && began_before)?;
    Some((active, *cause, other_causes))
}

fn cancel_is_obeyed(fact: &RecordUnderTest<'_>) -> InvariantResult {
    let Some((run, cause, also)) = ended_run(fact) else { return Ok(()) };
    let told = cause == StopCause::UserCancel || also.contains(&StopCause::UserCancel);
    let first = rank(cause) <= rank(StopCause::UserCancel);
    let stopping = run.stop_request.is_some();
    ensure(stopping == told, || {
        format!("{cause:?} {also:?} while stop is {:?}", run.stop_request)
    })?;
    ensure(!stopping || first, || format!("a cancelled run ended as {cause:?}"))
}

/// The order of stop causes: a finished answer is never lost; then fatal, cancel, hook, budget, time,
/// iterations.
fn rank(cause: StopCause) -> u8 {
    match cause {
        StopCause::EndTurn | StopCause::StopSequence => 0,
        StopCause::Refusal | StopCause::Unexpected => 0,
        StopCause::ToolFatal => 1,
        StopCause::UserCancel => 2,
        StopCause::HookStopped | StopCause::ToolDeferred => 3,
        StopCause::BudgetUsd | StopCause::BudgetTokens | StopCause::PriceUnknown => 4,
        // The text of its wrap-up is its answer.
        StopCause::SoftTime => 0,
        StopCause::HardTime => 5,
        StopCause::MaxToolRounds | StopCause::MaxModelCalls | StopCause::MaxModelReplies => 6,
        StopCause::BlockingLimit | StopCause::TruncationExhausted => 7,
        StopCause::StructuredOutputRetries => 7,
        StopCause::ProviderFailed | StopCause::ResumeUnsafe | StopCause::AskedHuman => 7,
    }
}

fn causes_in_order(fact: &RecordUnderTest<'_>) -> InvariantResult {
    let Some((_, cause, also)) = ended_run(fact) else { return Ok(()) };
    let all: Vec<u8> = std::iter::once(rank(cause)).chain(also.iter().map(rank_beside)).collect();
    let terminal = !matches!(cause, StopCause::ResumeUnsafe | StopCause::AskedHuman);
    ensure(all.is_sorted() && terminal, || format!("{cause:?} with {also:?}"))
}

/// The rank of a secondary cause: beside another cause there is no finished answer, only a reply
/// that made no sense.
fn rank_beside(cause: &StopCause) -> u8 {
    match cause {
        StopCause::Unexpected => 7,
        cause => rank(*cause),
    }
}

fn cut_is_no_answer(fact: &RecordUnderTest<'_>) -> InvariantResult {
    let Some((_, cause, _)) = ended_run(fact) else { return Ok(()) };
    let Input::ModelReplied { reply, .. } = &fact.entry.input else { return Ok(()) };
    let cut = reply.stop_reason == StopReason::MaxTokens;
    let answered = rank(cause) == 0 && cause != StopCause::SoftTime;
    ensure(!(cut && answered), || format!("a cut reply ended as {cause:?}"))
}

fn refusal_is_told(fact: &RecordUnderTest<'_>) -> InvariantResult {
    let Some((_, cause, _)) = ended_run(fact) else { return Ok(()) };
    let refused = match &fact.entry.input {
        Input::ModelReplied { reply, .. } => reply.stop_reason == StopReason::Refusal,
        _ => false,
    };
    let summed_up = cause == StopCause::SoftTime;
    ensure(summed_up || refused == (cause == StopCause::Refusal), || {
        format!("{cause:?}, refused: {refused}")
    })
}

/// A hook ends a run around a call, or by its review.
fn hook_end_is_told(fact: &RecordUnderTest<'_>) -> InvariantResult {
    let Some((run, cause, also)) = ended_run(fact) else { return Ok(()) };
    let told = |named| cause == named || also.contains(&named);
    let reviewed = matches!(fact.entry.input, Input::ReviewReturned { .. });
    let stopped = run.hook_stop.is_some();
    let deferred = run.deferred_tool_use.is_some() && !stopped;
    let fits = told(StopCause::HookStopped) == stopped || (reviewed && !stopped);
    ensure(fits && told(StopCause::ToolDeferred) == deferred, || {
        format!("{cause:?} {also:?}, stopped: {stopped}, deferred: {deferred}")
    })
}

fn fatal_is_told(fact: &RecordUnderTest<'_>) -> InvariantResult {
    let Some((_, cause, _)) = ended_run(fact) else { return Ok(()) };
    let closed = closed_fatally(fact);
    ensure(closed == (cause == StopCause::ToolFatal), || format!("{cause:?}, fatal: {closed}"))
}

/// Whether the round that this entry closed was fatal.
fn closed_fatally(fact: &RecordUnderTest<'_>) -> bool {
    let was = fact.world.live.run.as_ref().and_then(Run::round);
    let turned = fact.entry.records.iter().any(|r| matches!(r, Record::FatalToolError { .. }));
    turned || was.is_some_and(|round| round.fatality == RoundFatality::Fatal)
}

fn ends_at_rest(fact: &RecordUnderTest<'_>) -> InvariantResult {
    let Some((run, cause, _)) = ended_run(fact) else { return Ok(()) };
    ensure(run.round().is_none(), || format!("{cause:?} in an open round"))
}

fn success_has_text(fact: &RecordUnderTest<'_>) -> InvariantResult {
    let Record::RunFinished { cause, text_override, .. } = fact.record else { return Ok(()) };
    let Some((run, ..)) = ended_run(fact) else { return Ok(()) };
    let text =
        text_override.as_ref().map_or_else(|| run.answer_parts.concat(), |said| said.to_string());
    if *cause == StopCause::ToolDeferred {
        // It shows the call.
        return ensure(run.deferred_tool_use.is_some(), || "nothing was deferred".to_owned());
    }
    let completed =
        cause.run_state(windlass_core::stop::TextPresence::from_text(&text)) == RunState::Completed;
    let has_something = run.only_compacts || !text.trim().is_empty();
    ensure(!completed || has_something, || format!("{cause:?} with nothing to show"))
}

fn ended_is_gone(step: &StepUnderTest<'_>) -> InvariantResult {
    let goes_on = same_run(step.before, step.after).map(|(_, after)| after.id.clone());
    let ended = step.entry.records.iter().find_map(|record| match record {
        Record::RunFinished { run, .. } if Some(run) == goes_on.as_ref() => Some(run.clone()),
        _ => None,
    });
    ensure(ended.is_none(), || format!("run {ended:?} ended and goes on"))
}

fn no_run_vanishes(step: &StepUnderTest<'_>) -> InvariantResult {
    let active = step.before.run.iter().map(|run| &run.id);
    let queued = step.before.prompt_queue.iter().map(|queued| &queued.run);
    let mut gone = active.chain(queued).filter(|id| !lives_on(step, id));
    let lost = gone.find(|id| !step.entry.records.iter().any(|record| ends(record, id)));
    ensure(lost.is_none(), || format!("run {lost:?} is gone without an end"))
}

fn lives_on(step: &StepUnderTest<'_>, id: &windlass_core::log::ids::RunId) -> bool {
    step.after.run.as_ref().is_some_and(|run| run.id == *id)
        || step.after.prompt_queue.iter().any(|queued| queued.run == *id)
}

/// A fork leaves the runs to the lane it was copied from.
fn ends(record: &Record, id: &windlass_core::log::ids::RunId) -> bool {
    match record {
        Record::RunFinished { run, .. } => run == id,
        Record::Forked { .. } => true,
        _ => false,
    }
}

fn fatal_is_recorded(step: &StepUnderTest<'_>) -> InvariantResult {
    let Input::ToolReturned { outcome: ToolOutcome::Failed(error), .. } = &step.entry.input else {
        return Ok(());
    };
    let turned = step.entry.records.iter().any(|r| matches!(r, Record::FatalToolError { .. }));
    ensure(turned != error.recoverable, || format!("recoverable: {}", error.recoverable))
}
