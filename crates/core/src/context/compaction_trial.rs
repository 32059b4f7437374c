//! Tries each means of compaction on a copy. The loop and the preview use the same result.

use super::compaction_preview::CompactionCut;
use super::prune_stages::{BlockRewrite, PruneStage};
use super::recovery_ladder::RecoveryStep;
use super::token_meter::{TokenMeter, UsableWindow};
use super::window_settings::Summariser;
use crate::message::transcript::Transcript;
use crate::run::conversation::Conversation;
use crate::settings::conversation_settings::Settings;

/// Messages that the pruning stages never touch: the latest turn is sent back as the model gave it.
const LATEST_TURN_MESSAGES: u32 = 2;

/// A pruning stage and what it would change, after the stages before it.
pub(crate) struct StageTrial {
    pub(crate) stage: PruneStage,
    pub(crate) rewrites: Vec<BlockRewrite>,
    pub(crate) tokens_after: u64,
    pub(crate) percent_after: u64,
}

/// Tries the pruning stages, each after the ones before it; lazily, so only the stages that the
/// caller looks at are tried.
pub(crate) fn try_stages(
    conversation: &Conversation,
    settings: &Settings,
) -> impl Iterator<Item = StageTrial> {
    let mut trial = conversation.transcript.clone();
    let keep_from = trial.cut_point(settings.limits.kept_messages.max(LATEST_TURN_MESSAGES));
    let tail = trial.segments().len().saturating_sub(keep_from.unwrap_or(0));
    let stages = settings.window.cheap_stages().filter(move |_| keep_from.is_some());
    let mut meter = None;
    stages.map(move |stage| {
        // Counted once for all stages, and not before one is tried.
        let meter = *meter.get_or_insert_with(|| conversation.current_meter());
        // A stage may have taken whole segments out before the tail.
        let from = trial.segments().len().saturating_sub(tail);
        let rewrites = stage.propose_rewrites(&trial, from, settings.limits.sliding_messages);
        trial.rewrite(&rewrites);
        let tokens_after = tokens_with(conversation, meter, &trial);
        let percent_after = usable_window(settings).percent(tokens_after);
        StageTrial { stage, rewrites, tokens_after, percent_after }
    })
}

/// Returns what a step of the ladder would remove; `None` if there is nothing to remove.
pub(crate) fn find_cut(
    conversation: &Conversation,
    settings: &Settings,
    step: RecoveryStep,
) -> Option<CompactionCut> {
    find_cut_keeping(conversation, step, step.kept_messages(&settings.limits))
}

/// Returns what a compaction between two runs would remove: everything, because nothing is in
/// progress that needs the last messages word for word. Without a summary they stay.
pub(crate) fn find_whole_cut(
    conversation: &Conversation,
    settings: &Settings,
) -> Option<CompactionCut> {
    let step = RecoveryStep::Compact;
    let kept = match settings.window.summariser {
        Summariser::Off => step.kept_messages(&settings.limits),
        Summariser::OwnModel | Summariser::Model(_) => 0,
    };
    find_cut_keeping(conversation, step, kept)
}

fn find_cut_keeping(
    conversation: &Conversation,
    step: RecoveryStep,
    kept_messages: u32,
) -> Option<CompactionCut> {
    let transcript = &conversation.transcript;
    let keep_from = transcript.cut_point(kept_messages)?;
    let prompts = conversation.run.as_ref().map_or(0, |run| run.user_message_count);
    let kept_segments = transcript.protected_segments(keep_from, prompts);
    // Segments that stay word for word are not removed.
    (kept_segments.len() < keep_from).then_some(CompactionCut { step, keep_from, kept_segments })
}

/// Returns the usable part of the window.
pub(crate) fn usable_window(settings: &Settings) -> UsableWindow {
    UsableWindow::new(settings.model.window_tokens, settings.model.max_tokens)
}

/// Returns the used share of the usable window with another transcript, in per cent.
pub(crate) fn percent_with(
    conversation: &Conversation,
    settings: &Settings,
    trial: &Transcript,
) -> u64 {
    usable_window(settings).percent(tokens_with(conversation, conversation.current_meter(), trial))
}

fn tokens_with(conversation: &Conversation, meter: TokenMeter, trial: &Transcript) -> u64 {
    let fixed = conversation.request_bytes().saturating_sub(conversation.transcript.byte_count());
    meter.estimate(fixed.saturating_add(trial.byte_count()))
}
