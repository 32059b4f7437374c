//! Invariants of answers: what must be true before one counts, how often it is rejected, and that
//! it is not lost.

use windlass_core::Input;
use windlass_core::guard::loop_detection::EscalationLevel;
use windlass_core::log::record::{Record, RejectionSource};
use windlass_core::run::active_run::{HumanPause, Run};
use windlass_core::run::review::{Review, ReviewResult};
use windlass_core::settings::conversation_settings::{HookPresence, Settings};
use windlass_core::stop::StopCause;

use crate::explore::review_choices::{NO, YES};

use super::{
    InvariantResult, RecordInvariant, RecordUnderTest, StepInvariant, StepUnderTest, ensure,
};

pub(super) const FACTS: &[RecordInvariant] = &[
    ("an answer is rejected for a reason and not for ever", rejected_rightly),
    ("an answer that something speaks against is marked", suspect_is_marked),
    ("an answer that no judge found good is marked", unjudged_is_marked),
    ("a judge is asked once about an answer", judged_once),
    ("hooks see a prompt before the model does", prompt_is_seen),
];

pub(super) const STEPS: &[StepInvariant] = &[
    ("a finished answer is never lost", answer_is_kept),
    ("a prompt that a hook blocks is not sent", blocked_is_not_sent),
    ("the last step of a guardrail is a person", last_step_is_a_person),
];

fn rejected_rightly(fact: &RecordUnderTest<'_>) -> InvariantResult {
    let Record::AnswerRejected { by, level, .. } = fact.record else { return Ok(()) };
    let (Some(run), Some(settings)) = (&fact.now.run, &fact.now.settings) else { return Ok(()) };
    let (used, most) = attempts_used(run, settings, *by);
    let due = match used {
        used if used >= most => EscalationLevel::Human,
        0 => EscalationLevel::Nudge,
        _ => EscalationLevel::Directive,
    };
    let fits = match by {
        RejectionSource::Schema => lacks_structure(run, settings),
        RejectionSource::Checklist => {
            settings.gate.missing_items(&run.checklist_progress).is_some()
        }
        RejectionSource::Hook => is_blocked(&fact.entry.input),
        RejectionSource::Judge => is_judge_answer(&fact.entry.input, NO),
        RejectionSource::Drift => matches!(&fact.entry.input, Input::ModelReplied { .. }),
    };
    ensure(fits && *level == due, || format!("{by:?} as {level:?} after {used} of {most}"))
}

fn attempts_used(run: &Run, settings: &Settings, by: RejectionSource) -> (u32, u32) {
    let (used, limits) = (&run.counters, &settings.limits);
    match by {
        RejectionSource::Schema => (used.output_retries, limits.output_retries),
        RejectionSource::Drift => (used.reprompts, limits.reprompts),
        RejectionSource::Checklist | RejectionSource::Hook | RejectionSource::Judge => {
            (used.rejections, limits.rejections)
        }
    }
}

/// The last step of a guardrail: nothing continues before a human has answered.
fn last_step_is_a_person(step: &StepUnderTest<'_>) -> InvariantResult {
    let last = |record: &Record| {
        matches!(record, Record::AnswerRejected { level: EscalationLevel::Human, .. })
    };
    let (before, after) = (&step.before.run, &step.after.run);
    let same = before.as_ref().zip(after.as_ref()).filter(|(before, after)| before.id == after.id);
    let asked = same.is_none_or(|(_, run)| run.human_pause().is_some());
    let told = step.entry.records.iter().any(last);
    ensure(!told || asked, || "it goes on by itself".to_owned())
}

fn prompt_is_seen(fact: &RecordUnderTest<'_>) -> InvariantResult {
    let Record::ModelCallStarted { .. } = fact.record else { return Ok(()) };
    let (Some(run), Some(settings)) = (&fact.now.run, &fact.now.settings) else { return Ok(()) };
    let first = run.counters.model_calls == 0;
    // After the answer, a compaction may come before the model call.
    let sought =
        fact.world.live.run.as_ref().and_then(Run::pending_review).map(|sought| &sought.review);
    let told = matches!(fact.entry.input, Input::ReviewReturned { .. });
    let heard = told || sought.is_some_and(|about| !matches!(about, Review::Prompt {}));
    let hooked = settings.hooks.prompt == HookPresence::Present;
    ensure(!(first && hooked) || heard, || "no hook saw the prompt".to_owned())
}

fn lacks_structure(run: &Run, settings: &Settings) -> bool {
    settings.output.is_some() && run.structured_output.is_none()
}

fn is_blocked(input: &Input) -> bool {
    matches!(input, Input::ReviewReturned { result: ReviewResult::Block { .. }, .. })
}

