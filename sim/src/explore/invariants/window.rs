//! Invariants of compaction: the recovery ladder is taken step by step, ends, and removes nothing
//! that must stay.

use windlass_core::apply::apply;
use windlass_core::context::{
    BlockRewrite, CompactionTrigger, PruneStage, RecoveryStep, UsableWindow,
};
use windlass_core::log::input::FailureClass;
use windlass_core::log::record::{Record, ToolChoice, Transition};
use windlass_core::message::reply::StopReason;
use windlass_core::message::transcript::{SegmentKind, TranscriptSegment};
use windlass_core::run::conversation::CompactionRequest;
use windlass_core::run::review::{PlannedCompaction, Review};
use windlass_core::settings::conversation_settings::HookPresence;
use windlass_core::{Conversation, Input};

use super::{
    InvariantResult, RecordInvariant, RecordUnderTest, StepInvariant, StepUnderTest, ensure,
};

pub(super) const FACTS: &[RecordInvariant] = &[
    ("the recovery ladder is climbed step by step and ends", rung_by_rung),
    ("a run has one reactive compaction", reacts_once),
    ("what must stay is there word for word after a compaction", protected_stays),
    ("what a compaction kept has the hash it says", hash_is_true),
    ("a cheap stage leaves prompts, instructions and summary alone", pruned_rightly),
    ("a full window is not sent", full_is_not_sent),
    ("a summary is no longer than it may be", summary_is_bounded),
];

pub(super) const STEPS: &[StepInvariant] = &[
    ("a compaction frees space, or the next step follows", room_or_further),
    ("the last step of the recovery ladder is a human", last_rung_is_human),
    ("a compaction that the provider caused is reactive", reaction_is_told),
    ("a hook that postpones a compaction uses up a step", block_uses_a_rung),
    ("hooks see all of it before anything is left out", seen_before_left_out),
];

fn recovery_step_of(record: &Record) -> Option<RecoveryStep> {
    match record {
        Record::Compacted { step, .. } => *step,
        Record::RecoveryStepUsed { step } => Some(*step),
        _ => None,
    }
}

fn rung_by_rung(fact: &RecordUnderTest<'_>) -> InvariantResult {
    let Some(rung) = recovery_step_of(fact.record) else { return Ok(()) };
    let (Some(run), Some(settings)) = (&fact.now.run, &fact.now.settings) else { return Ok(()) };
    let used = &run.recoveries;
    if fact.now.compaction_request == CompactionRequest::Requested && rung == RecoveryStep::Compact
    {
        // A user requested it: that is no sign that the last one was not enough.
        return Ok(());
    }
    let iteration = run.counters.model_calls;
    let within = settings.limits.recovery_iterations;
    let soon = |at: Option<u32>| at.is_some_and(|at| iteration.saturating_sub(at) <= within);
    let next = match (soon(used.last_prune), soon(used.last_compaction)) {
        (true, _) => RecoveryStep::AskHuman,
        (false, true) => RecoveryStep::DeepPrune,
        (false, false) => RecoveryStep::Compact,
    };
    let left = used.total < settings.limits.recoveries;
    ensure(left && rung == next, || format!("{rung:?} where {next:?} is due, {used:?}"))
}

fn reacts_once(fact: &RecordUnderTest<'_>) -> InvariantResult {
    let Record::Compacted { trigger: CompactionTrigger::Reactive, .. } = fact.record else {
        return Ok(());
    };
    let earlier = fact.now.run.as_ref().map_or(0, |run| run.counters.reactive_compactions);
    ensure(earlier == 0, || format!("after {earlier} others"))
}

/// The provider reported a full window: the first compaction that follows is recorded as reactive.
fn reaction_is_told(step: &StepUnderTest<'_>) -> InvariantResult {
    let full = match &step.entry.input {
        Input::ModelFailed { failure, .. } => failure.class == FailureClass::ContextTooLong,
        Input::ModelReplied { reply, .. } => reply.stop_reason == StopReason::ContextWindowExceeded,
        _ => false,
    };
    let trigger = step.entry.records.iter().find_map(|record| match record {
        Record::Compacted { trigger, .. } => Some(*trigger),
        Record::ReviewRequested { review: Review::Summary { compaction, .. }, .. }
        | Record::ReviewRequested { review: Review::Compaction { compaction }, .. } => {
            Some(compaction.trigger)
        }
        _ => None,
    });
    let told = trigger.is_none_or(|trigger| trigger == CompactionTrigger::Reactive);
    let calls = matches!(&step.entry.input, Input::ModelReplied { reply, .. } if reply.tool_uses().next().is_some());
    ensure(!full || calls || told, || format!("{trigger:?}"))
}

