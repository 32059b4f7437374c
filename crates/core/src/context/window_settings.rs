//! Settings of the context window.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::prune_stages::PruneStage;
use super::token_meter::WindowThresholds;
use crate::settings::conversation_settings::ModelSpec;

/// What is done when the window fills, and above which thresholds. Each pruning stage has a switch;
/// the compaction that follows when they do not free enough cannot be switched off.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct WindowSettings {
    /// Thresholds of the window.
    pub thresholds: WindowThresholds,
    /// Whether turns beyond a sliding window, old thinking and notes are removed.
    pub snip: StageSwitch,
    /// Whether old results are truncated.
    pub micro: StageSwitch,
    /// Whether stale results are replaced by a pointer.
    pub collapse: StageSwitch,
    /// Which model summarises.
    pub summariser: Summariser,
    /// What the summary must keep, as written in the memory file.
    pub preserve: Option<Arc<str>>,
}

/// Whether a pruning stage is enabled.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StageSwitch {
    /// The stage is enabled.
    #[default]
    On,
    /// The stage is disabled.
    Off,
}

/// Which model summarises the removed messages.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Summariser {
    /// The conversation's own model.
    #[default]
    OwnModel,
    /// Another, cheaper model.
    Model(ModelSpec),
    /// No summary: the removed part is only counted.
    Off,
}

impl WindowSettings {
    /// Returns the enabled pruning stages, cheapest first.
    pub fn cheap_stages(&self) -> impl Iterator<Item = PruneStage> {
        let stages = [
            (PruneStage::Snip, self.snip),
            (PruneStage::Micro, self.micro),
            (PruneStage::Collapse, self.collapse),
        ];
        stages.into_iter().filter(|(_, switch)| *switch == StageSwitch::On).map(|(stage, _)| stage)
    }
}
