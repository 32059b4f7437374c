//! Prompts, steers, and the beginning and end of runs.

use std::sync::Arc;

use super::with_run;
use crate::block::Block;
use crate::budget::Spent;
use crate::conversation::{Conversation, Ended, QueuedPrompt};
use crate::ids::{MailId, RunId};
use crate::input::Input;
use crate::mail::MailBody;
use crate::reply::Usage;
use crate::run::Run;
use crate::run_settings::RunSettings;
use crate::stop::StopCause;

pub(super) fn mail_body(input: &Input, id: MailId) -> Option<&MailBody> {
    let Input::Received { mail } = input else { return None };
    mail.iter().find(|mail| mail.id == id).map(|mail| &mail.body)
}

pub(super) fn queued(c: &mut Conversation, input: &Input, id: MailId) {
    let prompt = match mail_body(input, id) {
        Some(MailBody::Prompt { run, blocks, settings }) => {
            let (run, settings) = (run.clone(), settings.clone());
            QueuedPrompt { run, blocks: Arc::from(blocks.as_slice()), settings }
        }
        Some(MailBody::Steer { run, blocks }) => {
            let blocks = Arc::from(blocks.as_slice());
            QueuedPrompt { run: run.clone(), blocks, settings: None }
        }
        Some(MailBody::Task { run, task, .. }) => {
            let blocks = Arc::from([Block::text(&task.prompt)]);
            QueuedPrompt { run: run.clone(), blocks, settings: None }
        }
        Some(
            MailBody::Answer { .. }
            | MailBody::Cancel { .. }
            | MailBody::Abort { .. }
            | MailBody::ChildFinished { .. }
            | MailBody::Compact { .. }
            | MailBody::Memory { .. },
        )
        | None => return,
    };
    c.queue.push_back(prompt);
}

pub(super) fn steered(c: &mut Conversation, input: &Input, id: MailId) {
    let blocks: Arc<[Block]> = match mail_body(input, id) {
        Some(MailBody::Steer { blocks, .. }) => Arc::from(blocks.as_slice()),
        Some(MailBody::ChildFinished { text, .. }) => Arc::from([Block::text(text)]),
        Some(
            MailBody::Prompt { .. }
            | MailBody::Task { .. }
            | MailBody::Answer { .. }
            | MailBody::Cancel { .. }
            | MailBody::Abort { .. }
            | MailBody::Compact { .. }
            | MailBody::Memory { .. },
        )
        | None => return,
    };
    with_run(c, |run| run.steers.push(blocks));
}

pub(super) fn run_started(c: &mut Conversation, id: &RunId) {
    let prompt = c.queue.pop_front();
    settle(c, prompt.as_ref().and_then(|prompt| prompt.settings.clone()));
    tell_context(c);
    if let Some(prompt) = prompt {
        c.transcript.push_prompt(&prompt.blocks);
    }
    let cap = c.settings.as_ref().map_or(0, |settings| settings.model.max_tokens);
    c.run = Some(Run::new(id.clone(), cap));
    refresh_digest(c);
}

/// A run begins with what its owner has and what its prompt brought along; nothing of the run
/// before it is left.
fn settle(c: &mut Conversation, own: Option<Arc<RunSettings>>) {
    let Some(owner) = c.owner_settings.clone() else { return };
    let settings = own.as_ref().map_or_else(|| owner.clone(), |own| Arc::new(own.over(&owner)));
    c.run_settings = own;
    if c.settings.as_ref() != Some(&settings) {
        c.settings = Some(settings);
    }
    if c.run_owner.as_ref() != Some(&owner) {
        c.prompt_hash = Some(owner.prompt_hash());
        c.run_owner = Some(owner);
    }
}

/// What the user's files say stands before the first prompt, and again before one that begins after
/// they changed.
fn tell_context(c: &mut Conversation) {
    let context = c.settings.as_ref().map(|settings| settings.user_context.clone());
    let Some(context) = context.filter(|context| *context != c.told_context) else { return };
    if !context.is_empty() {
        c.transcript.push_memory(&context);
    }
    c.told_context = context;
}

/// The few lines of the system prompt change only where the prefix changes anyway.
pub(super) fn refresh_digest(c: &mut Conversation) {
    if !c.journal.is_empty() {
        c.digest = Arc::from(c.journal.digest());
    }
}

pub(super) fn journal_shown(c: &mut Conversation) {
    let journal = c.journal.render();
    c.transcript.push_journal(&journal);
    c.journal_shown = c.journal.version();
}

/// Instructions enter where nothing is open; within a run they wait like what people say.
pub(super) fn remembered(c: &mut Conversation, input: &Input, id: MailId) {
    let Some(MailBody::Memory { text }) = mail_body(input, id) else { return };
    match &mut c.run {
        Some(run) => run.memories.push(text.clone()),
        None => c.transcript.push_memory(text),
    }
}

/// What people said meanwhile enters the transcript. A server turn that is resumed is not spoken
/// into, so then they wait.
pub(super) fn read_steers(c: &mut Conversation) {
    let Some(run) = &mut c.run else { return };
    let steers = std::mem::take(&mut run.steers);
    let memories = std::mem::take(&mut run.memories);
    let said = u32::try_from(steers.len()).unwrap_or(u32::MAX);
    run.prompts = run.prompts.saturating_add(said);
    if said > 0 {
        // A person has spoken already.
        run.due_question = None;
    }
    for text in memories {
        c.transcript.push_memory(&text);
    }
    for blocks in steers {
        c.transcript.push_prompt(&blocks);
    }
}

pub(super) fn finished(
    c: &mut Conversation,
    id: &RunId,
    cause: StopCause,
    also: &[StopCause],
    said: Option<&Arc<str>>,
) {
    if c.run.as_ref().is_some_and(|run| run.id == *id) {
        // Nobody will answer these words in this run; the next one finds them.
        read_steers(c);
    }
    let active = c.run.take_if(|run| run.id == *id);
    c.queue.retain(|prompt| prompt.run != *id);
    let run = active.unwrap_or_else(|| Run::new(id.clone(), 0));
    if let (Some(mode), Some(settings)) = (run.mode_before, &mut c.settings) {
        // A plan was approved for this run and no other.
        Arc::make_mut(settings).rules.mode = mode;
    }
    c.last_end = Some(Ended {
        run: id.clone(),
        cause,
        also: also.to_vec(),
        text: said.cloned().unwrap_or_else(|| Arc::from(run.pieces.concat())),
        counters: run.counters,
        spent: run.spent,
        active_ms: run.active_ms,
        suspect: run.suspect,
        structured: run.structured,
        by_clock: false,
    });
}

pub(super) fn forked(c: &mut Conversation) {
    c.run = None;
    c.queue.clear();
    c.last_end = None;
    c.usage = Usage::default();
    c.spent = Spent::default();
    c.parent = None;
    c.strays.clear();
}