/// Returns what must stay: instructions, and the user's messages of this run.
fn must_stay(c: &Conversation) -> Vec<&TranscriptSegment> {
    let segments = c.transcript.segments();
    let said = segments.iter().filter(|segment| segment.kind == SegmentKind::Prompt).count();
    let of_run = c.run.as_ref().map_or(0, |run| run.user_message_count as usize);
    let mut older = said.saturating_sub(of_run);
    let stays = |segment: &&TranscriptSegment| match segment.kind {
        SegmentKind::Memory => true,
        SegmentKind::Prompt if older > 0 => {
            older -= 1;
            false
        }
        SegmentKind::Prompt => true,
        SegmentKind::Note
        | SegmentKind::Summary
        | SegmentKind::Journal
        | SegmentKind::Reply
        | SegmentKind::Results => false,
    };
    segments.iter().filter(stays).collect()
}

fn after(fact: &RecordUnderTest<'_>) -> Conversation {
    let mut after = fact.now.clone();
    apply(&mut after, fact.entry.at, &fact.entry.input, fact.record);
    after
}

fn protected_stays(fact: &RecordUnderTest<'_>) -> InvariantResult {
    if !matches!(fact.record, Record::Compacted { .. } | Record::Pruned { .. }) {
        return Ok(());
    }
    let after = after(fact);
    let mut left = after.transcript.segments().iter();
    let lost = must_stay(fact.now).into_iter().find(|stays| !left.any(|segment| segment == *stays));
    ensure(lost.is_none(), || format!("lost {lost:?}"))
}

fn hash_is_true(fact: &RecordUnderTest<'_>) -> InvariantResult {
    let Record::Compacted { kept_segments, kept_hash, .. } = fact.record else {
        return Ok(());
    };
    let places: Vec<usize> =
        kept_segments.iter().filter_map(|at| usize::try_from(*at).ok()).collect();
    let hash = fact.now.transcript.hash_segments(&places);
    ensure(kept_hash.as_deref() == Some(hash.as_str()), || format!("{kept_hash:?} for {places:?}"))
}

fn pruned_rightly(fact: &RecordUnderTest<'_>) -> InvariantResult {
    let Record::Pruned { stage, rewrites } = fact.record else { return Ok(()) };
    let kept = fact.now.settings.as_ref().map_or(0, |settings| settings.limits.kept_messages);
    let tail = fact.now.transcript.cut_point(kept).unwrap_or(0);
    let wrong = rewrites.iter().find(|rewrite| !may_prune(fact.now, *stage, rewrite, tail));
    ensure(wrong.is_none(), || format!("{stage:?} changes {wrong:?}"))
}

fn may_prune(c: &Conversation, stage: PruneStage, rewrite: &BlockRewrite, tail: usize) -> bool {
    let place = rewrite.segment as usize;
    let summarised = c.transcript.generation() > 0;
    let Some(segment) = c.transcript.segments().get(place) else { return false };
    let fits = match segment.kind {
        SegmentKind::Prompt | SegmentKind::Memory => false,
        SegmentKind::Summary => false,
        SegmentKind::Note | SegmentKind::Journal => {
            stage == PruneStage::Snip && !(place == 0 && summarised)
        }
        SegmentKind::Reply => rewrite.replacement.is_none() && stage == PruneStage::Snip,
        // Results are removed only with their reply; a request without one of them is rejected
        // elsewhere.
        SegmentKind::Results => rewrite.replacement.is_some() || stage == PruneStage::Snip,
    };
    fits && place < tail
}

/// Returns the share of the window that the next request fills, in per cent.
fn share(c: &Conversation) -> u64 {
    let Some(settings) = c.active_settings() else { return 0 };
    let model = &settings.model;
    let tokens = c.meter.estimate(c.request_bytes());
    UsableWindow::new(model.window_tokens, model.max_tokens).percent(tokens)
}

fn full_is_not_sent(fact: &RecordUnderTest<'_>) -> InvariantResult {
    let Record::ModelCallStarted { transition, choice: ToolChoice::Auto, .. } = fact.record else {
        return Ok(());
    };
    let looks = match transition {
        Transition::Prompt | Transition::ToolResults | Transition::Guidance => true,
        Transition::Steer | Transition::ContinueText | Transition::Reprompt => true,
        Transition::Rejected | Transition::Resume | Transition::ReissueToolUse => true,
        Transition::RaiseCap | Transition::WrapUp => false,
        Transition::Retry | Transition::Compacted | Transition::OwnerChanged => true,
    };
    let block = fact.now.settings.as_ref().map_or(0, |settings| settings.window.thresholds.block);
    let share = share(fact.now);
    ensure(!looks || share <= block, || format!("{transition:?} with {share} per cent"))
}

