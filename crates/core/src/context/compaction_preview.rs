//! Preview of a compaction, without changing anything. It uses the same parts as the loop; the loop
//! decides for itself when the time comes.

use super::compaction_trial::{self, StageTrial};
use super::prune_stages::PruneStage;
use super::recovery_ladder::{RecoveryHistory, RecoveryStep};
use super::token_meter::{WindowPressure, WindowThresholds};
use crate::run::conversation::{CompactionRequest, Conversation};
use crate::settings::conversation_settings::Settings;

/// How full the window is, and what would be done about it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CompactionPreview {
    /// Estimated tokens of the next request.
    pub tokens: u64,
    /// Tokens that the request may have.
    pub usable_tokens: u64,
    /// Used share of the usable tokens, in per cent.
    pub percent: u64,
    /// Thresholds of the window.
    pub thresholds: WindowThresholds,
    /// Pressure on the window: how full it is.
    pub pressure: WindowPressure,
    /// What each pruning stage would free, after the stages before it.
    pub stages: Vec<PruneStagePreview>,
    /// What the recovery ladder would remove, if there is anything to remove.
    pub cut: Option<CompactionCut>,
    /// What would be done before the next model call.
    pub next_action: PreviewedAction,
}

/// What a pruning stage would free.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PruneStagePreview {
    /// The pruning stage.
    pub stage: PruneStage,
    /// Number of blocks that the stage would change or remove.
    pub blocks: usize,
    /// Tokens of the request after the stage.
    pub tokens_after: u64,
    /// Used share of the window after the stage, in per cent.
    pub percent_after: u64,
}

/// What a step of the recovery ladder would remove.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CompactionCut {
    /// The step of the ladder.
    pub step: RecoveryStep,
    /// The first segment that stays unchanged.
    pub keep_from: usize,
    /// Segments before it that stay word for word.
    pub kept_segments: Vec<usize>,
}

/// What would be done before the next model call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PreviewedAction {
    /// Nothing: there is room.
    Nothing,
    /// The first so many pruning stages free enough.
    Stages(usize),
    /// A step of the recovery ladder removes old messages.
    Cut,
    /// A human is asked.
    AskHuman,
    /// The window is too full, and nothing can be removed.
    Stuck,
}

/// Returns what a compaction would do now. Returns nothing without settings.
#[must_use]
pub fn preview_compaction(
    conversation: &Conversation,
    asked: CompactionRequest,
) -> Option<CompactionPreview> {
    let settings = conversation.active_settings()?;
    let usable = compaction_trial::usable_window(&settings);
    let tokens = conversation.current_meter().estimate(conversation.request_bytes());
    let thresholds = settings.window.thresholds;
    let pressure = usable.pressure(tokens, &thresholds);
    let stages = preview_stages(conversation, &settings);
    let step = next_recovery_step(conversation, &settings);
    let cut = step.and_then(|step| compaction_trial::find_cut(conversation, &settings, step));
    let enough = stages.iter().position(|stage| stage.percent_after <= thresholds.gain);
    let next_action = match (pressure, asked, enough) {
        (WindowPressure::Fine, CompactionRequest::NotRequested, _) => PreviewedAction::Nothing,
        (WindowPressure::Tight | WindowPressure::Full, _, Some(last)) => {
            PreviewedAction::Stages(last + 1)
        }
        _ if step == Some(RecoveryStep::AskHuman) => PreviewedAction::AskHuman,
        _ if cut.is_some() => PreviewedAction::Cut,
        _ => PreviewedAction::Stuck,
    };
    let (usable_tokens, percent) = (usable.tokens(), usable.percent(tokens));
    Some(CompactionPreview {
        tokens,
        usable_tokens,
        percent,
        thresholds,
        pressure,
        stages,
        cut,
        next_action,
    })
}

/// Returns whether a compaction between two runs would remove anything.
#[must_use]
pub fn can_compact_now(conversation: &Conversation) -> bool {
    let settings = conversation.active_settings();
    settings.is_some_and(|now| compaction_trial::find_whole_cut(conversation, &now).is_some())
}

/// Returns what each pruning stage would free, after the stages before it.
fn preview_stages(conversation: &Conversation, settings: &Settings) -> Vec<PruneStagePreview> {
    let tried = compaction_trial::try_stages(conversation, settings);
    let shown = |StageTrial { stage, rewrites, tokens_after, percent_after }| PruneStagePreview {
        stage,
        blocks: rewrites.len(),
        tokens_after,
        percent_after,
    };
    tried.map(shown).collect()
}

/// Returns the next step of the recovery ladder; a run that has not started has taken none.
fn next_recovery_step(conversation: &Conversation, settings: &Settings) -> Option<RecoveryStep> {
    let (used, iteration) = match &conversation.run {
        Some(run) => (run.recoveries, run.counters.model_calls),
        None => (RecoveryHistory::default(), 0),
    };
    used.next_step(iteration, &settings.limits)
}
