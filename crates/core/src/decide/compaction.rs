//! Compaction of the context window: the pruning stages, then the recovery ladder. Every path ends
//! with a model call, a review, a question to a human, or the end of the run.

use std::sync::Arc;

use super::budget;
use super::draft::DecisionDraft;
use super::escalation;
use super::finishing::{finish_with_answer, finish_without_result};
use super::next_step::{AskKind, NextStep};
use super::pruning;
use crate::budget::spending::PlannedCall;
use crate::context::{
    CompactionTrigger, RecoveryStep, Summariser, WindowPressure, compaction_trial, render,
};
use crate::log::record::{Record, Transition};
use crate::message::prompt_texts;
use crate::message::truncate;
use crate::run::conversation::CompactionRequest;
use crate::run::review::{PlannedCompaction, PruneGoal, Review};
use crate::run::side_requests;
use crate::settings::conversation_settings::{HookPresence, Settings};
use crate::stop::StopCause;

/// Compacts the window, which is tight, or whose compaction was requested; then the model is called.
pub(super) fn compact_before_call(
    draft: &mut DecisionDraft<'_>,
    next_transition: Transition,
) -> NextStep {
    match window_pressure(draft) {
        WindowPressure::Fine => {
            let step = requested_step(draft);
            let trigger = CompactionTrigger::Requested;
            take_step(draft, step, CompactionNeed { next_transition, stop_cause: None, trigger })
        }
        WindowPressure::Tight | WindowPressure::Full => {
            match pruning::review_before_pruning(
                draft,
                PruneGoal::CompactionTarget,
                next_transition,
            ) {
                Some(review) => draft.request_review(review),
                None => prune_or_compact(draft, next_transition),
            }
        }
    }
}

/// Returns whether a run that only compacts could remove anything.
pub(super) fn can_compact_alone(draft: &DecisionDraft<'_>) -> bool {
    let Some(settings) = draft.settings() else { return false };
    compaction_trial::find_whole_cut(draft.state(), &settings).is_some()
}

/// Compacts the context in a run that does nothing else.
pub(super) fn compact_alone(draft: &mut DecisionDraft<'_>) -> NextStep {
    let (next_transition, trigger) = (Transition::Prompt, CompactionTrigger::Requested);
    let need = CompactionNeed { next_transition, stop_cause: None, trigger };
    take_step(draft, Some(RecoveryStep::Compact), need)
}

fn is_only_compacting(draft: &DecisionDraft<'_>) -> bool {
    draft.run().is_some_and(|run| run.only_compacts)
}

/// Prunes, then takes the next recovery step; compaction hooks have been notified.
pub(super) fn prune_or_compact(draft: &mut DecisionDraft<'_>, transition: Transition) -> NextStep {
    if pruning::prune(draft, PruneGoal::CompactionTarget) {
        ask_after_compaction(transition)
    } else {
        let trigger = match is_compaction_requested(draft) {
            true => CompactionTrigger::Requested,
            false => CompactionTrigger::Threshold,
        };
        take_next_step(
            draft,
            CompactionNeed {
                next_transition: transition,
                stop_cause: stop_cause_if_full(draft),
                trigger,
            },
        )
    }
}

/// Why the window is compacted, and what follows.
#[derive(Clone, Copy)]
struct CompactionNeed {
    /// Why the model is called afterwards.
    next_transition: Transition,
    /// How the run ends if nothing can be compacted; without it the run continues as it is.
    stop_cause: Option<StopCause>,
    trigger: CompactionTrigger,
}

/// Returns why the run would end if the window were not compacted.
fn stop_cause_if_full(draft: &DecisionDraft<'_>) -> Option<StopCause> {
    (window_pressure(draft) == WindowPressure::Full).then_some(StopCause::BlockingLimit)
}

/// Returns whether the model can be called at once: the window is not tight, and no compaction is
/// requested.
pub(super) fn has_room(draft: &DecisionDraft<'_>) -> bool {
    window_pressure(draft) == WindowPressure::Fine && !is_compaction_requested(draft)
}

fn is_compaction_requested(draft: &DecisionDraft<'_>) -> bool {
    draft.state().compaction_request == CompactionRequest::Requested
}

