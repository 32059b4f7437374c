//! Preview of a compaction and how full the window is, for people and for programs.

use serde::Serialize;
use windlass::core::context::{CompactionPreview, PreviewedAction, preview_compaction};
use windlass::core::message::transcript::{SegmentKind, TranscriptSegment};
use windlass::core::run::conversation::{CompactionRequest, Conversation};

use crate::messages::{self, report};
use crate::terminal::{OutputStyle, to_one_line};

/// Maximum characters of a quoted text that is kept verbatim.
const MAX_QUOTE_CHARS: usize = 100;

/// What a compaction would do.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct CompactionReport {
    /// Estimated tokens of the next request.
    pub(crate) tokens: u64,
    /// Tokens that a request may have.
    pub(crate) usable_tokens: u64,
    /// The used share of the usable tokens, in per cent.
    pub(crate) percent: u64,
    /// The used share from which on the context is compacted automatically.
    pub(crate) compacts_at_percent: u64,
    /// The action that a compaction would take.
    pub(crate) action: &'static str,
    /// What the pruning stages would free, each after the previous ones.
    pub(crate) stages: Vec<StageReport>,
    /// The recovery step that would be used.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) recovery_step: Option<std::sync::Arc<str>>,
    /// Parts of messages that would be replaced by a note.
    pub(crate) dropped_parts: usize,
    /// Parts at the end that are kept as they are.
    pub(crate) kept_parts: usize,
    /// What else is kept verbatim: instructions, and what people wrote in this run.
    pub(crate) kept_verbatim: Vec<String>,
}

/// The effect of one pruning stage.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct StageReport {
    /// The pruning stage.
    pub(crate) stage: &'static str,
    /// Blocks that the stage would change or remove.
    pub(crate) blocks: usize,
    /// The used share of the window after the stage, in per cent.
    pub(crate) percent_after: u64,
}

/// Previews a requested compaction; `None` before the conversation is configured.
pub(crate) fn report_compaction(now: &Conversation) -> Option<CompactionReport> {
    Some(build_report(now, &preview_compaction(now, CompactionRequest::Requested)?))
}

fn build_report(now: &Conversation, plan: &CompactionPreview) -> CompactionReport {
    let segments = now.transcript.segments();
    let cut = plan.cut.as_ref().filter(|_| plan.next_action == PreviewedAction::Cut);
    let attached = cut.map(|cut| cut.kept_segments.as_slice()).unwrap_or_default();
    let stage = |stage: &windlass::core::context::PruneStagePreview| StageReport {
        stage: stage.stage.name(),
        blocks: stage.blocks,
        percent_after: stage.percent_after,
    };
    CompactionReport {
        tokens: plan.tokens,
        usable_tokens: plan.usable_tokens,
        percent: plan.percent,
        compacts_at_percent: plan.thresholds.compact,
        action: action_name(plan.next_action),
        stages: plan.stages.iter().map(stage).collect(),
        recovery_step: cut.map(|cut| messages::stored_name(&cut.step)),
        dropped_parts: cut.map_or(0, |cut| cut.keep_from.saturating_sub(attached.len())),
        kept_parts: cut.map_or(segments.len(), |cut| segments.len().saturating_sub(cut.keep_from)),
        kept_verbatim: attached
            .iter()
            .filter_map(|at| segments.get(*at))
            .map(quote_segment)
            .collect(),
    }
}

fn action_name(acts: PreviewedAction) -> &'static str {
    match acts {
        PreviewedAction::Nothing => "nothing",
        PreviewedAction::Stages(_) => "stages",
        PreviewedAction::Cut => "cut",
        PreviewedAction::AskHuman => "human",
        PreviewedAction::Stuck => "stuck",
    }
}

fn quote_segment(segment: &TranscriptSegment) -> String {
    let who = match segment.kind {
        SegmentKind::Memory => "instructions",
        SegmentKind::Prompt
        | SegmentKind::Note
        | SegmentKind::Summary
        | SegmentKind::Journal
        | SegmentKind::Reply
        | SegmentKind::Results => "you",
    };
    format!("{who}: {}", to_one_line(&messages::blocks_text(&segment.blocks), MAX_QUOTE_CHARS))
}

impl CompactionReport {
    /// Returns whether a requested compaction would free anything.
    pub(crate) fn would_compact(&self) -> bool {
        ![action_name(PreviewedAction::Nothing), action_name(PreviewedAction::Stuck)]
            .contains(&self.action)
    }

    /// Says in a sentence why nothing was compacted.
    pub(crate) fn nothing_done_message(&self) -> String {
        report::compaction::nothing_done_sentence(self)
    }

    /// Renders the report as lines of text.
    pub(crate) fn to_lines(&self, style: OutputStyle) -> Vec<String> {
        report::compaction::report_lines(self, style)
    }
}

/// Explains why no compaction freed enough: what each stage and the recovery steps could have done.
pub(crate) fn explain_stuck(now: &Conversation) -> Vec<String> {
    preview_compaction(now, CompactionRequest::Requested)
        .map(|plan| report::compaction::stuck_sentences(&plan))
        .unwrap_or_default()
}

/// Says in a sentence how full the window is.
pub(crate) fn window_usage(now: &Conversation) -> Option<String> {
    preview_compaction(now, CompactionRequest::NotRequested).map(|plan| {
        report::compaction::window_usage_sentence(plan.percent, plan.tokens, plan.usable_tokens)
    })
}
