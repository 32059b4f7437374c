//! The boundary between two iterations of the agent loop: call the model again, or start the next
//! queued prompt.

use std::sync::Arc;

use super::budget;
use super::compaction;
use super::draft::DecisionDraft;
use super::escalation;
use super::finishing::{finish_run, finish_without_result};
use super::next_step::{AskKind, ModelAsk, NextStep};
use super::session_changes;
use super::stop_conditions;
use crate::log::record::{OutputBound, Record, ToolChoice, Transition};
use crate::message::prompt_texts;
use crate::run::active_run::RoundFatality;
use crate::run::question::QuestionKind;
use crate::run::review::Review;
use crate::settings::conversation_settings::HookPresence;
use crate::stop::StopCause;

/// Calls the model, unless something stops the run here. Time limits, stop causes, affordability
/// and the window are each checked once, in this order.
pub(super) fn ask_model(draft: &mut DecisionDraft<'_>, ask: ModelAsk) -> NextStep {
    let ModelAsk { transition, kind } = ask;
    if draft.run().is_some_and(|run| run.only_compacts) {
        return finish_without_result(draft, &[StopCause::EndTurn]);
    }
    let forced = forced_tool(draft, &kind);
    if let Some(step) = stop_before_call(draft, &kind) {
        return step;
    }
    session_changes::switch_model_if_due(draft);
    let may_compact = match kind {
        AskKind::ForcingTool(_) if forced.is_some() => false,
        AskKind::WithCap(cap_tokens) if !draft.is_wrapping_up() => {
            return start_model_call(draft, transition, cap_tokens, ToolChoice::Auto);
        }
        AskKind::AfterCompaction => false,
        AskKind::Regular
        | AskKind::AfterFatalRound
        | AskKind::ForcingTool(_)
        | AskKind::WithCap(_) => true,
    };
    let (transition, choice) = match forced {
        Some(tool) => (transition, ToolChoice::Tool(tool)),
        None => wrap_up_if_due(draft, transition),
    };
    let cap_tokens = draft.run().map_or(0, |run| run.output_cap_tokens);
    match budget::affordable_output(draft, cap_tokens) {
        Err(cap) => on_cap_reached(draft, cap),
        Ok(_) if may_compact && !compaction::has_room(draft) => {
            compaction::compact_before_call(draft, transition)
        }
        Ok(output) => record_model_call(draft, transition, output, choice),
    }
}

/// Returns the tool that the model must call, if it is offered and nothing comes first.
fn forced_tool(draft: &DecisionDraft<'_>, kind: &AskKind) -> Option<Arc<str>> {
    let AskKind::ForcingTool(tool) = kind else { return None };
    let now = draft.is_offered(tool) && !draft.is_wrapping_up() && compaction::has_room(draft);
    now.then(|| tool.clone())
}

/// Returns what happens in place of the model call, if something stops the run here or keeps it
/// paused.
fn stop_before_call(draft: &mut DecisionDraft<'_>, kind: &AskKind) -> Option<NextStep> {
    draft.check_time_limits();
    let fatal = match kind {
        AskKind::AfterFatalRound => RoundFatality::Fatal,
        AskKind::Regular
        | AskKind::AfterCompaction
        | AskKind::ForcingTool(_)
        | AskKind::WithCap(_) => RoundFatality::NotFatal,
    };
    match stop_conditions::model_stop_causes(draft, fatal).as_slice() {
        [] if draft.run().is_none_or(|run| run.human_pause().is_some()) => Some(NextStep::Wait),
        // The model was required to ask and did not; it is not called again.
        [] => escalation::required_question(draft)
            .map(|question| escalation::ask_human(draft, &question)),
        [cap @ (StopCause::BudgetUsd | StopCause::BudgetTokens)] => {
            Some(on_cap_reached(draft, *cap))
        }
        causes => Some(finish_without_result(draft, causes)),
    }
}

