//! Handles commands from the inbox: prompts are queued and never replace one another, steering
//! messages wait for the end of the round, answers are matched to their question, cancels to their
//! run. Every command leaves a record, also those that change nothing.

use std::sync::Arc;

use super::children;
use super::compaction;
use super::draft::DecisionDraft;
use super::finishing::finish_with_suspect_answer;
use super::next_step::NextStep;
use super::plan_mode;
use super::stopping;
use crate::call::outcome::{CallResult, SideEffects};
use crate::log::command_rejection::CommandRejection;
use crate::log::ids::{CallId, InboxMessageId, QuestionId, RunId};
use crate::log::inbox::{HumanAnswer, InboxCommand, InboxMessage};
use crate::log::record::{Record, StopMode, Transition};
use crate::message::content_block::ContentBlock;
use crate::message::transcript::Transcript;
use crate::permission::{DenialSource, Grant, MAX_RULES, PermissionDecision, PermissionRule};
use crate::run::child_runs::{ChildResult, ChildTask};
use crate::run::question::QuestionKind;
use crate::stop::StopCause;

/// Handles one command. `later` are the commands that were received with it.
pub(super) fn on_command(
    draft: &mut DecisionDraft<'_>,
    message: &InboxMessage,
    later: &[InboxMessage],
) -> NextStep {
    if draft.settings().is_none() {
        return NextStep::Wait;
    }
    if let InboxCommand::Prompt { run, .. } = &message.body
        && would_start_at_once(draft)
        && is_cancelled(run, later)
        && !is_known_run(draft, run)
    {
        return cancel_unstarted_prompt(draft, message.id, run);
    }
    if let InboxCommand::Answer { question, .. } = &message.body
        && is_open_approval(draft, *question)
        && is_active_run_cancelled(draft, later)
    {
        // Otherwise the call would start before the cancel is handled.
        return reject_command(draft, message.id, CommandRejection::RunCancelled);
    }
    dispatch_command(draft, message)
}

/// Returns whether a prompt would start without waiting: a cancel finds a waiting prompt in the
/// queue.
fn would_start_at_once(draft: &DecisionDraft<'_>) -> bool {
    draft.run().is_none() && draft.state().prompt_queue.is_empty()
}

/// Returns whether a later command of the same batch cancels the run of this prompt.
fn is_cancelled(run: &RunId, later: &[InboxMessage]) -> bool {
    later.iter().any(|message| {
        matches!(
            &message.body,
            InboxCommand::Cancel { run: Some(target) } | InboxCommand::Abort { run: Some(target) }
                if target == run
        )
    })
}

fn is_open_approval(draft: &DecisionDraft<'_>, id: QuestionId) -> bool {
    let question = draft.run().and_then(|run| run.open_questions().find(|q| q.id == id));
    question.is_some_and(|question| matches!(question.kind, QuestionKind::Approval { .. }))
}

/// Returns whether a later command of the same batch cancels the active run.
fn is_active_run_cancelled(draft: &DecisionDraft<'_>, later: &[InboxMessage]) -> bool {
    let current = |message: &InboxMessage| {
        matches!(
            message.body,
            InboxCommand::Cancel { run: None } | InboxCommand::Abort { run: None }
        )
    };
    draft.run().is_some_and(|run| is_cancelled(&run.id, later)) || later.iter().any(current)
}

/// Ends a prompt that is cancelled in the same batch without starting it: no model call is made.
fn cancel_unstarted_prompt(
    draft: &mut DecisionDraft<'_>,
    message: InboxMessageId,
    run: &RunId,
) -> NextStep {
    draft.record(Record::PromptQueued { message });
    finish_unstarted_run(draft, run)
}

/// Finishes a run that never started.
fn finish_unstarted_run(draft: &mut DecisionDraft<'_>, run: &RunId) -> NextStep {
    draft.record(Record::RunFinished {
        run: run.clone(),
        cause: StopCause::UserCancel,
        other_causes: Vec::new(),
        text_override: Some(Arc::from("")),
    });
    NextStep::Wait
}

fn dispatch_command(draft: &mut DecisionDraft<'_>, message: &InboxMessage) -> NextStep {
    match &message.body {
        InboxCommand::Prompt { run, blocks, .. } => on_prompt(draft, message.id, run, blocks),
        InboxCommand::Steer { run, blocks } => on_steer(draft, message.id, run, blocks),
        InboxCommand::Answer { question, answer } => {
            on_answer(draft, message.id, *question, answer)
        }
        InboxCommand::Cancel { run } => on_stop(draft, message.id, run.as_ref(), StopMode::Cancel),
        InboxCommand::Abort { run } => on_stop(draft, message.id, run.as_ref(), StopMode::Abort),
        InboxCommand::ChildFinished { result, .. } => {
            on_child_finished(draft, message.id, result.as_ref())
        }
        InboxCommand::Task { run, task, .. } => on_child_task(draft, message.id, run, task),
        InboxCommand::Compact { .. } => on_compact(draft, message.id),
        InboxCommand::Memory { text } => on_memory(draft, message.id, text),
    }
}

