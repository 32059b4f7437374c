//! The result message: the end of a run with its figures.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use windlass_core::message::reply::TokenUsage;

/// How a run ended, for programs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ResultSubtype {
    /// The run has a result.
    Success,
    /// The run ended without a result, or waits.
    ErrorDuringExecution,
    /// The limit of turns was reached.
    ErrorMaxTurns,
    /// A budget is spent.
    ErrorMaxBudgetUsd,
    /// No answer fitted the schema.
    ErrorMaxStructuredOutputRetries,
}

impl From<windlass_core::stop::ResultSubtype> for ResultSubtype {
    fn from(subtype: windlass_core::stop::ResultSubtype) -> Self {
        use windlass_core::stop::ResultSubtype as Core;
        match subtype {
            Core::Success => Self::Success,
            Core::ErrorDuringExecution => Self::ErrorDuringExecution,
            Core::ErrorMaxTurns => Self::ErrorMaxTurns,
            Core::ErrorMaxBudgetUsd => Self::ErrorMaxBudgetUsd,
            Core::ErrorMaxStructuredOutputRetries => Self::ErrorMaxStructuredOutputRetries,
        }
    }
}

/// The end of a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ResultMessage {
    /// How the run ended.
    pub subtype: ResultSubtype,
    /// Whether the run has a result.
    pub ok: bool,
    /// Whether the program should treat the result as an error.
    pub is_error: bool,
    /// Milliseconds from the prompt to the end.
    pub duration_ms: u64,
    /// Milliseconds of model calls.
    pub duration_api_ms: u64,
    /// User messages of the run: the prompt, results of calls, notes.
    pub num_turns: u64,
    /// The conversation; it resumes the conversation.
    pub session_id: String,
    /// The id of this message.
    pub uuid: String,
    /// Why the model stopped last.
    pub stop_reason: Option<String>,
    /// What the run cost.
    pub total_cost_usd: f64,
    /// Tokens of the run.
    pub usage: TokenCounts,
    /// Tokens and cost of each model.
    #[serde(rename = "modelUsage")]
    pub model_usage: BTreeMap<String, ModelUsage>,
    /// The calls that were denied.
    pub permission_denials: Vec<PermissionDenial>,
    /// Why the run ended, in a word.
    pub terminal_reason: String,
    /// The final text, if the run has a result.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub result: Option<String>,
    /// What went wrong, if the run has no result.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub errors: Option<Vec<String>>,
    /// The answer as data, if a schema was given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub structured_output: Option<Value>,
    /// The stop cause of the run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stop_cause: Option<String>,
    /// Milliseconds in which the run was at work.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub active_ms: Option<u64>,
    /// Whether `resume` can continue the run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resumable: Option<bool>,
    /// Further fields: flags such as `refusal`, open questions, the local command.
    #[serde(flatten)]
    pub more: Map<String, Value>,
}

/// Token counts under the names of the API.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TokenCounts {
    /// Input tokens that were not cached.
    pub input_tokens: u64,
    /// Output tokens.
    pub output_tokens: u64,
    /// Input tokens read from the cache.
    #[serde(default)]
    pub cache_read_input_tokens: u64,
    /// Input tokens written to the cache.
    #[serde(default)]
    pub cache_creation_input_tokens: u64,
}

impl From<&TokenUsage> for TokenCounts {
    fn from(usage: &TokenUsage) -> Self {
        Self {
            input_tokens: usage.input_tokens,
            output_tokens: usage.output_tokens,
            cache_read_input_tokens: usage.cache_read_tokens,
            cache_creation_input_tokens: usage.cache_write_tokens,
        }
    }
}

/// Tokens and cost of one model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ModelUsage {
    /// Input tokens that were not cached.
    pub input_tokens: u64,
    /// Output tokens.
    pub output_tokens: u64,
    /// Input tokens read from the cache.
    pub cache_read_input_tokens: u64,
    /// Input tokens written to the cache.
    pub cache_creation_input_tokens: u64,
    /// Searches of the provider's web tool.
    pub web_search_requests: u64,
    /// What the model cost.
    #[serde(rename = "costUSD")]
    pub cost_usd: f64,
    /// The context window of the model.
    pub context_window: u64,
    /// The largest reply of the model.
    pub max_output_tokens: u64,
}

impl ModelUsage {
    /// Adds the tokens and the cost of other calls to the same model.
    pub fn add(&mut self, other: &Self) {
        self.input_tokens = self.input_tokens.saturating_add(other.input_tokens);
        self.output_tokens = self.output_tokens.saturating_add(other.output_tokens);
        self.cache_read_input_tokens =
            self.cache_read_input_tokens.saturating_add(other.cache_read_input_tokens);
        self.cache_creation_input_tokens =
            self.cache_creation_input_tokens.saturating_add(other.cache_creation_input_tokens);
        self.web_search_requests =
            self.web_search_requests.saturating_add(other.web_search_requests);
        self.cost_usd += other.cost_usd;
    }
}

/// A call that was denied.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PermissionDenial {
    /// The name of the tool.
    pub tool_name: String,
    /// The provider's id of the call.
    pub tool_use_id: String,
    /// The arguments.
    pub tool_input: Value,
    /// Why it was denied.
    #[serde(default)]
    pub reason: String,
}
