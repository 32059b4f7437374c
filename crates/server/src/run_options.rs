//! Settings that a prompt brings for its own run.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Settings of one run. What is not given is as the worker of the run is configured.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct RunOptions {
    /// The model, by the name that `--model` takes.
    pub model: Option<String>,
    /// The profile that limits and prices come from.
    pub profile: Option<String>,
    /// Rounds of tool calls until the run is stopped.
    pub max_turns: Option<u32>,
    /// What the run may cost, in US dollars.
    pub max_budget_usd: Option<f64>,
    /// Tokens that the run may use.
    pub max_budget_tokens: Option<u64>,
    /// Text that is added to the system prompt.
    pub append_system_prompt: Option<String>,
}