/// Returns whether there is anything that a compaction could remove.
pub(super) fn has_compactable_history(draft: &DecisionDraft<'_>) -> bool {
    let Some(settings) = draft.settings() else { return false };
    cut_position(draft, &settings, RecoveryStep::Compact).is_some()
}

/// Maximum number of reactive compactions in one run.
const MAX_REACTIVE_COMPACTIONS: u32 = 1;

/// Reactive compaction: the window is compacted although it did not seem tight, because the
/// provider reports it as full or truncates reply after reply. Once in a run; the second time, or
/// if nothing can be removed, the run ends.
pub(super) fn compact_or_finish(
    draft: &mut DecisionDraft<'_>,
    transition: Transition,
    otherwise: StopCause,
) -> NextStep {
    if has_compacted_reactively(draft) {
        return on_no_step_left(draft, transition, Some(otherwise), false);
    }
    let trigger = CompactionTrigger::Reactive;
    take_next_step(
        draft,
        CompactionNeed { next_transition: transition, stop_cause: Some(otherwise), trigger },
    )
}

fn has_compacted_reactively(draft: &DecisionDraft<'_>) -> bool {
    let used = draft.run().map_or(0, |run| run.counters.reactive_compactions);
    used >= MAX_REACTIVE_COMPACTIONS
}

/// Returns whether a reactive compaction can free anything.
pub(super) fn can_compact_reactively(draft: &DecisionDraft<'_>) -> bool {
    let Some(settings) = draft.settings() else { return false };
    let can =
        |step| step == RecoveryStep::AskHuman || cut_position(draft, &settings, step).is_some();
    !has_compacted_reactively(draft) && next_recovery_step(draft).is_some_and(can)
}

/// Returns the step that calls the model without measuring the window again.
fn ask_after_compaction(transition: Transition) -> NextStep {
    NextStep::ask_model_as(transition, AskKind::AfterCompaction)
}

/// Returns how full the window is.
fn window_pressure(draft: &DecisionDraft<'_>) -> WindowPressure {
    let Some(settings) = draft.state().active_settings() else { return WindowPressure::Fine };
    compaction_trial::usable_window(&settings)
        .pressure(budget::estimate_input_tokens(draft), &settings.window.thresholds)
}

fn next_recovery_step(draft: &DecisionDraft<'_>) -> Option<RecoveryStep> {
    let run = draft.run()?;
    run.recoveries.next_step(run.counters.model_calls, &draft.limits())
}

/// Returns the step of a requested compaction: an ordinary one, however soon it follows another.
fn requested_step(draft: &DecisionDraft<'_>) -> Option<RecoveryStep> {
    next_recovery_step(draft).map(|_| RecoveryStep::Compact)
}

/// Takes the next recovery step. Without one the run continues as it is, or ends.
fn take_next_step(draft: &mut DecisionDraft<'_>, need: CompactionNeed) -> NextStep {
    take_step(draft, next_recovery_step(draft), need)
}

fn take_step(
    draft: &mut DecisionDraft<'_>,
    step: Option<RecoveryStep>,
    need: CompactionNeed,
) -> NextStep {
    let Some(settings) = draft.settings() else { return NextStep::Wait };
    let CompactionNeed { next_transition, stop_cause, trigger } = need;
    let step = step.map(|step| or_deep_prune(draft, &settings, step, stop_cause));
    match step.map(|step| (step, cut_position(draft, &settings, step))) {
        // A run past its soft time limit asks no more questions.
        Some((RecoveryStep::AskHuman, _)) if !is_wrapping_up_now(draft) => {
            draft.record(Record::RecoveryStepUsed { step: RecoveryStep::AskHuman });
            match stop_cause {
                None => escalation::ask_through_model(
                    draft,
                    prompt_texts::CONTEXT_QUESTION,
                    next_transition,
                ),
                // A request that does not fit the window cannot make the model ask the question.
                Some(_) => escalation::ask_human(draft, prompt_texts::CONTEXT_QUESTION),
            }
        }
        Some((step @ (RecoveryStep::Compact | RecoveryStep::DeepPrune), Some(keep_from))) => {
            let compaction =
                PlannedCompaction { step, keep_from: keep_from as u64, next_transition, trigger };
            if settings.hooks.compaction == HookPresence::Present {
                draft.request_review(Review::Compaction { compaction })
            } else {
                request_summary(draft, compaction, None)
            }
        }
        Some(_) | None => on_no_step_left(draft, next_transition, stop_cause, false),
    }
}