/// Whether nothing may delay the end any more.
fn must_end(run: &Run) -> bool {
    run.stop_request.is_some() || run.reached_time_limit.is_some()
}

fn suspect_is_marked(fact: &RecordUnderTest<'_>) -> InvariantResult {
    let Record::RunFinished { run: id, cause, .. } = fact.record else { return Ok(()) };
    let (Some(run), Some(settings)) = (&fact.now.run, &fact.now.settings) else { return Ok(()) };
    let answers = matches!(cause, StopCause::EndTurn | StopCause::StopSequence);
    if run.id != *id || !answers || run.only_compacts {
        return Ok(());
    }
    let told = is_blocked(&fact.entry.input)
        || settings.gate.missing_items(&run.checklist_progress).is_some();
    let excused = must_end(run) && !is_blocked(&fact.entry.input);
    let misfit = lacks_structure(run, settings) && !must_end(run);
    ensure(!misfit, || "an answer that fits no schema counts".to_owned())?;
    ensure(!told || excused || run.suspect_reason.is_some(), || {
        "a doubtful answer is not marked".to_owned()
    })
}

fn is_judge_answer(input: &Input, word: &str) -> bool {
    matches!(input, Input::ReviewReturned { result: ReviewResult::ModelText { text, .. }, .. } if &**text == word)
}

/// Whether the judge was being asked when the input came.
fn is_ruling(fact: &RecordUnderTest<'_>) -> bool {
    let sought =
        fact.world.live.run.as_ref().and_then(Run::pending_review).map(|sought| &sought.review);
    matches!(sought, Some(Review::Judge { .. }))
}

/// Only a run that had to end before the review is excused.
fn unjudged_is_marked(fact: &RecordUnderTest<'_>) -> InvariantResult {
    let Record::RunFinished { run: id, cause, .. } = fact.record else { return Ok(()) };
    let (Some(run), Some(settings)) = (&fact.now.run, &fact.now.settings) else { return Ok(()) };
    let answers = matches!(cause, StopCause::EndTurn | StopCause::StopSequence);
    if run.id != *id || !answers || settings.gate.judge.is_none() {
        return Ok(());
    }
    let good = is_ruling(fact) && is_judge_answer(&fact.entry.input, YES);
    let excused = !is_ruling(fact) && (must_end(run) || run.human_pause().is_some());
    ensure(good || excused || run.suspect_reason.is_some(), || "no judge accepted it".to_owned())
}

/// The judge is asked once, unless its process died.
fn judged_once(fact: &RecordUnderTest<'_>) -> InvariantResult {
    let Record::ReviewRequested { review: Review::Judge { .. }, .. } = fact.record else {
        return Ok(());
    };
    let died = matches!(fact.entry.input, Input::OwnerChanged { .. });
    ensure(died || !is_ruling(fact), || "a judge had just answered".to_owned())
}

/// A run that ends while its answer is reviewed ends with it; one whose time limit was reached does
/// not continue.
fn answer_is_kept(step: &StepUnderTest<'_>) -> InvariantResult {
    let Some(run) = &step.before.run else { return Ok(()) };
    let sought = run.pending_review().map(|sought| &sought.review);
    let kept = run.human_pause().and_then(HumanPause::suspect_answer).map(|kept| kept.cause);
    let Some(cause) = sought.and_then(Review::stop_cause).or(kept) else { return Ok(()) };
    let ended = step.entry.records.iter().find_map(|record| match record {
        Record::RunFinished { run: id, cause, .. } if *id == run.id => Some(*cause),
        _ => None,
    });
    let asked = step.entry.records.iter().any(|r| matches!(r, Record::ModelCallStarted { .. }));
    let goes_on =
        ended.is_none() && asked && run.reached_time_limit.is_some() && run.steers.is_empty();
    ensure(ended.is_none_or(|ended| ended == cause), || format!("ended as {ended:?}"))?;
    ensure(!goes_on, || "its time is up and it had an answer".to_owned())
}

fn blocked_is_not_sent(step: &StepUnderTest<'_>) -> InvariantResult {
    let Some(run) = &step.before.run else { return Ok(()) };
    let sought = run.pending_review().map(|sought| &sought.review);
    let Input::ReviewReturned { result, .. } = &step.entry.input else { return Ok(()) };
    let refused = matches!(result, ReviewResult::Block { .. } | ReviewResult::Stop { .. });
    let prompt = matches!(sought, Some(Review::Prompt {}));
    let ended = step.entry.records.iter().any(
        |r| matches!(r, Record::RunFinished { run: id, cause: StopCause::HookStopped, .. } if *id == run.id),
    );
    let withdrawn = step.entry.records.contains(&Record::PromptWithdrawn {});
    ensure(!(refused && prompt) || (ended && withdrawn), || "the prompt stays".to_owned())
}
