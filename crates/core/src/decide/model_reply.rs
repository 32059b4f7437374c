//! Handles a model reply: applies the stop table, the truncation ladder and the limits.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::compaction;
use super::draft::DecisionDraft;
use super::finishing::{finish_run, finish_with_answer, finish_without_result};
use super::guardrail;
use super::next_step::{AskKind, NextStep};
use super::stop_conditions;
use super::structured_answer;
use crate::guard::loop_detection::EscalationLevel;
use crate::log::ids::ModelCallId;
use crate::log::record::{OutputBound, Record, RejectionSource, Transition, Truncation};
use crate::message::prompt_texts;
use crate::message::reply::{ModelReply, StopReason};
use crate::run::active_run::{PendingModelCall, Run};
use crate::stop::{self, ReplyAction, ReplyAnomaly, StopCause};

pub(super) fn on_model_replied(
    draft: &mut DecisionDraft<'_>,
    id: ModelCallId,
    reply: &Arc<ModelReply>,
) -> NextStep {
    let (Some(asking), Some(settings)) =
        (draft.run().and_then(Run::pending_model_call), draft.settings())
    else {
        return NextStep::Wait;
    };
    if asking.model_call != id {
        return NextStep::Wait;
    }
    let asking = asking.clone();
    let (next, anomaly) = stop::read_stop_reason(reply, &settings.stop_map);
    let (truncation, decision) = (truncation_of(reply), next.recorded_decision());
    draft.record(Record::ModelReplied { model_call: id, truncation, decision });
    if let Some(what) = anomaly {
        draft.record(Record::AnomalyDetected { what });
    }
    if asking.transition == Transition::WrapUp {
        return finish_wrap_up(draft);
    }
    follow_action(draft, next, &asking, reply)
}

/// Finishes a run after its wrap-up turn: whatever the reply says is the result.
fn finish_wrap_up(draft: &mut DecisionDraft<'_>) -> NextStep {
    draft.record(Record::ReplyKept {});
    finish_with_answer(draft, StopCause::SoftTime)
}

fn truncation_of(reply: &ModelReply) -> Truncation {
    match (&reply.stop_reason, &reply.truncated_block) {
        (StopReason::MaxTokens, _) | (_, Some(_)) => Truncation::Truncated,
        (_, None) => Truncation::Complete,
    }
}

fn follow_action(
    draft: &mut DecisionDraft<'_>,
    next: ReplyAction,
    asking: &PendingModelCall,
    reply: &ModelReply,
) -> NextStep {
    match next {
        ReplyAction::Finish => keep_and_complete(draft, StopCause::EndTurn),
        ReplyAction::FinishOnStopString => keep_and_complete(draft, StopCause::StopSequence),
        ReplyAction::FinishUnexpected => keep_and_complete(draft, StopCause::Unexpected),
        ReplyAction::Refuse => finish_refused(draft),
        ReplyAction::RunTools => open_round(draft, reply, None),
        ReplyAction::RunToolsAndReissue => {
            open_round(draft, reply, Some(prompt_texts::REISSUE_TOOL_USE))
        }
        ReplyAction::ReissueToolUse => recover_truncation(
            draft,
            asking,
            prompt_texts::REISSUE_TOOL_USE,
            Transition::ReissueToolUse,
        ),
        ReplyAction::ContinueText => {
            recover_truncation(draft, asking, prompt_texts::CONTINUE_TEXT, Transition::ContinueText)
        }
        ReplyAction::Compact => {
            make_room_and_continue(draft, prompt_texts::CONTINUE_TEXT, StopCause::BlockingLimit)
        }
        ReplyAction::Reprompt(reason) => on_roleplay_drift(draft, reason),
        ReplyAction::Resume => {
            draft.record(Record::ReplyKept {});
            NextStep::ask_model(Transition::Resume)
        }
        ReplyAction::Continue => {
            keep_and_ask(draft, prompt_texts::CONTINUE_TEXT, Transition::ContinueText)
        }
    }
}

fn keep_and_complete(draft: &mut DecisionDraft<'_>, cause: StopCause) -> NextStep {
    draft.record(Record::ReplyKept {});
    NextStep::CompleteAnswer(cause)
}

fn finish_refused(draft: &mut DecisionDraft<'_>) -> NextStep {
    draft.record(Record::ReplyDropped { why: None });
    let causes = stop_conditions::with_other_causes(draft, StopCause::Refusal);
    finish_run(draft, &causes, Some(Arc::from(prompt_texts::REFUSAL)))
}