/// Handles a budget that is too low for a call: the run ends, or a human is asked whether
/// the cap may be spent once more.
fn on_cap_reached(draft: &mut DecisionDraft<'_>, cap: StopCause) -> NextStep {
    if budget::can_extend_budget(draft) {
        draft.ask_question(QuestionKind::Budget { cap });
        NextStep::Wait
    } else {
        finish_without_result(draft, &[cap])
    }
}

/// Starts a model call whose output is capped, if the budget covers it; nothing else stops it.
pub(super) fn start_model_call(
    draft: &mut DecisionDraft<'_>,
    transition: Transition,
    cap_tokens: u64,
    choice: ToolChoice,
) -> NextStep {
    match budget::affordable_output(draft, cap_tokens) {
        Err(cap) => on_cap_reached(draft, cap),
        Ok(output) => record_model_call(draft, transition, output, choice),
    }
}

/// Starts a model call that must call `tool`.
pub(super) fn start_forced_call(
    draft: &mut DecisionDraft<'_>,
    transition: Transition,
    tool: Arc<str>,
) -> NextStep {
    session_changes::switch_model_if_due(draft);
    let cap_tokens = draft.run().map_or(0, |run| run.output_cap_tokens);
    start_model_call(draft, transition, cap_tokens, ToolChoice::Tool(tool))
}

fn record_model_call(
    draft: &mut DecisionDraft<'_>,
    transition: Transition,
    (max_tokens, bound): (u64, OutputBound),
    choice: ToolChoice,
) -> NextStep {
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
    NextStep::Wait
}

/// Returns why the model is called, and with which tools: after the soft time limit to wrap up,
/// without tools. The model is told once that this is the last turn.
fn wrap_up_if_due(
    draft: &mut DecisionDraft<'_>,
    transition: Transition,
) -> (Transition, ToolChoice) {
    // A wrap-up turn that comes back from a compaction keeps its transition.
    if !draft.is_wrapping_up() {
        let is_last = transition == Transition::WrapUp;
        return (transition, if is_last { ToolChoice::NoTools } else { ToolChoice::Auto });
    }
    if !draft.state().transcript.ends_in_note(prompt_texts::WRAP_UP) {
        draft.add_note(prompt_texts::WRAP_UP);
    }
    (Transition::WrapUp, ToolChoice::NoTools)
}

/// Starts the first queued prompt, if no run is active.
pub(super) fn start_next_prompt(draft: &mut DecisionDraft<'_>) -> NextStep {
    if draft.run().is_some() {
        return NextStep::Wait;
    }
    let Some(next) = draft.state().prompt_queue.front() else { return NextStep::Wait };
    let run = next.run.clone();
    if draft.state().journal.version() != draft.state().shown_journal_version {
        draft.record(Record::JournalShown {});
    }
    draft.record(Record::RunStarted { run });
    begin_run(draft)
}

/// Begins a run that has made no model call yet: hooks review its prompt first, if it has one.
pub(super) fn begin_run(draft: &mut DecisionDraft<'_>) -> NextStep {
    if draft.run().is_some_and(|run| run.only_compacts) {
        return compaction::compact_alone(draft);
    }
    if let Some(step) = refuse_unpriced_run(draft) {
        return step;
    }
    let hooked =
        draft.settings().map(|settings| settings.hooks.prompt) == Some(HookPresence::Present);
    if hooked {
        draft.request_review(Review::Prompt {})
    } else {
        NextStep::ask_model(Transition::Prompt)
    }
}

/// Refuses to start a run with a dollar cap whose model has no known price.
fn refuse_unpriced_run(draft: &mut DecisionDraft<'_>) -> Option<NextStep> {
    let settings = draft.settings()?;
    budget::lacks_required_price(draft, &settings.model).then(|| {
        let name = &settings.model.name;
        let text = format!(
            "price unknown for {name}, so a budget in dollars cannot be enforced; set its price in \
             [models.\"{name}\"] of config.toml, set unpriced = \"free\" in the profile, or use a \
             budget in tokens"
        );
        finish_run(draft, &[StopCause::PriceUnknown], Some(Arc::from(text)))
    })
}
