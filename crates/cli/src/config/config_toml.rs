//! Our own configuration: one TOML file, all of it optional.
//!
//! ```toml
//! model = "claude-sonnet-4-5"
//! fallback_model = "openai:gpt-5-mini"
//! summary_model = "haiku"
//! effort = "high"
//! max_tokens = 4096
//! temperature = 0.2
//! cache_lifetime = "1h"
//! stop_sequences = { "\nUser:" = "reprompt", "\n---END---" = "finish" }
//! store = "/var/lib/windlass/windlass.db"
//!
//! [providers.lab]
//! format = "openai_chat"
//! base_url = "http://127.0.0.1:8000/v1"
//!
//! [models.my-model]
//! window_tokens = 32000
//!
//! [keep]
//! raw_days = 30
//! trace_days = 400
//! no_raw_of = ["a-tenant"]
//!
//! [tools.set_colors]
//! description = "Sets the colors of the site"
//! argv = ["./tools/set-colors", "--primary={primary}"]
//! input = { primary = "string" }
//!
//! [profiles.careful]
//! limits = { tool_rounds = 20 }
//! budget_usd = 0.5
//! conversation_budget_usd = 2.0
//! profile_budget_usd = 50.0
//! profile_budget_period = "month"
//! checklist = { "Write|Edit" = 1 }
//! window = { thresholds = { compact = 60 } }
//! durability = "strict"
//! ```

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use anyhow::{Context, bail};
use serde::Deserialize;
use windlass::RetentionPolicy;
use windlass::core::budget::spending::{BudgetPeriod, UnpricedPolicy};
use windlass::core::settings::conversation_settings::{DurabilityMode, ResumePolicy};
use windlass::models::{ModelOverride, ProviderOverride, ProviderTable};
use windlass::tools::{CommandToolConfig, CommandToolName, read_following_links};

use super::model_controls::with_model_controls;
use super::paths;
use super::sandbox_settings::SandboxConfig;
use super::web_tools::WebConfig;
use crate::exit::OrUsageError;

/// Maximum size of the file in bytes.
const MAX_FILE_BYTES: u64 = 1 << 20;

with_model_controls! {
    /// The content of `config.toml`.
    #[derive(Debug, Clone, Default, Deserialize)]
    #[serde(deny_unknown_fields, default)]
    pub(crate) struct Config {
        /// The model for model calls.
        pub(crate) model: Option<String>,
        /// The fallback model.
        pub(crate) fallback_model: Option<String>,
        /// The model that writes summaries.
        pub(crate) summary_model: Option<String>,
        /// The store location.
        pub(crate) store: Option<PathBuf>,
        /// Providers that the user adds or changes.
        pub(crate) providers: BTreeMap<String, ProviderOverride>,
        /// Overrides of what models can do and cost, for models that the built-in table lacks or
        /// has wrong.
        pub(crate) models: BTreeMap<String, ModelOverride>,
        /// Retention of data that no conversation needs.
        pub(crate) keep: RetentionConfig,
        /// The sandbox of commands and hooks.
        pub(crate) sandbox: SandboxConfig,
        /// The session at a terminal.
        pub(crate) terminal: TerminalConfig,
        /// Profiles by name.
        pub(crate) profiles: BTreeMap<String, ProfileConfig>,
        /// How agents use the web.
        pub(crate) web: WebConfig,
        /// Command tools by name.
        pub(crate) tools: BTreeMap<CommandToolName, CommandToolConfig>,
    }
}

/// The session at a terminal.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct TerminalConfig {
    /// How the terminal is told that a run has ended or asks something.
    pub(crate) notifications: NotificationKind,
}

/// How the terminal is told to notify.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum NotificationKind {
    /// What the terminal understands, as far as its variables tell.
    #[default]
    Auto,
    /// The bell.
    Bell,
    /// `OSC 9`: iTerm2, WezTerm, Ghostty, Windows Terminal.
    Osc9,
    /// `OSC 777`: foot, urxvt.
    Osc777,
    /// Nothing.
    Off,
}

/// Retention of data that no conversation needs; keys that are not set have defaults.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct RetentionConfig {
    /// Days that raw responses are kept.
    pub(crate) raw_days: Option<u32>,
    /// Days that rows of the trace and events are kept.
    pub(crate) trace_days: Option<u32>,
    /// Tenants whose raw responses are not kept at all.
    pub(crate) no_raw_of: BTreeSet<String>,
}

impl RetentionConfig {
    /// The retention policy, with defaults for keys that are not set.
    pub(crate) fn to_policy(&self) -> RetentionPolicy {
        let usual = RetentionPolicy::default();
        RetentionPolicy {
            raw_days: self.raw_days.unwrap_or(usual.raw_days),
            trace_days: self.trace_days.unwrap_or(usual.trace_days),
            tenants_without_raw: self
                .no_raw_of
                .iter()
                .map(|tenant| tenant.as_str().into())
                .collect(),
        }
    }
}

