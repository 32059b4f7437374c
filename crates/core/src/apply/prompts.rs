//! Applies prompts, steering messages, instructions, and the start and end of runs.

use std::sync::Arc;

use super::compaction::clear_compaction_request;
use super::{with_overrides, with_run};
use crate::budget::spending::Spending;
use crate::log::ids::{InboxMessageId, RunId};
use crate::log::inbox::InboxCommand;
use crate::log::input::Input;
use crate::message::content_block::ContentBlock;
use crate::message::prompt_texts;
use crate::message::reply::TokenUsage;
use crate::permission::{Grant, MAX_RULES};
use crate::run::active_run::{Run, StopPoint};
use crate::run::child_runs::{notification_run_id, sub_agent_id};
use crate::run::conversation::{
    CompactionRequest, Conversation, QueuedPrompt, RequestedCompaction, RunEnd,
};
use crate::settings::run_settings::RunSettings;
use crate::stop::StopCause;

pub(super) fn command_of(input: &Input, id: InboxMessageId) -> Option<&InboxCommand> {
    let Input::CommandsReceived { messages } = input else { return None };
    messages.iter().find(|message| message.id == id).map(|message| &message.body)
}

pub(super) fn apply_prompt_queued(c: &mut Conversation, input: &Input, id: InboxMessageId) {
    let prompt = match command_of(input, id) {
        Some(InboxCommand::Prompt { run, blocks, settings }) => {
            let (run, settings) = (run.clone(), settings.clone());
            QueuedPrompt { settings, ..QueuedPrompt::new(run, Arc::from(blocks.as_slice())) }
        }
        Some(InboxCommand::Steer { run, blocks }) => {
            QueuedPrompt::new(run.clone(), Arc::from(blocks.as_slice()))
        }
        Some(InboxCommand::Task { run, task, .. }) => {
            let blocks = Arc::from([ContentBlock::text(&task.prompt)]);
            QueuedPrompt::new(run.clone(), blocks)
        }
        Some(InboxCommand::ChildFinished { child, text, result: Some(result) }) => {
            let run = notification_run_id(child);
            let text = prompt_texts::background_result(&sub_agent_id(child), result.ending, text);
            QueuedPrompt::new(run, Arc::from([ContentBlock::text(&text)]))
        }
        Some(InboxCommand::Compact { instructions, run: Some(run) }) => {
            let compaction = Some(RequestedCompaction { instructions: instructions.clone() });
            QueuedPrompt { compaction, ..QueuedPrompt::new(run.clone(), Arc::from([])) }
        }
        Some(
            InboxCommand::Answer { .. }
            | InboxCommand::Cancel { .. }
            | InboxCommand::Abort { .. }
            | InboxCommand::ChildFinished { .. }
            | InboxCommand::Compact { .. }
            | InboxCommand::Memory { .. }
            | InboxCommand::UpdatePermissions { .. }
            | InboxCommand::SetModel { .. }
            | InboxCommand::ReplaceHistory { .. },
        )
        | None => return,
    };
    c.prompt_queue.push_back(prompt);
}

pub(super) fn apply_steering_queued(c: &mut Conversation, input: &Input, id: InboxMessageId) {
    let blocks: Arc<[ContentBlock]> = match command_of(input, id) {
        Some(InboxCommand::Steer { blocks, .. }) => Arc::from(blocks.as_slice()),
        Some(InboxCommand::ChildFinished { text, .. }) => Arc::from([ContentBlock::text(text)]),
        Some(
            InboxCommand::Prompt { .. }
            | InboxCommand::Task { .. }
            | InboxCommand::Answer { .. }
            | InboxCommand::Cancel { .. }
            | InboxCommand::Abort { .. }
            | InboxCommand::Compact { .. }
            | InboxCommand::Memory { .. }
            | InboxCommand::UpdatePermissions { .. }
            | InboxCommand::SetModel { .. }
            | InboxCommand::ReplaceHistory { .. },
        )
        | None => return,
    };
    with_run(c, |run| run.steers.push(blocks));
}

pub(super) fn apply_run_started(c: &mut Conversation, id: &RunId) {
    let prompt = c.prompt_queue.pop_front();
    choose_run_settings(c, prompt.as_ref().and_then(|prompt| prompt.settings.clone()));
    let cap = c.settings.as_ref().map_or(0, |settings| settings.model.max_tokens);
    let mut run = Run::new(id.clone(), cap);
    match prompt {
        Some(QueuedPrompt { compaction: Some(requested), .. }) => {
            run.only_compacts = true;
            run.user_message_count = 0;
            c.compaction_request = CompactionRequest::Requested;
            c.compaction_instructions = requested.instructions;
        }
        prompt => {
            show_user_context(c);
            if let Some(prompt) = prompt {
                c.transcript.push_prompt(&prompt.blocks);
            }
        }
    }
    c.run = Some(run);
    refresh_digest(c);
}

