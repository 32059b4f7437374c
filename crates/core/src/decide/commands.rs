//! Handles commands from the inbox: prompts are queued and never replace one another, steering
//! messages wait for the end of the round, cancels are matched to their run. Every command leaves a record, also those that change nothing.

use std::sync::Arc;

use super::children;
use super::compaction;
use super::draft::DecisionDraft;
use super::human_answers;
use super::next_step::NextStep;
use super::session_changes;
use super::stopping;
use crate::log::command_rejection::CommandRejection;
use crate::log::ids::{InboxMessageId, QuestionId, RunId};
use crate::log::inbox::{InboxCommand, InboxMessage};
use crate::log::record::{Record, StopMode};
use crate::message::content_block::ContentBlock;
use crate::message::transcript::Transcript;
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
        return draft.reject_command(message.id, CommandRejection::RunCancelled);
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
            InboxCommand::Cancel { run: Some(target) } | InboxCommand::Abort { run: Some(target), .. }
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
            InboxCommand::Cancel { run: None } | InboxCommand::Abort { run: None, .. }
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
        InboxCommand::Answer { question, answer, .. } => {
            human_answers::on_answer(draft, message.id, *question, answer)
        }
        InboxCommand::Cancel { run } => on_stop(draft, message.id, run.as_ref(), StopMode::Cancel),
        InboxCommand::Abort { run, .. } => {
            on_stop(draft, message.id, run.as_ref(), StopMode::Abort)
        }
        InboxCommand::ChildFinished { result, .. } => {
            on_child_finished(draft, message.id, result.as_ref())
        }
        InboxCommand::Task { run, task, .. } => on_child_task(draft, message.id, run, task),
        InboxCommand::Compact { run: Some(run), .. } => on_compaction_run(draft, message.id, run),
        InboxCommand::Compact { run: None, .. } => on_compact(draft, message.id),
        InboxCommand::Memory { text } => on_memory(draft, message.id, text),
        InboxCommand::UpdatePermissions { updates } => {
            session_changes::on_permission_updates(draft, message.id, updates)
        }
        InboxCommand::SetModel { change } => {
            session_changes::on_set_model(draft, message.id, change)
        }
        InboxCommand::ReplaceHistory { messages, .. } => {
            session_changes::on_replace_history(draft, message.id, messages)
        }
    }
}

fn on_prompt(
    draft: &mut DecisionDraft<'_>,
    message: InboxMessageId,
    run: &RunId,
    blocks: &[ContentBlock],
) -> NextStep {
    if has_content(blocks) {
        queue_run(draft, message, run)
    } else {
        draft.reject_command(message, CommandRejection::EmptyPrompt)
    }
}

/// Queues a run, and starts it if no other one is active.
fn queue_run(draft: &mut DecisionDraft<'_>, message: InboxMessageId, run: &RunId) -> NextStep {
    let limits = draft.limits();
    if is_known_run(draft, run) {
        draft.reject_command(message, CommandRejection::RunIdInUse)
    } else if draft.state().prompt_queue.len() >= limits.queued_prompts as usize {
        draft.reject_command(message, CommandRejection::TooManyPrompts)
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
        Some(waiting) if draft.takes_steers() && has_content(blocks) => {
            if waiting < draft.limits().waiting_steers as usize {
                draft.record(Record::SteeringQueued { message });
                NextStep::Wait
            } else {
                draft.reject_command(message, CommandRejection::TooManySteers)
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
    heard.unwrap_or_else(|| draft.reject_command(message, CommandRejection::ChildNotAwaited))
}

/// Starts the one run of a child.
fn on_child_task(
    draft: &mut DecisionDraft<'_>,
    message: InboxMessageId,
    run: &RunId,
    task: &ChildTask,
) -> NextStep {
    if task.prompt.trim().is_empty() {
        draft.reject_command(message, CommandRejection::EmptyTask)
    } else if is_known_run(draft, run) || draft.state().parent.is_some() {
        draft.reject_command(message, CommandRejection::TaskAlreadyAssigned)
    } else {
        draft.record(Record::ParentAssigned { message });
        draft.record(Record::PromptQueued { message });
        NextStep::StartNextPrompt
    }
}

fn on_memory(draft: &mut DecisionDraft<'_>, message: InboxMessageId, text: &str) -> NextStep {
    let waiting = draft.run().map_or(0, |run| run.memories.len());
    if text.trim().is_empty() {
        draft.reject_command(message, CommandRejection::EmptyInstructions)
    } else if waiting >= draft.limits().waiting_steers as usize {
        draft.reject_command(message, CommandRejection::TooManyInstructions)
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
        draft.reject_command(message, CommandRejection::NothingToCompact)
    }
}

/// Queues a run that compacts the context and does nothing else.
fn on_compaction_run(
    draft: &mut DecisionDraft<'_>,
    message: InboxMessageId,
    run: &RunId,
) -> NextStep {
    if would_start_at_once(draft) && !compaction::can_compact_alone(draft) {
        draft.reject_command(message, CommandRejection::NothingToCompact)
    } else {
        queue_run(draft, message, run)
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
                draft.reject_command(message, CommandRejection::AlreadyStopping)
            } else {
                stopping::request_stop(draft, message, mode)
            }
        }
        (_, Some(target))
            if draft.state().prompt_queue.iter().any(|queued| queued.run == *target) =>
        {
            finish_unstarted_run(draft, target)
        }
        (Some(_) | None, _) => draft.reject_command(message, CommandRejection::NoSuchRun),
    }
}
