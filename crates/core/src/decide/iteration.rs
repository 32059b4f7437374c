//! The boundary between two iterations of the agent loop: call the model again, or finish the run
//! and start the next queued prompt.

use std::sync::Arc;

use super::budget;
use super::compaction;
use super::draft::DecisionDraft;
use super::escalation;
use super::reviews;
use super::time_limits;
use crate::log::record::{Record, TimeLimit, ToolChoice, Transition};
use crate::message::prompt_texts;
use crate::run::active_run::RoundFatality;
use crate::run::review::Review;
use crate::settings::conversation_settings::HookPresence;
use crate::stop::StopCause;

/// Calls the model, unless something stops the run here.
pub(super) fn ask_model(draft: &mut DecisionDraft<'_>, transition: Transition) {
    ask_model_after_round(draft, transition, RoundFatality::NotFatal);
}

/// Calls the model after a round that may have been fatal.
pub(super) fn ask_model_after_round(
    draft: &mut DecisionDraft<'_>,
    transition: Transition,
    fatal: RoundFatality,
) {
    if should_stop_before_call(draft, fatal) {
        return;
    }
    let transition = wrap_up_if_due(draft, transition);
    compaction::compact_before_call(draft, transition);
}

/// Calls the model with a tool that it must call. A compaction comes first if it is needed.
pub(super) fn ask_model_forcing_tool(
    draft: &mut DecisionDraft<'_>,
    transition: Transition,
    tool: Option<Arc<str>>,
) {
    let now = tool.filter(|tool| {
        is_offered(draft, tool) && !is_wrapping_up(draft) && compaction::has_room(draft)
    });
    match now {
        Some(tool) if !should_stop_before_call(draft, RoundFatality::NotFatal) => {
            start_model_call(draft, transition, None, ToolChoice::Tool(tool));
        }
        Some(_) => {}
        None => ask_model(draft, transition),
    }
}

/// Ends the run if something stops it here, or leaves it paused. Returns whether it did.
pub(super) fn should_stop_before_call(draft: &mut DecisionDraft<'_>, fatal: RoundFatality) -> bool {
    time_limits::check_time_limits(draft);
    match stop_causes(draft, fatal).as_slice() {
        [] => return is_paused(draft) || ask_required_question(draft),
        [cap @ (StopCause::BudgetUsd | StopCause::BudgetTokens)] => {
            budget::on_cap_reached(draft, *cap);
        }
        causes => finish_without_result(draft, causes),
    }
    true
}

fn is_paused(draft: &DecisionDraft<'_>) -> bool {
    draft.run().is_none_or(|run| run.human_pause().is_some())
}

/// Asks the required question in place of a model that was required to ask and did not; the model
/// is not called again.
fn ask_required_question(draft: &mut DecisionDraft<'_>) -> bool {
    let due = escalation::required_question(draft);
    if let Some(question) = &due {
        escalation::ask_human(draft, question);
    }
    due.is_some()
}

/// Returns whether the tool is offered. A model that cannot be forced to call it is offered no
/// other tool.
pub(super) fn is_offered(draft: &DecisionDraft<'_>, tool: &str) -> bool {
    let settings = draft.settings();
    settings.is_some_and(|settings| settings.tools.iter().any(|offered| &*offered.name == tool))
}

/// Returns whether the model could be called once more.
pub(super) fn can_ask_model(draft: &DecisionDraft<'_>) -> bool {
    let cap = draft.run().map_or(0, |run| run.output_cap_tokens);
    stop_causes(draft, RoundFatality::NotFatal).is_empty()
        && budget::affordable_output(draft, cap).is_ok()
}

/// Calls the model again with a larger output cap. A wrap-up turn is not a retry of the turn
/// before.
pub(super) fn ask_model_with_cap(
    draft: &mut DecisionDraft<'_>,
    transition: Transition,
    cap_tokens: u64,
) {
    if should_stop_before_call(draft, RoundFatality::NotFatal) {
        return;
    }
    if is_wrapping_up(draft) {
        return ask_model(draft, transition);
    }
    start_model_call(draft, transition, Some(cap_tokens), ToolChoice::Auto);
}

/// Starts a model call: nothing stops it, and there is room.
pub(super) fn start_model_call(
    draft: &mut DecisionDraft<'_>,
    transition: Transition,
    cap_tokens: Option<u64>,
    choice: ToolChoice,
) {
    let Some(run) = draft.run() else { return };
    match budget::affordable_output(draft, cap_tokens.unwrap_or(run.output_cap_tokens)) {
        Err(cap) => budget::on_cap_reached(draft, cap),
        Ok((max_tokens, bound)) => {
            budget::warn_if_near_cap(draft);
            let model_call = draft.state().model_call_count.saturating_add(1);
            let reserved_tokens = budget::estimate_input_tokens(draft).saturating_add(max_tokens);
            draft.record(Record::ModelCallStarted {
                model_call,
                max_tokens,
                bound,
                reserved_tokens,
                transition,
                choice,
            });
        }
    }
}