fn reject_command(
    draft: &mut DecisionDraft<'_>,
    message: InboxMessageId,
    reason: CommandRejection,
) -> NextStep {
    draft.record(Record::CommandRejected { message, reason });
    NextStep::Wait
}

fn on_prompt(
    draft: &mut DecisionDraft<'_>,
    message: InboxMessageId,
    run: &RunId,
    blocks: &[ContentBlock],
) -> NextStep {
    let limits = draft.limits();
    if !has_content(blocks) {
        reject_command(draft, message, CommandRejection::EmptyPrompt)
    } else if is_known_run(draft, run) {
        reject_command(draft, message, CommandRejection::RunIdInUse)
    } else if draft.state().prompt_queue.len() >= limits.queued_prompts as usize {
        reject_command(draft, message, CommandRejection::TooManyPrompts)
    } else {
        draft.record(Record::PromptQueued { message });
        NextStep::StartNextPrompt
    }
}

fn has_content(blocks: &[ContentBlock]) -> bool {
    let mut probe = Transcript::default();
    probe.push_prompt(blocks);
    probe.can_be_sent()
}

fn is_known_run(draft: &DecisionDraft<'_>, run: &RunId) -> bool {
    let now = draft.state();
    now.run.as_ref().is_some_and(|active| active.id == *run)
        || now.last_run_end.as_ref().is_some_and(|ended| ended.run == *run)
        || now.prompt_queue.iter().any(|queued| queued.run == *run)
}

fn on_steer(
    draft: &mut DecisionDraft<'_>,
    message: InboxMessageId,
    run: &RunId,
    blocks: &[ContentBlock],
) -> NextStep {
    let waiting = draft.run().map(|run| run.steers.len());
    match waiting {
        Some(waiting) if !draft.is_stopping() && has_content(blocks) => {
            if waiting < draft.limits().waiting_steers as usize {
                draft.record(Record::SteeringQueued { message });
                NextStep::Wait
            } else {
                reject_command(draft, message, CommandRejection::TooManySteers)
            }
        }
        Some(_) | None => on_prompt(draft, message, run, blocks),
    }
}

fn on_child_finished(
    draft: &mut DecisionDraft<'_>,
    message: InboxMessageId,
    result: Option<&ChildResult>,
) -> NextStep {
    let heard = match result {
        Some(result) => children::on_child_result(draft, message, result),
        None if draft.run().is_some() && !draft.is_stopping() => {
            draft.record(Record::SteeringQueued { message });
            Some(NextStep::Wait)
        }
        None => None,
    };
    heard.unwrap_or_else(|| reject_command(draft, message, CommandRejection::ChildNotAwaited))
}

/// Starts the one run of a child.
fn on_child_task(
    draft: &mut DecisionDraft<'_>,
    message: InboxMessageId,
    run: &RunId,
    task: &ChildTask,
) -> NextStep {
    if task.prompt.trim().is_empty() {
        reject_command(draft, message, CommandRejection::EmptyTask)
    } else if is_known_run(draft, run) || draft.state().parent.is_some() {
        reject_command(draft, message, CommandRejection::TaskAlreadyAssigned)
    } else {
        draft.record(Record::ParentAssigned { message });
        draft.record(Record::PromptQueued { message });
        NextStep::StartNextPrompt
    }
}

fn on_memory(draft: &mut DecisionDraft<'_>, message: InboxMessageId, text: &str) -> NextStep {
    let waiting = draft.run().map_or(0, |run| run.memories.len());
    if text.trim().is_empty() {
        reject_command(draft, message, CommandRejection::EmptyInstructions)
    } else if waiting >= draft.limits().waiting_steers as usize {
        reject_command(draft, message, CommandRejection::TooManyInstructions)
    } else {
        draft.record(Record::InstructionsAdded { message });
        NextStep::Wait
    }
}

fn on_compact(draft: &mut DecisionDraft<'_>, message: InboxMessageId) -> NextStep {
    if compaction::has_compactable_history(draft) {
        draft.record(Record::CompactionRequested { message });
        NextStep::Wait
    } else {
        reject_command(draft, message, CommandRejection::NothingToCompact)
    }
}

