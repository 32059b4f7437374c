//! What a conversation runs with. Recorded in its log, because decisions read it.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::limits::Limits;
use crate::policy::Rules;
use crate::raw::{Raw, sha256_hex};

/// The settings of a conversation.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Settings {
    /// Which registered set of tools and prompt drives it.
    pub agent: Arc<str>,
    /// The model and its bounds.
    pub model: Model,
    /// The system prompt.
    pub system: Arc<str>,
    /// The tools offered, in order.
    pub tools: Vec<ToolSpec>,
    /// What may run.
    pub rules: Rules,
    /// Bounds.
    pub limits: Limits,
    /// What each stop string means.
    pub stop_map: BTreeMap<Arc<str>, StopAction>,
    /// Which hook points have somebody listening.
    pub hooks: HookPoints,
    /// Whether every commit waits for the disk.
    #[serde(default)]
    pub durability: DurabilityMode,
}

/// A model and what it can do.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Model {
    /// Its name.
    pub name: Arc<str>,
    /// Output tokens asked for at first.
    pub max_tokens: u64,
    /// Output tokens it can give at most.
    pub most_output_tokens: u64,
    /// Its context window.
    pub window_tokens: u64,
}

/// A tool as offered to the model.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ToolSpec {
    /// Its name.
    pub name: Arc<str>,
    /// What it is for.
    pub description: Arc<str>,
    /// JSON Schema of its arguments.
    pub input_schema: Raw,
}

/// What a matched stop string means.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StopAction {
    /// A clean finish.
    Finish,
    /// Throw the output away and ask again.
    Reprompt {
        /// Why, as recorded.
        reason: Arc<str>,
    },
    /// Let the model go on.
    Continue,
}

/// Which hook points are in use. A point nobody listens at costs nothing.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HookPoints {
    /// Before a tool call is judged.
    pub before_tool: Listening,
    /// After a tool call completed.
    pub after_tool: Listening,
}

/// Whether somebody listens at a hook point.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Listening {
    /// Nobody: the point is passed over.
    #[default]
    Nobody,
    /// A hook runs there.
    Hooked,
}

/// When an append waits for the disk.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DurabilityMode {
    /// Before effects and acknowledgements.
    #[default]
    Scheduled,
    /// Always.
    Strict,
}

impl Settings {
    /// Sensible settings around a model: no tools, nothing allowed, default limits, and the two
    /// stop strings whose meaning is agreed.
    #[must_use]
    pub fn new(model: Model) -> Self {
        let drift = StopAction::Reprompt { reason: Arc::from("roleplay_drift") };
        Self {
            agent: Arc::from("default"),
            model,
            system: Arc::from(""),
            tools: Vec::new(),
            rules: Rules::default(),
            limits: Limits::default(),
            stop_map: BTreeMap::from([
                (Arc::from("\nUser:"), drift),
                (Arc::from("\n---END---"), StopAction::Finish),
            ]),
            hooks: HookPoints::default(),
            durability: DurabilityMode::Scheduled,
        }
    }

    /// Bytes of what the model is told before the conversation.
    #[must_use]
    pub fn prompt_bytes(&self) -> u64 {
        let tools = self.tools.iter().map(ToolSpec::bytes).sum::<usize>();
        (self.system.len() + tools) as u64
    }

    /// Hash of what the model is told before the conversation: system prompt and tools.
    #[must_use]
    pub fn prompt_hash(&self) -> Arc<str> {
        let stable = Raw::encode(&(&self.system, &self.tools));
        Arc::from(sha256_hex(stable.text().as_bytes()))
    }
}

impl ToolSpec {
    fn bytes(&self) -> usize {
        self.name.len() + self.description.len() + self.input_schema.text().len()
    }
}

impl Model {
    /// A model by name with round numbers, for tests and for models nothing is known of.
    #[must_use]
    pub fn named(name: &str) -> Self {
        Self {
            name: Arc::from(name),
            max_tokens: 4_096,
            most_output_tokens: 32_000,
            window_tokens: 200_000,
        }
    }
}