/// Chooses the settings of a run: those of its owner and those of its prompt, with what changed for
/// the rest of the conversation. Nothing else of the run before it remains.
fn choose_run_settings(c: &mut Conversation, own: Option<Arc<RunSettings>>) {
    let Some(owner) = c.owner_settings.clone() else { return };
    let settings =
        own.as_ref().map_or_else(|| owner.clone(), |own| Arc::new(own.apply_over(&owner)));
    c.run_settings = own;
    let settings = with_overrides(c, settings);
    if c.settings.as_ref() != Some(&settings) {
        c.settings = Some(settings);
    }
    if c.run_owner.as_ref() != Some(&owner) {
        c.prompt_hash = Some(owner.prompt_hash());
        c.run_owner = Some(owner);
    }
}

/// Adds the user's files to the transcript before the first prompt, and again before a prompt that
/// starts after the files changed.
fn show_user_context(c: &mut Conversation) {
    let context = c.settings.as_ref().map(|settings| settings.user_context.clone());
    let Some(context) = context.filter(|context| *context != c.shown_user_context) else { return };
    if !context.is_empty() {
        c.transcript.push_memory(&context);
    }
    c.shown_user_context = context;
}

/// Refreshes the journal digest of the system prompt. It changes only where the cached
/// prefix changes anyway.
pub(super) fn refresh_digest(c: &mut Conversation) {
    if !c.journal.is_empty() {
        c.journal_digest = Arc::from(c.journal.digest());
    }
}

pub(super) fn apply_journal_shown(c: &mut Conversation) {
    let journal = c.journal.render();
    c.transcript.push_journal(&journal);
    c.shown_journal_version = c.journal.version();
}

/// Applies instructions. They enter the transcript where no round is open; within a run they wait
/// like steering messages.
pub(super) fn apply_instructions_added(c: &mut Conversation, input: &Input, id: InboxMessageId) {
    let Some(InboxCommand::Memory { text }) = command_of(input, id) else { return };
    add_instructions(c, text);
}

/// Applies context that a tool found, as instructions.
pub(super) fn apply_tool_context(c: &mut Conversation, input: &Input, index: u16) {
    let Input::ToolReturned { context, .. } = input else { return };
    let Some(note) = context.get(usize::from(index)) else { return };
    c.context_sources.insert(note.source.clone());
    for rule in &note.allows {
        let grant = Grant::from(rule.clone());
        if !c.grants.contains(&grant) && c.grants.len() < MAX_RULES {
            c.grants.push(grant);
        }
    }
    add_instructions(c, &note.text);
}

fn add_instructions(c: &mut Conversation, text: &Arc<str>) {
    match &mut c.run {
        Some(run) => run.memories.push(text.clone()),
        None => c.transcript.push_memory(text),
    }
}

/// Moves the waiting steering messages into the transcript. A server turn that is resumed must not
/// be interrupted by a message, so then they wait.
pub(super) fn read_steers(c: &mut Conversation) {
    let Some(run) = &mut c.run else { return };
    let steers = std::mem::take(&mut run.steers);
    let memories = std::mem::take(&mut run.memories);
    let said = u32::try_from(steers.len()).unwrap_or(u32::MAX);
    run.user_message_count = run.user_message_count.saturating_add(said);
    if said > 0 {
        // A human has already written something.
        run.required_question = None;
    }
    for text in memories {
        c.transcript.push_memory(&text);
    }
    for blocks in steers {
        c.transcript.push_prompt(&blocks);
    }
}

pub(super) fn apply_run_finished(
    c: &mut Conversation,
    id: &RunId,
    cause: StopCause,
    also: &[StopCause],
    said: Option<&Arc<str>>,
) {
    if c.run.as_ref().is_some_and(|run| run.id == *id) {
        // Unread messages enter the transcript; this run does not answer them, the next run sees
        // them.
        read_steers(c);
    }
    let active = c.run.take_if(|run| run.id == *id);
    c.prompt_queue.retain(|prompt| prompt.run != *id);
    let run = active.unwrap_or_else(|| Run::new(id.clone(), 0));
    if run.only_compacts {
        clear_compaction_request(c);
    }
    if let (Some(mode), Some(settings)) = (run.original_mode, &mut c.settings) {
        // The plan was approved for this run only.
        Arc::make_mut(settings).rules.mode = mode;
    }
    c.last_run_end = Some(RunEnd {
        run: id.clone(),
        cause,
        other_causes: also.to_vec(),
        text: said.cloned().unwrap_or_else(|| Arc::from(run.answer_parts.concat())),
        counters: run.counters,
        spent: run.spent,
        active_ms: run.active_ms,
        suspect_reason: run.suspect_reason,
        structured_output: run.structured_output,
        ended_by_timer: false,
        stopped_during: run.stop_request.map(|stop| stop.during),
        deferred_tool_use: run.deferred_tool_use,
    });
}

/// Keeps what a person has seen of the reply that an abort cut off.
pub(super) fn keep_partial_reply(c: &mut Conversation, input: &Input, id: &RunId) {
    let Some(run) = c.run.as_ref().filter(|run| run.id == *id) else { return };
    if run.stop_request.is_none_or(|stop| stop.during != StopPoint::ModelCall) {
        return;
    }
    if let Some(text) = input.partial_reply() {
        c.transcript.push_partial_reply(text);
    }
}

pub(super) fn apply_forked(c: &mut Conversation) {
    c.run = None;
    c.prompt_queue.clear();
    c.last_run_end = None;
    c.usage = TokenUsage::default();
    c.spent = Spending::default();
    c.parent = None;
    c.orphans.clear();
}