fn on_stop(
    draft: &mut DecisionDraft<'_>,
    message: InboxMessageId,
    target: Option<&RunId>,
    mode: StopMode,
) -> NextStep {
    let active = draft.run().map(|run| (run.id.clone(), run.stop_request));
    match (active, target) {
        (Some((active, asked)), target) if target.is_none_or(|target| *target == active) => {
            if asked.is_some_and(|asked| asked.mode >= mode) {
                reject_command(draft, message, CommandRejection::AlreadyStopping)
            } else {
                request_stop(draft, message, mode)
            }
        }
        (_, Some(target))
            if draft.state().prompt_queue.iter().any(|queued| queued.run == *target) =>
        {
            finish_unstarted_run(draft, target)
        }
        (Some(_) | None, _) => reject_command(draft, message, CommandRejection::NoSuchRun),
    }
}

/// Records that a stop was requested, and does what can be done at once.
fn request_stop(
    draft: &mut DecisionDraft<'_>,
    message: InboxMessageId,
    mode: StopMode,
) -> NextStep {
    draft.record(Record::CancelRequested { message, mode });
    stopping::on_stop_requested(draft, mode)
}

fn on_answer(
    draft: &mut DecisionDraft<'_>,
    message: InboxMessageId,
    id: QuestionId,
    answer: &HumanAnswer,
) -> NextStep {
    let question = draft.run().and_then(|run| run.open_questions().find(|q| q.id == id)).cloned();
    let Some(question) = question else {
        return reject_command(draft, message, CommandRejection::QuestionNotOpen);
    };
    if question.is_expired(draft.at) {
        // The timer, which is due, decides about the call.
        return reject_command(draft, message, CommandRejection::QuestionExpired);
    }
    let kind = question.kind;
    if !kind.accepts(answer) {
        let accepted = kind.accepted_answers().to_vec();
        let reason = CommandRejection::AnswerNotAccepted { question: id, accepted };
        return reject_command(draft, message, reason);
    }
    if !matches_current_input(draft, &kind, answer) {
        return reject_command(draft, message, CommandRejection::InputChanged);
    }
    draft.record(Record::QuestionAnswered { message });
    match kind {
        QuestionKind::Approval { call } => on_approval_answer(draft, call, answer),
        QuestionKind::Uncertain { call } => on_uncertain_answer(draft, call, answer),
        QuestionKind::ModelQuestion { call } => on_model_question_answer(draft, call, answer),
        QuestionKind::Plan { call, .. } => plan_mode::on_plan_answer(draft, call, answer),
        QuestionKind::PromptChanged { .. } => {
            return on_prompt_change_answer(draft, message, answer);
        }
        QuestionKind::Guidance { .. } | QuestionKind::Budget { .. } => {
            return on_pause_answer(draft, message, &kind, answer);
        }
    }
    NextStep::AdvanceRound
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

fn on_approval_answer(draft: &mut DecisionDraft<'_>, call: CallId, answer: &HumanAnswer) {
    if let HumanAnswer::Deny { reason } = answer {
        let verdict = PermissionDecision::deny(DenialSource::Human, reason);
        draft.record(Record::PermissionDecided { call, verdict });
        draft.finalize_result(call, CallResult::from_denial(reason));
    } else {
        if let HumanAnswer::Allow { rule: Some(rule), .. } = answer {
            grant_rule(draft, call, rule);
        }
        let verdict = PermissionDecision::Allow { by: Arc::from("human") };
        draft.record(Record::PermissionDecided { call, verdict });
    }
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
        return request_stop(draft, message, StopMode::Cancel);
    }
    match kind {
        QuestionKind::Budget { .. } => draft.record(Record::BudgetExtended {}),
        QuestionKind::Guidance { .. }
        | QuestionKind::PromptChanged { .. }
        | QuestionKind::Approval { .. }
        | QuestionKind::Uncertain { .. }
        | QuestionKind::ModelQuestion { .. }
        | QuestionKind::Plan { .. } => draft.record(Record::GuidanceGiven { message }),
    }
    NextStep::ask_model(Transition::Guidance)
}

fn on_uncertain_answer(draft: &mut DecisionDraft<'_>, call: CallId, answer: &HumanAnswer) {
    let limit = draft.result_char_limit();
    match answer {
        HumanAnswer::Retry {} => draft.record(Record::CallRequeued { call }),
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
        HumanAnswer::Deny { reason } => CallResult::from_denial(reason),
        HumanAnswer::Allow { .. }
        | HumanAnswer::Retry {}
        | HumanAnswer::MarkDone { .. }
        | HumanAnswer::Abandon {}
        | HumanAnswer::Continue {} => return,
    };
    draft.finalize_result(call, result);
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
        request_stop(draft, message, StopMode::Cancel)
    }
}
