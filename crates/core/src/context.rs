//! Keeps the context window small: thresholds, pruning stages, recovery ladder. A stage acts only
//! above its threshold, cheapest first; each acts once, as one record, and starts a new generation
//! of the prompt.
//!
//! Everything here proposes; nothing changes a transcript.

pub mod compaction_preview;
pub(crate) mod compaction_trial;
pub mod pinned_results;
pub mod prune_stages;
pub mod recovery_ladder;
pub mod render;
mod token_count;
pub mod token_meter;
pub mod window_settings;

#[cfg(test)]
mod prune_stages_tests;
#[cfg(test)]
mod recovery_ladder_tests;
#[cfg(test)]
mod render_tests;
#[cfg(test)]
mod token_count_tests;
#[cfg(test)]
mod token_meter_tests;

pub(crate) use token_count::count_tokens;

pub use compaction_preview::{
    CompactionCut, CompactionPreview, PreviewedAction, PruneStagePreview, can_compact_now,
    preview_compaction,
};
pub use prune_stages::{BlockRewrite, PruneStage};
pub use recovery_ladder::{CompactionTrigger, RecoveryHistory, RecoveryStep};
pub use token_meter::{
    InvalidThresholds, TokenMeter, UsableWindow, WindowPressure, WindowThresholds,
};
pub use window_settings::{StageSwitch, Summariser, WindowSettings};
