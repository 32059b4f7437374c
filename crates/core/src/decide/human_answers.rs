//! Handles the answers of humans: each is matched to its open question, and the first one wins.

use super::draft::DecisionDraft;
use super::finishing::finish_with_suspect_answer;
use super::next_step::NextStep;
use super::plan_mode;
use super::session_changes;
use super::stopping;
use super::tool_calls;
use crate::call::input_request::InputRequest;
use crate::call::outcome::{CallResult, SideEffects};
use crate::log::command_rejection::CommandRejection;
use crate::log::ids::{CallId, InboxMessageId, QuestionId};
use crate::log::inbox::{AfterDenial, HumanAnswer};
use crate::log::record::{Record, StopMode, Transition};
use crate::permission::{DenialSource, Grant, MAX_RULES, PermissionDecision, PermissionRule};
use crate::run::question::QuestionKind;

pub(super) fn on_answer(
    draft: &mut DecisionDraft<'_>,
    message: InboxMessageId,
    id: QuestionId,
    answer: &HumanAnswer,
) -> NextStep {
    let question = draft.run().and_then(|run| run.open_questions().find(|q| q.id == id)).cloned();
    let Some(question) = question else {
        return draft.reject_command(message, CommandRejection::QuestionNotOpen);
    };
    if question.is_expired(draft.at) {
        // The timer, which is due, decides about the call.
        return draft.reject_command(message, CommandRejection::QuestionExpired);
    }
    let kind = question.kind;
    if let Some(reason) = find_objection(draft, id, &kind, answer) {
        return draft.reject_command(message, reason);
    }
    draft.record(Record::QuestionAnswered { message });
    match kind {
        QuestionKind::Approval { call } => on_approval_answer(draft, message, call, answer),
        QuestionKind::Uncertain { call } => on_uncertain_answer(draft, message, call, answer),
        QuestionKind::ModelQuestion { call } => on_model_question_answer(draft, call, answer),
        QuestionKind::ToolRequest { call, ref request } => {
            on_tool_request_answer(draft, call, request, answer);
        }
        QuestionKind::Plan { call, .. } => on_plan_answer(draft, message, call, answer),
        QuestionKind::PromptChanged { .. } => {
            return on_prompt_change_answer(draft, message, answer);
        }
        QuestionKind::Guidance { .. } | QuestionKind::Budget { .. } => {
            return on_pause_answer(draft, message, &kind, answer);
        }
    }
    continue_or_interrupt(draft, message, answer)
}

/// Returns why the answer does not fit its question.
fn find_objection(
    draft: &DecisionDraft<'_>,
    question: QuestionId,
    kind: &QuestionKind,
    answer: &HumanAnswer,
) -> Option<CommandRejection> {
    if !kind.accepts(answer) {
        let accepted = kind.accepted_answers().to_vec();
        return Some(CommandRejection::AnswerNotAccepted { question, accepted });
    }
    if let Some(problem) = kind.find_form_problem(answer) {
        return Some(CommandRejection::FormNotFilled { question, problem });
    }
    if !matches_current_input(draft, kind, answer) {
        return Some(CommandRejection::InputChanged);
    }
    if answer.changed_input().is_some_and(|changed| changed.facts.is_none()) {
        return Some(CommandRejection::InputNotAssessed);
    }
    session_changes::find_objection(draft, answer.permission_updates())
}

/// Returns whether the approved input is the input that would run.
fn matches_current_input(
    draft: &DecisionDraft<'_>,
    kind: &QuestionKind,
    answer: &HumanAnswer,
) -> bool {
    let HumanAnswer::Allow { input_hash: Some(seen), .. } = answer else { return true };
    let call = kind.call().and_then(|call| draft.call(call));
    call.is_some_and(|call| call.tool_use.input.canonical_hash_hex() == **seen)
}

/// Continues the round, or interrupts the run if the human asked for that. The call that was denied
/// has its result already; the others get theirs as in any aborted run.
fn continue_or_interrupt(
    draft: &mut DecisionDraft<'_>,
    message: InboxMessageId,
    answer: &HumanAnswer,
) -> NextStep {
    let is_aborting = || {
        let asked = draft.run().and_then(|run| run.stop_request);
        asked.is_some_and(|asked| asked.mode >= StopMode::Abort)
    };
    match answer {
        HumanAnswer::Deny { then: AfterDenial::Interrupt, .. } if !is_aborting() => {
            stopping::request_stop(draft, message, StopMode::Abort)
        }
        HumanAnswer::Deny { .. }
        | HumanAnswer::Allow { .. }
        | HumanAnswer::Retry {}
        | HumanAnswer::MarkDone { .. }
        | HumanAnswer::Abandon {}
        | HumanAnswer::Continue {}
        | HumanAnswer::Text { .. } => NextStep::AdvanceRound,
    }
}

