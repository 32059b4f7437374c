//! Invariants of reviews (requested one at a time, used once) and of loop detection.

use windlass_core::guard::loop_detection::EscalationLevel;
use windlass_core::log::record::Record;
use windlass_core::run::active_run::{Run, RunPhase};

use super::{
    InvariantResult, RecordInvariant, RecordUnderTest, StepInvariant, StepUnderTest, ensure,
};

pub(super) const FACTS: &[RecordInvariant] = &[
    ("a review is requested only between two steps", sought_between),
    ("a review result belongs to the review in flight", heard_once),
    ("loop detection escalates one step at a time", one_step),
];

pub(super) const STEPS: &[StepInvariant] =
    &[("who goes in circles is put before a human", human_is_asked)];

fn sought_between(fact: &RecordUnderTest<'_>) -> InvariantResult {
    let Record::ReviewRequested { id, .. } = fact.record else { return Ok(()) };
    let free = fact.now.run.as_ref().is_some_and(|run| {
        matches!(run.phase, RunPhase::Deciding | RunPhase::AwaitingRetry { .. })
            && run.stop_request.is_none()
    });
    let next = *id == fact.now.review_count + 1;
    ensure(free && next, || format!("{id} while {}", fact.now.phase_name()))
}

fn heard_once(fact: &RecordUnderTest<'_>) -> InvariantResult {
    let Record::ReviewCompleted { id, .. } = fact.record else { return Ok(()) };
    let open = fact.now.run.as_ref().and_then(Run::pending_review).map(|sought| sought.id);
    ensure(open == Some(*id), || format!("{id} while {open:?} is open"))
}

fn height(level: EscalationLevel) -> u8 {
    match level {
        EscalationLevel::Calm => 0,
        EscalationLevel::Nudge => 1,
        EscalationLevel::Directive => 2,
        EscalationLevel::Human => 3,
    }
}

fn one_step(fact: &RecordUnderTest<'_>) -> InvariantResult {
    let Record::LoopDetectionUpdated { level, finding } = fact.record else { return Ok(()) };
    let before = fact.now.run.as_ref().map_or(EscalationLevel::Calm, |run| run.loop_guard.level());
    let rises = height(*level) > height(before);
    let fits = height(*level) <= height(before) + 1 && (!rises || finding.is_some());
    ensure(fits, || format!("{before:?} to {level:?}"))
}

/// A human is asked, unless the run ends, waits for a human already, requires the model to ask, or
/// only wraps up.
fn human_is_asked(step: &StepUnderTest<'_>) -> InvariantResult {
    let rose = step.entry.records.iter().any(|r| {
        matches!(
            r,
            Record::LoopDetectionUpdated { level: EscalationLevel::Human, finding: Some(_) }
        )
    });
    let Some(run) = step.after.run.as_ref().filter(|_| rose) else { return Ok(()) };
    let same = step.before.run.as_ref().is_some_and(|before| before.id == run.id);
    // The model is required to ask; a message of the user meanwhile may have made that needless.
    let made = step.entry.records.iter().any(|r| matches!(r, Record::QuestionRequired { .. }));
    let asks = run.human_pause().is_some() || made;
    let excused = !same || asks || run.reached_time_limit.is_some();
    ensure(excused, || format!("the run is {}", run.phase_name()))
}