fn open_round(draft: &mut DecisionDraft<'_>, reply: &ModelReply, note: Option<&str>) -> NextStep {
    draft.check_time_limits();
    let mut causes = stop_conditions::tool_stop_causes(draft);
    if structured_answer::gives_structured_answer(draft, reply) {
        // A finished answer is never lost.
        causes.retain(|cause| matches!(cause, StopCause::UserCancel | StopCause::HardTime));
    }
    if !causes.is_empty() {
        draft.record(Record::ReplyKept {});
        return finish_without_result(draft, &causes);
    }
    if draft.is_wrapping_up() {
        // The text of the reply is kept; its calls are for another run.
        draft.record(Record::ReplyKept {});
        return NextStep::ask_model(Transition::ToolResults);
    }
    let (dropped, names) = repeated_calls(reply);
    if !dropped.is_empty() {
        draft.record(Record::AnomalyDetected { what: ReplyAnomaly::RepeatedCallId });
    }
    let repeated = (!names.is_empty()).then(|| repeated_ids_note(&names));
    let note = join_notes(note, repeated.as_deref());
    draft.record(Record::RoundOpened { dropped, note });
    NextStep::AdvanceRound
}

/// Returns the note for a reply with calls whose ids were already used in it.
fn repeated_ids_note(names: &[Arc<str>]) -> Arc<str> {
    let names = names.join(", ");
    Arc::from(format!("tool calls that reused an id of the same reply were not run: {names}"))
}

fn join_notes(a: Option<&str>, b: Option<&str>) -> Option<Arc<str>> {
    let both: Vec<&str> = a.into_iter().chain(b).collect();
    (!both.is_empty()).then(|| Arc::from(both.join("\n")))
}

/// Returns the calls whose id is already used in the reply: their results could not be told apart.
fn repeated_calls(reply: &ModelReply) -> (Vec<u16>, Vec<Arc<str>>) {
    let mut seen = BTreeSet::new();
    let again =
        |(_, call): &(u16, &crate::message::content_block::ToolUse)| !seen.insert(call.id.clone());
    reply.tool_uses().filter(again).map(|(index, call)| (index, call.name.clone())).unzip()
}

/// The truncation ladder: a larger output cap, then a request to continue, then compaction, then
/// the end of the run.
fn recover_truncation(
    draft: &mut DecisionDraft<'_>,
    asking: &PendingModelCall,
    sentence: &str,
    transition: Transition,
) -> NextStep {
    let (Some(run), Some(settings)) = (draft.run(), draft.settings()) else {
        return NextStep::Wait;
    };
    let cuts = run.counters.truncations;
    let limit = settings.model.max_output_tokens;
    let cap = match asking.bound {
        OutputBound::Cap => None,
        OutputBound::Budget => Some(StopCause::BudgetTokens),
        OutputBound::Money => Some(StopCause::BudgetUsd),
    };
    if let Some(cap) = cap {
        draft.record(Record::ReplyDropped { why: None });
        finish_without_result(draft, &[cap])
    } else if cuts <= 1 && asking.max_tokens < limit {
        draft.record(Record::ReplyDropped { why: None });
        NextStep::ask_model_as(Transition::RaiseCap, AskKind::WithCap(limit))
    } else if cuts <= settings.limits.truncations {
        keep_and_ask(draft, sentence, transition)
    } else if cuts <= settings.limits.truncations.saturating_add(1) {
        make_room_and_continue(draft, sentence, StopCause::TruncationExhausted)
    } else {
        draft.record(Record::ReplyKept {});
        finish_without_result(draft, &[StopCause::TruncationExhausted])
    }
}

fn keep_and_ask(draft: &mut DecisionDraft<'_>, sentence: &str, transition: Transition) -> NextStep {
    draft.record(Record::ReplyKept {});
    draft.add_note(sentence);
    NextStep::ask_model(transition)
}

fn make_room_and_continue(
    draft: &mut DecisionDraft<'_>,
    sentence: &str,
    otherwise: StopCause,
) -> NextStep {
    draft.record(Record::ReplyKept {});
    if !draft.is_stopping() && compaction::can_compact_reactively(draft) {
        draft.add_note(sentence);
        compaction::compact_or_finish(draft, Transition::Compacted, otherwise)
    } else {
        finish_without_result(draft, &[otherwise])
    }
}

/// Handles roleplay drift: the output is dropped and requested again, a bounded number of times;
/// then a human is asked. If none is available the run ends.
fn on_roleplay_drift(draft: &mut DecisionDraft<'_>, reason: Arc<str>) -> NextStep {
    draft.record(Record::ReplyDropped { why: Some(reason.clone()) });
    let by = RejectionSource::Drift;
    match guardrail::next_level(draft, by) {
        EscalationLevel::Human if !draft.is_human_available() || draft.is_stopping() => {
            finish_without_result(draft, &[StopCause::Unexpected])
        }
        EscalationLevel::Human => {
            guardrail::record_rejection(draft, by, &reason, EscalationLevel::Human);
            guardrail::escalate_to_human(draft, by, &reason)
        }
        level @ (EscalationLevel::Calm | EscalationLevel::Nudge | EscalationLevel::Directive) => {
            guardrail::record_rejection(draft, by, &reason, level);
            NextStep::ask_model(Transition::Reprompt)
        }
    }
}
