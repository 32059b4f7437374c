//! Stop conditions: what ends a run before its next model call or its next tool call.

use super::budget;
use super::draft::DecisionDraft;
use crate::run::active_run::{RoundFatality, Run};
use crate::stop::StopCause;

/// Returns whether the model could be called once more.
pub(super) fn can_ask_model(draft: &DecisionDraft<'_>) -> bool {
    let cap = draft.run().map_or(0, |run| run.output_cap_tokens);
    model_stop_causes(draft, RoundFatality::NotFatal).is_empty()
        && budget::affordable_output(draft, cap).is_ok()
}

/// Returns what stops the run before its next model call, the most specific cause first.
pub(super) fn model_stop_causes(draft: &DecisionDraft<'_>, fatal: RoundFatality) -> Vec<StopCause> {
    let Some(run) = draft.run() else { return Vec::new() };
    let mut causes = Vec::new();
    if fatal == RoundFatality::Fatal {
        causes.push(StopCause::ToolFatal);
    }
    causes.extend(general_stop_causes(draft));
    // Retries during a provider outage do not count towards the limit of the run.
    let calls = run.counters.model_calls.saturating_sub(run.counters.retries);
    let limits = draft.limits();
    if calls >= limits.model_calls {
        causes.push(StopCause::MaxModelCalls);
    }
    if limits.model_replies.is_some_and(|most| run.reply_count() >= most) {
        causes.push(StopCause::MaxModelReplies);
    }
    causes
}

/// Returns what stops a run whose reply has tool calls. A budget that a human may raise does not:
/// tools cost none of it, and the human is asked after them.
pub(super) fn tool_stop_causes(draft: &DecisionDraft<'_>) -> Vec<StopCause> {
    let mut causes = causes_against_tools(draft);
    if budget::can_extend_budget(draft) {
        causes.retain(|cause| !matches!(cause, StopCause::BudgetUsd | StopCause::BudgetTokens));
    }
    causes
}

/// Returns the causes against running tools.
fn causes_against_tools(draft: &DecisionDraft<'_>) -> Vec<StopCause> {
    let Some(run) = draft.run() else { return Vec::new() };
    let mut causes = general_stop_causes(draft);
    if run.counters.tool_rounds >= draft.limits().tool_rounds {
        causes.push(StopCause::MaxToolRounds);
    }
    causes
}

/// Returns the general stop causes: cancelled, ended by a hook, over budget, out of time.
fn general_stop_causes(draft: &DecisionDraft<'_>) -> Vec<StopCause> {
    let cancelled = draft.is_stopping().then_some(StopCause::UserCancel);
    let late = draft.is_past_hard_limit().then_some(StopCause::HardTime);
    let ended_by_hook = draft.run().and_then(hook_stop_cause);
    let first = cancelled.into_iter().chain(ended_by_hook);
    first.chain(budget::exceeded_cap(draft)).chain(late).collect()
}

/// Returns the stop cause if a hook ends the run after the round.
pub(super) fn hook_stop_cause(run: &Run) -> Option<StopCause> {
    let stopped = run.hook_stop.as_ref().map(|_| StopCause::HookStopped);
    stopped.or_else(|| run.deferred_tool_use.as_ref().map(|_| StopCause::ToolDeferred))
}

/// Returns what ended a run with an answer, and what else would have ended it. The limit on tool
/// rounds does not apply to an answer without calls.
pub(super) fn with_other_causes(draft: &DecisionDraft<'_>, cause: StopCause) -> Vec<StopCause> {
    let others = general_stop_causes(draft);
    std::iter::once(cause).chain(others).collect()
}

/// Returns whether steering messages arrived that the model can still be called with: then the
/// answer is not the last.
pub(super) fn should_continue_with_steers(draft: &DecisionDraft<'_>) -> bool {
    draft.run().is_some_and(|run| !run.steers.is_empty()) && can_ask_model(draft)
}

/// Returns whether nothing may delay the end: a stop was requested, a hook ends the run, a time limit
/// was reached, or the run waits for approval to continue, which an answer does not need.
pub(super) fn must_end_now(draft: &DecisionDraft<'_>) -> bool {
    draft.run().is_some_and(|run| {
        run.stop_request.is_some()
            || run.is_ended_by_hook()
            || run.reached_time_limit.is_some()
            || run.human_pause().is_some()
    })
}