fn summary_is_bounded(fact: &RecordUnderTest<'_>) -> InvariantResult {
    let Record::Compacted { note, .. } = fact.record else { return Ok(()) };
    let Some(settings) = &fact.now.settings else { return Ok(()) };
    let Input::ReviewReturned { .. } = fact.entry.input else { return Ok(()) };
    // The heading before it, the pinned results after it.
    let pinned: u64 = fact.now.transcript.byte_count();
    let most = settings.limits.summary_tokens.saturating_mul(4).saturating_add(pinned + 200);
    let length = note.chars().count() as u64;
    ensure(length <= most, || format!("{length} characters of {most}"))
}

fn room_or_further(step: &StepUnderTest<'_>) -> InvariantResult {
    let mut now = step.before.clone();
    let mut records = step.entry.records.iter();
    while let Some(record) = records.next() {
        let before = now.meter.estimate(now.request_bytes());
        apply(&mut now, step.entry.at, &step.entry.input, record);
        let Record::Compacted { .. } = record else { continue };
        let tight = now.settings.as_ref().map_or(0, |settings| settings.window.thresholds.compact);
        let after = now.meter.estimate(now.request_bytes());
        let made_room = after < before || share(&now) <= tight;
        let used_up = is_used_up(&now);
        let further = records.clone().any(goes_further);
        ensure(made_room || further || used_up, || format!("{before} to {after} tokens"))?;
    }
    Ok(())
}

fn is_used_up(c: &Conversation) -> bool {
    let (Some(run), Some(settings)) = (&c.run, &c.settings) else { return true };
    run.recoveries.total >= settings.limits.recoveries
}

fn goes_further(record: &Record) -> bool {
    match record {
        Record::Compacted { .. } | Record::RecoveryStepUsed { .. } | Record::RunFinished { .. } => {
            true
        }
        Record::ReviewRequested { review, .. } => matches!(
            review,
            Review::Summary {
                compaction: PlannedCompaction { step: RecoveryStep::DeepPrune, .. },
                ..
            } | Review::Compaction {
                compaction: PlannedCompaction { step: RecoveryStep::DeepPrune, .. }
            } | Review::Pruning { .. }
        ),
        _ => false,
    }
}

/// A summary is requested only after hooks have responded.
fn seen_before_left_out(step: &StepUnderTest<'_>) -> InvariantResult {
    let leaves_out = |r: &Record| matches!(r, Record::Pruned { .. } | Record::Compacted { .. });
    let hooked = step.before.settings.as_ref().map(|settings| settings.hooks.compaction);
    if hooked != Some(HookPresence::Present) || !step.entry.records.iter().any(leaves_out) {
        return Ok(());
    }
    let sought =
        step.before.run.as_ref().and_then(windlass_core::run::active_run::Run::pending_review);
    let seen = sought.is_some_and(|sought| match sought.review {
        Review::Pruning { .. } | Review::Compaction { .. } | Review::Summary { .. } => true,
        Review::Prompt {} | Review::Answer { .. } | Review::Judge { .. } => false,
    });
    ensure(seen, || "no hook saw what was left out".to_owned())
}

fn block_uses_a_rung(step: &StepUnderTest<'_>) -> InvariantResult {
    let Input::ReviewReturned { result, .. } = &step.entry.input else { return Ok(()) };
    let sought =
        step.before.run.as_ref().and_then(windlass_core::run::active_run::Run::pending_review);
    let compaction = sought.is_some_and(|s| matches!(s.review, Review::Compaction { .. }));
    let blocked = matches!(result, windlass_core::run::review::ReviewResult::Block { .. });
    let climbed = step.entry.records.iter().any(|r| matches!(r, Record::RecoveryStepUsed { .. }));
    // A run that only compacts ends.
    let over = step.before.run.as_ref().is_some_and(|run| run.only_compacts);
    ensure(!(compaction && blocked) || climbed || over, || "it costs nothing to say no".to_owned())
}

/// The last step asks a human, unless the run ends with it.
fn last_rung_is_human(step: &StepUnderTest<'_>) -> InvariantResult {
    let human = Record::RecoveryStepUsed { step: RecoveryStep::AskHuman };
    let Some(run) = step.after.run.as_ref().filter(|_| step.entry.records.contains(&human)) else {
        return Ok(());
    };
    let same = step.before.run.as_ref().is_some_and(|before| before.id == run.id);
    let asks = run.human_pause().is_some() || run.required_question.is_some();
    ensure(!same || asks, || format!("the run is {}", run.phase_name()))
}