/// Returns whether the run is past its soft time limit and only wraps up. Hooks and summaries take
/// time, so the time is checked again.
fn is_wrapping_up_now(draft: &mut DecisionDraft<'_>) -> bool {
    draft.check_time_limits();
    draft.is_wrapping_up()
}

/// Chooses a deep prune where an ordinary compaction would remove nothing because a few messages
/// are large: before the run would end for that, fewer messages are kept.
fn or_deep_prune(
    draft: &DecisionDraft<'_>,
    settings: &Settings,
    step: RecoveryStep,
    otherwise: Option<StopCause>,
) -> RecoveryStep {
    let nothing = step == RecoveryStep::Compact && cut_position(draft, settings, step).is_none();
    if nothing && otherwise.is_some() { RecoveryStep::DeepPrune } else { step }
}

/// Handles the end of the ladder. What the pruning stages free may still be enough for one call.
fn on_no_step_left(
    draft: &mut DecisionDraft<'_>,
    transition: Transition,
    otherwise: Option<StopCause>,
    hooks_notified: bool,
) -> NextStep {
    if otherwise == Some(StopCause::BlockingLimit) {
        if !hooks_notified
            && let Some(review) =
                pruning::review_before_pruning(draft, PruneGoal::OneCall, transition)
        {
            return draft.request_review(review);
        }
        if pruning::prune(draft, PruneGoal::OneCall) {
            return ask_after_compaction(transition);
        }
    }
    match otherwise {
        None => ask_after_compaction(transition),
        Some(_) if is_wrapping_up_now(draft) => finish_with_answer(draft, StopCause::SoftTime),
        Some(cause) => finish_without_result(draft, &[cause]),
    }
}

/// Prunes for one more call; compaction hooks have been notified.
pub(super) fn prune_for_one_call(
    draft: &mut DecisionDraft<'_>,
    transition: Transition,
) -> NextStep {
    on_no_step_left(draft, transition, Some(StopCause::BlockingLimit), true)
}

/// Handles a hook that blocks the compaction: the model is called with the history as it is, if
/// that is possible.
pub(super) fn keep_history(draft: &mut DecisionDraft<'_>, transition: Transition) -> NextStep {
    on_no_step_left(draft, transition, stop_cause_if_full(draft), true)
}

/// Postpones the compaction, as a hook requested.
pub(super) fn postpone_compaction(
    draft: &mut DecisionDraft<'_>,
    cut: &PlannedCompaction,
) -> NextStep {
    draft.record(Record::RecoveryStepUsed { step: cut.step });
    keep_history(draft, cut.next_transition)
}

/// Returns where a recovery step would cut; `None` if there is nothing to remove.
fn cut_position(
    draft: &DecisionDraft<'_>,
    settings: &Settings,
    step: RecoveryStep,
) -> Option<usize> {
    let cut = match is_only_compacting(draft) {
        true => compaction_trial::find_whole_cut(draft.state(), settings),
        false => compaction_trial::find_cut(draft.state(), settings, step),
    };
    cut.map(|cut| cut.keep_from)
}

fn user_message_count(draft: &DecisionDraft<'_>) -> u32 {
    draft.run().map_or(0, |run| run.user_message_count)
}

