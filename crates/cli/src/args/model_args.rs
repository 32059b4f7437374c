//! Flags of the model.

use std::path::PathBuf;

use clap::Args as ClapArgs;

use super::values::{CacheLifetimeArg, EffortArg, ThinkingArg, ThinkingDisplayArg};

/// Which model answers, and how.
#[derive(Debug, Clone, Default, PartialEq, ClapArgs)]
#[command(next_help_heading = "Model")]
pub(crate) struct ModelArgs {
    /// Use this model: `sonnet`, `opus`, `haiku`, `claude-…`, `openai:…`, `gemini-…`, `azure:…`, `ollama:…`, or a provider of config.toml [default: $ANTHROPIC_MODEL, else `model` of the profile, the settings or config.toml, else chosen by the keys that are set]
    #[arg(long, value_name = "NAME")]
    pub(crate) model: Option<String>,
    /// Use this model when the first one stays overloaded, or the first of several that is not, separated by commas [default: `fallback_model` of config.toml]
    #[arg(long, value_name = "NAMES")]
    pub(crate) fallback_model: Option<String>,
    /// Use the scripted model, which answers from this file without a key or a network
    #[arg(long, value_name = "FILE", conflicts_with = "model")]
    pub(crate) script: Option<PathBuf>,
    /// Override the context window of the model [default: from `windlass models`]
    #[arg(long, value_name = "N")]
    pub(crate) window_tokens: Option<u64>,
    /// Set how much effort the model puts into its answer [default: from config.toml, else the provider's]
    #[arg(long, value_name = "LEVEL", value_enum)]
    pub(crate) effort: Option<EffortArg>,
    /// Limit the output tokens of one reply; a truncated reply is requested again with a higher limit [default: 16384 for models that think, else 8192]
    #[arg(long, value_name = "N")]
    pub(crate) max_tokens: Option<u64>,
    /// Set the sampling temperature, from 0 to 2 [default: from config.toml, else the provider's]
    #[arg(long, value_name = "NUMBER", allow_negative_numbers = true)]
    pub(crate) temperature: Option<f64>,
    /// End the output at this text, with \n for a new line; replaces the configured list; may be given several times, empty for none [default: `stop_sequences` of config.toml]
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    pub(crate) stop_sequence: Vec<String>,
    /// Set how long the provider keeps the prompt in its cache [default: from config.toml, else 5m]
    #[arg(long, value_name = "TIME", value_enum)]
    pub(crate) cache_lifetime: Option<CacheLifetimeArg>,
    /// Limit the tokens for thinking; 0 switches thinking off [default: from config.toml, else the provider's]
    #[arg(long, value_name = "N")]
    pub(crate) max_thinking_tokens: Option<u64>,
    /// Let the model decide how much it thinks, or switch thinking off [default: from config.toml, else the provider's]
    #[arg(long, value_name = "MODE", value_enum, conflicts_with = "max_thinking_tokens")]
    pub(crate) thinking: Option<ThinkingArg>,
    /// Choose how much of the thinking the provider sends [default: the provider's]
    #[arg(long, value_name = "AMOUNT", value_enum)]
    pub(crate) thinking_display: Option<ThinkingDisplayArg>,
    /// Tell the model how many tokens it has for the whole task [default: nothing]
    #[arg(long, value_name = "N")]
    pub(crate) task_budget: Option<u64>,
    /// Request beta features of the provider, separated by commas [default: none]
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    pub(crate) betas: Vec<String>,
}