fn on_approval_answer(
    draft: &mut DecisionDraft<'_>,
    message: InboxMessageId,
    call: CallId,
    answer: &HumanAnswer,
) {
    if let HumanAnswer::Deny { reason, .. } = answer {
        let verdict = PermissionDecision::deny(DenialSource::Human, reason);
        draft.record(Record::PermissionDecided { call, verdict });
        draft.finalize_denied(call, reason);
        return;
    }
    if let HumanAnswer::Allow { rule: Some(rule), .. } = answer {
        grant_rule(draft, call, rule);
    }
    session_changes::record_updates(draft, message, Some(call), answer.permission_updates());
    if answer.changed_input().is_some() {
        draft.record(Record::CallInputChanged { call, message: Some(message) });
    }
    tool_calls::accept_approval(draft, call);
}

/// Handles the answer to a plan; what changes about the permissions holds after the approval.
fn on_plan_answer(
    draft: &mut DecisionDraft<'_>,
    message: InboxMessageId,
    call: CallId,
    answer: &HumanAnswer,
) {
    plan_mode::on_plan_answer(draft, call, answer);
    session_changes::record_updates(draft, message, Some(call), answer.permission_updates());
}

/// Records a granted rule, once.
fn grant_rule(draft: &mut DecisionDraft<'_>, call: CallId, rule: &PermissionRule) {
    let Some(call) = draft.call(call) else { return };
    let grant = Grant::for_call(rule.clone(), &call.facts.subject);
    let grants = &draft.state().grants;
    if !grants.contains(&grant) && grants.len() < MAX_RULES {
        let Grant { rule, folder } = grant;
        draft.record(Record::RuleGranted { rule, folder });
    }
}

/// Handles the answer of a human who was asked how a run in a loop, or with an exhausted budget,
/// continues.
fn on_pause_answer(
    draft: &mut DecisionDraft<'_>,
    message: InboxMessageId,
    kind: &QuestionKind,
    answer: &HumanAnswer,
) -> NextStep {
    if *answer == (HumanAnswer::Abandon {}) {
        if let QuestionKind::Guidance { suspect_answer: Some(kept), .. } = kind {
            return finish_with_suspect_answer(draft, kept);
        }
        return stopping::request_stop(draft, message, StopMode::Cancel);
    }
    match kind {
        QuestionKind::Budget { .. } => draft.record(Record::BudgetExtended {}),
        QuestionKind::Guidance { .. }
        | QuestionKind::PromptChanged { .. }
        | QuestionKind::Approval { .. }
        | QuestionKind::Uncertain { .. }
        | QuestionKind::ModelQuestion { .. }
        | QuestionKind::ToolRequest { .. }
        | QuestionKind::Plan { .. } => draft.record(Record::GuidanceGiven { message }),
    }
    NextStep::ask_model(Transition::Guidance)
}

fn on_uncertain_answer(
    draft: &mut DecisionDraft<'_>,
    message: InboxMessageId,
    call: CallId,
    answer: &HumanAnswer,
) {
    let limit = draft.result_char_limit();
    match answer {
        HumanAnswer::Retry {} => tool_calls::repeat_call(draft, call),
        // To run it again with other arguments needs what an approval needs.
        HumanAnswer::Allow { changed_input: Some(_), .. } => {
            on_approval_answer(draft, message, call, answer);
        }
        HumanAnswer::MarkDone { text } => {
            draft.finalize_result(call, CallResult::from_human(text, limit));
        }
        HumanAnswer::Abandon {}
        | HumanAnswer::Allow { .. }
        | HumanAnswer::Deny { .. }
        | HumanAnswer::Continue {}
        | HumanAnswer::Text { .. } => {
            draft.finalize_result(call, CallResult::from_lost_call(SideEffects::Unknown));
        }
    }
}

fn on_model_question_answer(draft: &mut DecisionDraft<'_>, call: CallId, answer: &HumanAnswer) {
    let limit = draft.result_char_limit();
    let result = match answer {
        HumanAnswer::Text { text } => CallResult::from_human(text, limit),
        HumanAnswer::Deny { reason, .. } => CallResult::from_denial(reason),
        HumanAnswer::Allow { .. }
        | HumanAnswer::Retry {}
        | HumanAnswer::MarkDone { .. }
        | HumanAnswer::Abandon {}
        | HumanAnswer::Continue {} => return,
    };
    draft.finalize_result(call, result);
}

/// Handles the answer to a tool that asks in the middle of a call: the call is started again with
/// it. The question says so, which is the consent that a once-only call needs.
fn on_tool_request_answer(
    draft: &mut DecisionDraft<'_>,
    call: CallId,
    request: &InputRequest,
    answer: &HumanAnswer,
) {
    if matches!(answer, HumanAnswer::Deny { then: AfterDenial::Interrupt, .. }) {
        let reach = tool_calls::side_effects_of(draft, call);
        return draft.finalize_result(call, CallResult::from_unanswered_request(request, reach));
    }
    tool_calls::repeat_call(draft, call);
}

fn on_prompt_change_answer(
    draft: &mut DecisionDraft<'_>,
    message: InboxMessageId,
    answer: &HumanAnswer,
) -> NextStep {
    if *answer == (HumanAnswer::Continue {}) {
        draft.record(Record::PromptChangeAccepted {});
        NextStep::Wait
    } else {
        stopping::request_stop(draft, message, StopMode::Cancel)
    }
}