with_model_controls! {
    /// A profile: a named set of limits and model controls.
    #[derive(Debug, Clone, Default, Deserialize)]
    #[serde(deny_unknown_fields, default)]
    pub(crate) struct ProfileConfig {
        /// Limits that differ from the defaults.
        pub(crate) limits: BTreeMap<String, toml::Value>,
        /// Time limits that differ from the defaults: `soft_ms`, `hard_ms`, `grace_ms`.
        pub(crate) times: BTreeMap<String, toml::Value>,
        /// Dollars one run may cost.
        pub(crate) budget_usd: Option<f64>,
        /// Tokens one run may use.
        pub(crate) budget_tokens: Option<u64>,
        /// Dollars one model call may cost.
        pub(crate) call_budget_usd: Option<f64>,
        /// Tokens one model call may use.
        pub(crate) call_budget_tokens: Option<u64>,
        /// Dollars all runs of a conversation may cost together.
        pub(crate) conversation_budget_usd: Option<f64>,
        /// Tokens all runs of a conversation may use together.
        pub(crate) conversation_budget_tokens: Option<u64>,
        /// Dollars all conversations of the profile may cost together, in all processes on the
        /// store.
        pub(crate) profile_budget_usd: Option<f64>,
        /// Tokens all conversations of the profile may use together.
        pub(crate) profile_budget_tokens: Option<u64>,
        /// When the spending of the profile is reset: `day`, `month` (both UTC), or `total`.
        pub(crate) profile_budget_period: BudgetPeriod,
        /// Whether a human is asked when the budget is used up.
        pub(crate) ask_at_cap: bool,
        /// How a budget in dollars treats a model without a price: `refuse`, or `free` to count
        /// nothing.
        pub(crate) unpriced: UnpricedPolicy,
        /// How often each tool must have succeeded before an answer is accepted.
        pub(crate) checklist: BTreeMap<String, u32>,
        /// A command that must succeed before an answer is accepted.
        pub(crate) gate_command: Option<String>,
        /// A statement that a judge model must confirm before an answer is accepted.
        pub(crate) gate_judge: Option<String>,
        /// What workers do with an interrupted run of this profile: `automatic`, or `manual` to
        /// wait for `windlass resume`.
        pub(crate) resume: Option<ResumePolicy>,
        /// The model of the profile.
        pub(crate) model: Option<String>,
        /// The model that writes summaries for the profile.
        pub(crate) summary_model: Option<String>,
        /// From when on its context is compacted: `thresholds`, in per cent.
        pub(crate) window: BTreeMap<String, toml::Value>,
        /// Tools that may be called any number of times with differing arguments (exempt from loop
        /// checks).
        pub(crate) exempt_tools: Vec<String>,
        /// The tool that a model which repeats itself is made to call.
        pub(crate) lookup_tool: Option<String>,
        /// The tool with which the model asks a human.
        pub(crate) ask_tool: Option<String>,
        /// When an append waits for the disk: `scheduled`, or `strict` for always.
        pub(crate) durability: Option<DurabilityMode>,
    }
}

/// Reads the file; a missing file is an empty configuration, an invalid one an error.
pub(crate) fn read() -> anyhow::Result<Config> {
    read_file().or_usage_error()
}

fn read_file() -> anyhow::Result<Config> {
    let Some(path) = paths::config_path() else { return Ok(Config::default()) };
    let begun = read_following_links(&path, MAX_FILE_BYTES);
    let text = begun.and_then(|begun| begun.map(|b| b.into_text(MAX_FILE_BYTES)).transpose());
    let text =
        text.map_err(|why| anyhow::anyhow!("the configuration file {} {why}", path.display()))?;
    let Some(text) = text else { return Ok(Config::default()) };
    let config: Config = toml::from_str(&text).map_err(|error: toml::de::Error| {
        let at = error.span().and_then(|span| text.get(..span.start)).unwrap_or_default();
        let line = at.matches('\n').count() + 1;
        let (path, reason) =
            (path.display(), error.message().lines().collect::<Vec<_>>().join(" "));
        anyhow::anyhow!("{path} is not valid (line {line}: {reason}); fix it")
    })?;
    // An unusable provider is an error even if no model of it was chosen.
    ProviderTable::built_in()
        .with_overrides(&config.providers)
        .with_context(|| format!("{} is not valid", path.display()))?;
    Ok(config)
}

impl Config {
    /// The names of all profiles, including the built-in ones.
    pub(crate) fn profile_names(&self) -> BTreeSet<&str> {
        let own = self.profiles.keys().map(String::as_str);
        own.chain(["default", "builder", "router"]).collect()
    }

    /// Finds the profile of this name; three profiles are built in.
    pub(crate) fn find_profile(&self, name: Option<&str>) -> anyhow::Result<ProfileConfig> {
        let name = name.unwrap_or("default");
        match (self.profiles.get(name), name) {
            (Some(profile), _) => Ok(profile.clone()),
            (None, "default") => Ok(ProfileConfig::default()),
            (None, "builder") => Ok(builder_profile()),
            (None, "router") => Ok(router_profile()),
            (None, _) => {
                let known: Vec<&str> = self.profiles.keys().map(String::as_str).collect();
                bail!(
                    "unknown profile `{name}`; use default, builder, router{}{}",
                    if known.is_empty() { "" } else { ", " },
                    known.join(", ")
                )
            }
        }
    }
}

/// The profile `builder`: an agent that plans and writes, and has time for it.
fn builder_profile() -> ProfileConfig {
    ProfileConfig {
        limits: integer_table([("tool_rounds", 50)]),
        checklist: tool_counts([("TodoWrite", 1), ("Write|Edit", 1)]),
        ..ProfileConfig::default()
    }
}

/// The profile `router`: an agent that passes a request on to the one who can answer it, in short
/// runs.
fn router_profile() -> ProfileConfig {
    ProfileConfig {
        limits: integer_table([("tool_rounds", 12), ("model_calls", 34)]),
        times: integer_table([("soft_ms", 300_000), ("hard_ms", 420_000)]),
        checklist: tool_counts([("Agent", 1)]),
        ..ProfileConfig::default()
    }
}

fn integer_table<const N: usize>(values: [(&str, i64); N]) -> BTreeMap<String, toml::Value> {
    values.map(|(name, value)| (name.to_owned(), toml::Value::Integer(value))).into()
}

fn tool_counts<const N: usize>(tools: [(&str, u32); N]) -> BTreeMap<String, u32> {
    tools.map(|(tool, times)| (tool.to_owned(), times)).into()
}