/// Returns what stops the run before its next model call, the most specific cause first.
fn stop_causes(draft: &DecisionDraft<'_>, fatal: RoundFatality) -> Vec<StopCause> {
    let Some(run) = draft.run() else { return Vec::new() };
    let mut causes = Vec::new();
    if fatal == RoundFatality::Fatal {
        causes.push(StopCause::ToolFatal);
    }
    causes.extend(general_stop_causes(draft));
    // Retries during a provider outage do not count towards the limit of the run.
    let calls = run.counters.model_calls.saturating_sub(run.counters.retries);
    if calls >= draft.limits().model_calls {
        causes.push(StopCause::MaxModelCalls);
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
pub(super) fn causes_against_tools(draft: &DecisionDraft<'_>) -> Vec<StopCause> {
    let Some(run) = draft.run() else { return Vec::new() };
    let mut causes = general_stop_causes(draft);
    if run.counters.tool_rounds >= draft.limits().tool_rounds {
        causes.push(StopCause::MaxToolRounds);
    }
    causes
}

/// Returns the general stop causes: cancelled, over budget, out of time.
fn general_stop_causes(draft: &DecisionDraft<'_>) -> Vec<StopCause> {
    let Some(run) = draft.run() else { return Vec::new() };
    let hard = run.reached_time_limit.is_some_and(|up| up.limit == TimeLimit::Hard);
    let cancelled = run.stop_request.map(|_| StopCause::UserCancel);
    let late = hard.then_some(StopCause::HardTime);
    cancelled.into_iter().chain(budget::exceeded_cap(draft)).chain(late).collect()
}

/// Returns whether the soft time limit was reached: the model is called once more, to wrap up.
pub(super) fn is_wrapping_up(draft: &DecisionDraft<'_>) -> bool {
    let up = draft.run().and_then(|run| run.reached_time_limit);
    up.is_some_and(|up| up.limit == TimeLimit::Soft)
}

/// Returns why the model is called: after the soft time limit, to wrap up. The model is told once
/// that this is the last turn.
pub(super) fn wrap_up_if_due(draft: &mut DecisionDraft<'_>, transition: Transition) -> Transition {
    if !is_wrapping_up(draft) {
        return transition;
    }
    if !draft.state().transcript.ends_in_note(prompt_texts::WRAP_UP) {
        draft.record(Record::NoteAdded { text: Arc::from(prompt_texts::WRAP_UP) });
    }
    Transition::WrapUp
}

/// Finishes the run without a result.
pub(super) fn finish_without_result(draft: &mut DecisionDraft<'_>, causes: &[StopCause]) {
    let causes = include_cancel(draft, causes);
    finish_run(draft, &causes, Some(Arc::from("")));
}

/// Adds a requested cancel to the causes, whatever else ended the run. A fatal error, which is more
/// specific, comes with its cancel already.
fn include_cancel(draft: &DecisionDraft<'_>, causes: &[StopCause]) -> Vec<StopCause> {
    let known = causes.contains(&StopCause::UserCancel);
    let cancelled = (draft.is_stopping() && !known).then_some(StopCause::UserCancel);
    cancelled.into_iter().chain(causes.iter().copied()).collect()
}

/// Finishes the run: the first cause names it, the others are recorded beside it. `said` replaces
/// the text that was kept. Then the next prompt starts.
pub(super) fn finish_run(
    draft: &mut DecisionDraft<'_>,
    causes: &[StopCause],
    text_override: Option<Arc<str>>,
) {
    let (Some(run), Some((cause, also))) = (draft.run(), causes.split_first()) else { return };
    let run = run.id.clone();
    draft.record(Record::RunFinished {
        run,
        cause: *cause,
        other_causes: also.to_vec(),
        text_override,
    });
    start_next_prompt(draft);
}

/// Starts the first queued prompt, if no run is active.
pub(super) fn start_next_prompt(draft: &mut DecisionDraft<'_>) {
    if draft.run().is_some() {
        return;
    }
    if let Some(next) = draft.state().prompt_queue.front() {
        let run = next.run.clone();
        if draft.state().journal.version() != draft.state().shown_journal_version {
            draft.record(Record::JournalShown {});
        }
        draft.record(Record::RunStarted { run });
        begin_run(draft);
    }
}

/// Begins a run that has made no model call yet: hooks review its prompt first.
pub(super) fn begin_run(draft: &mut DecisionDraft<'_>) {
    if budget::refuse_unpriced_run(draft) {
        return;
    }
    let hooked =
        draft.settings().map(|settings| settings.hooks.prompt) == Some(HookPresence::Present);
    if hooked {
        reviews::request_review(draft, Review::Prompt {});
    } else {
        ask_model(draft, Transition::Prompt);
    }
}