/// Requests the summary of what will be removed, if a summariser is configured and the budget
/// covers it. Hooks have responded, or there are none.
pub(super) fn request_summary(
    draft: &mut DecisionDraft<'_>,
    compaction: PlannedCompaction,
    hook_instructions: Option<Arc<str>>,
) -> NextStep {
    let Some(settings) = draft.state().active_settings() else { return NextStep::Wait };
    let instructions = join_instructions(draft, hook_instructions);
    let model = side_requests::side_model(&settings);
    if settings.window.summariser == Summariser::Off || budget::lacks_required_price(draft, model) {
        return record_compaction(draft, &compaction, None);
    }
    let planned = PlannedCall {
        input_tokens: budget::estimate_input_tokens(draft).min(model.window_tokens),
        cap_tokens: settings.limits.summary_tokens.clamp(1, model.max_output_tokens.max(1)),
        least_tokens: settings.limits.least_output_tokens.min(settings.limits.summary_tokens),
    };
    match budget::side_request_output(draft, planned, model.price.as_ref()) {
        Err(_) => record_compaction(draft, &compaction, None),
        Ok(max_tokens) => {
            let reserved_tokens = planned.input_tokens.saturating_add(max_tokens);
            draft.request_review(Review::Summary {
                compaction,
                instructions,
                max_tokens,
                reserved_tokens,
            })
        }
    }
}

/// Returns what users and hooks want the summary to keep.
fn join_instructions(draft: &DecisionDraft<'_>, hooks: Option<Arc<str>>) -> Option<Arc<str>> {
    match (draft.state().compaction_instructions.clone(), hooks) {
        (Some(people), Some(hooks)) => Some(Arc::from(format!("{people}\n{hooks}"))),
        (people, hooks) => people.or(hooks),
    }
}

/// Removes the messages before the cut and calls the model; takes the next recovery step if that
/// freed too little.
pub(super) fn record_compaction(
    draft: &mut DecisionDraft<'_>,
    cut: &PlannedCompaction,
    summary: Option<&str>,
) -> NextStep {
    let Some(settings) = draft.state().active_settings() else { return NextStep::Wait };
    let Ok(keep_from) = usize::try_from(cut.keep_from) else { return NextStep::Wait };
    let transcript = &draft.state().transcript;
    let attached = transcript.protected_segments(keep_from, user_message_count(draft));
    let kept_hash = Some(Arc::from(transcript.hash_segments(&attached)));
    let note = choose_note(draft, &settings, cut, &attached, summary);
    let kept_segments = attached.into_iter().map(|at| at as u64).collect();
    draft.record(Record::Compacted {
        keep_from: cut.keep_from,
        note,
        step: Some(cut.step),
        trigger: cut.trigger,
        kept_segments,
        kept_hash,
    });
    let share = compaction_trial::percent_with(draft.state(), &settings, &draft.state().transcript);
    let is_tight = share > settings.window.thresholds.gain;
    if cut.step == RecoveryStep::Compact && is_tight && !is_only_compacting(draft) {
        let (stop_cause, trigger) =
            (stop_cause_if_blocked(share, &settings), CompactionTrigger::Threshold);
        return take_next_step(
            draft,
            CompactionNeed { next_transition: cut.next_transition, stop_cause, trigger },
        );
    }
    NextStep::ask_model(cut.next_transition)
}

/// Returns the fullest note that leaves the window below the gain threshold; the shortest if none
/// does.
fn choose_note(
    draft: &DecisionDraft<'_>,
    settings: &Settings,
    cut: &PlannedCompaction,
    attached: &[usize],
    summary: Option<&str>,
) -> Arc<str> {
    let keep_from = usize::try_from(cut.keep_from).unwrap_or(usize::MAX);
    let limit = settings.limits.summary_tokens.saturating_mul(truncate::CHARS_PER_TOKEN);
    let summary = summary
        .map(|text| truncate::truncate_text(text, limit))
        .filter(|text| !text.trim().is_empty());
    let transcript = &draft.state().transcript;
    let journal = draft.state().journal_for_compaction();
    let left_out = transcript.segments().iter().take(keep_from);
    let notes = render::compaction_notes(cut.step, summary.as_deref(), left_out);
    let fits = |note: &&String| {
        let mut changed = transcript.clone();
        changed.compact(keep_from, note, attached, &journal);
        compaction_trial::percent_with(draft.state(), settings, &changed)
            <= settings.window.thresholds.gain
    };
    let [.., shortest] = &notes;
    Arc::from(notes.iter().find(fits).unwrap_or(shortest).as_str())
}

fn stop_cause_if_blocked(share: u64, settings: &Settings) -> Option<StopCause> {
    (share > settings.window.thresholds.block).then_some(StopCause::BlockingLimit)
}
