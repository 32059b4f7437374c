//! How a conversation keeps its context small.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::meter::Thresholds;
use super::stages::Stage;
use crate::settings::Model;

/// What is done when the window fills, and from when on. The cheap stages have a switch each; that
/// old messages are summed up when these do not free enough cannot be switched off.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Window {
    /// From when on.
    pub thresholds: Thresholds,
    /// Turns beyond a sliding window, old thoughts and notes go.
    pub snip: Switch,
    /// Old results are cut.
    pub micro: Switch,
    /// Stale results give way to a pointer.
    pub collapse: Switch,
    /// Who sums up.
    pub summariser: Summariser,
    /// What the summary must keep, in the words of the memory file.
    pub preserve: Option<Arc<str>>,
}

/// Whether a stage acts.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Switch {
    /// It does.
    #[default]
    On,
    /// It does not.
    Off,
}

/// Who sums up what is left out.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Summariser {
    /// The conversation's own model.
    #[default]
    Own,
    /// A cheaper one.
    Model(Model),
    /// Nobody: what is left out is only named.
    Nobody,
}

impl Window {
    /// The stages that act without asking anybody, cheapest first.
    pub fn cheap_stages(&self) -> impl Iterator<Item = Stage> {
        let stages = [
            (Stage::Snip, self.snip),
            (Stage::Micro, self.micro),
            (Stage::Collapse, self.collapse),
        ];
        stages.into_iter().filter(|(_, switch)| *switch == Switch::On).map(|(stage, _)| stage)
    }
}
