//! Applies compaction and pruning of the context window.

use crate::context::{BlockRewrite, CompactionTrigger, RecoveryStep};
use crate::log::ids::InboxMessageId;
use crate::log::inbox::InboxCommand;
use crate::log::input::Input;
use crate::log::record::Record;
use crate::run::conversation::{CompactionRequest, Conversation};

use super::prompts::{command_of, refresh_digest};
use super::with_run;

pub(super) fn apply_compacted(c: &mut Conversation, record: &Record) {
    let Record::Compacted { keep_from, note, step, kept_segments, trigger, .. } = record else {
        return;
    };
    let to_index = |at: &u64| usize::try_from(*at).unwrap_or(usize::MAX);
    let attached: Vec<usize> = kept_segments.iter().map(to_index).collect();
    let journal = if step.is_some() { c.journal_for_compaction() } else { String::new() };
    c.end_generation();
    c.loaded_tools.forget_references();
    c.transcript.compact(to_index(keep_from), note, &attached, &journal);
    if *trigger == CompactionTrigger::Reactive {
        with_run(c, |run| {
            run.counters.reactive_compactions = run.counters.reactive_compactions.saturating_add(1);
        });
    }
    if let Some(step) = step {
        apply_recovery_step(c, *step);
        c.shown_journal_version = c.journal.version();
        refresh_digest(c);
    }
    clear_compaction_request(c);
}

pub(super) fn apply_compaction_requested(
    c: &mut Conversation,
    input: &Input,
    message_id: InboxMessageId,
) {
    c.compaction_request = CompactionRequest::Requested;
    if let Some(InboxCommand::Compact { instructions: Some(instructions), .. }) =
        command_of(input, message_id)
    {
        c.compaction_instructions = Some(instructions.clone());
    }
}

/// Clears the compaction request.
pub(super) fn clear_compaction_request(c: &mut Conversation) {
    c.compaction_request = CompactionRequest::NotRequested;
    c.compaction_instructions = None;
}

pub(super) fn apply_pruned(c: &mut Conversation, rewrites: &[BlockRewrite]) {
    c.end_generation();
    c.loaded_tools.forget_references();
    c.transcript.rewrite(rewrites);
}

pub(super) fn apply_recovery_step(c: &mut Conversation, step: RecoveryStep) {
    clear_compaction_request(c);
    with_run(c, |run| {
        let iteration = run.counters.model_calls;
        run.recoveries.record_step(step, iteration);
    });
}
