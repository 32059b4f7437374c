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
use windlass::Keeping;
use windlass::core::budget::{Period, Unpriced};
use windlass::core::settings::{DurabilityMode, ResumePolicy};
use windlass::models::{ModelRow, ProviderRow, Providers};
use windlass::tools::read_linked;

use super::controls::with_model_controls;
use super::paths;
use crate::exit::OrUsageError;

/// Bytes of the file.
const FILE_BYTES: u64 = 1 << 20;

with_model_controls! {
    /// The file.
    #[derive(Debug, Clone, Default, Deserialize)]
    #[serde(deny_unknown_fields, default)]
    pub(crate) struct Config {
        /// The model to ask.
        pub(crate) model: Option<String>,
        /// The model to fall back on.
        pub(crate) fallback_model: Option<String>,
        /// The model that sums up.
        pub(crate) summary_model: Option<String>,
        /// Where conversations live.
        pub(crate) store: Option<PathBuf>,
        /// Providers of the user's own.
        pub(crate) providers: BTreeMap<String, ProviderRow>,
        /// What models can do and cost, where our table is wrong or silent.
        pub(crate) models: BTreeMap<String, ModelRow>,
        /// How long is kept what no conversation needs.
        pub(crate) keep: Keep,
        /// Profiles by name.
        pub(crate) profiles: BTreeMap<String, Profile>,
    }
}

/// How long is kept what no conversation needs; what is not said is as usual.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Keep {
    /// Days that raw responses are kept.
    pub(crate) raw_days: Option<u32>,
    /// Days that rows of the trace and events are kept.
    pub(crate) trace_days: Option<u32>,
    /// Tenants whose raw responses are not kept at all.
    pub(crate) no_raw_of: BTreeSet<String>,
}

impl Keep {
    /// With what is usual.
    pub(crate) fn settled(&self) -> Keeping {
        let usual = Keeping::default();
        Keeping {
            raw_days: self.raw_days.unwrap_or(usual.raw_days),
            trace_days: self.trace_days.unwrap_or(usual.trace_days),
            no_raw_of: self.no_raw_of.iter().map(|tenant| tenant.as_str().into()).collect(),
        }
    }
}

with_model_controls! {
    /// A set of limits with a name.
    #[derive(Debug, Clone, Default, Deserialize)]
    #[serde(deny_unknown_fields, default)]
    pub(crate) struct Profile {
        /// Limits that differ.
        pub(crate) limits: BTreeMap<String, toml::Value>,
        /// Times that differ: `soft_ms`, `hard_ms`, `grace_ms`.
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
        /// Dollars all conversations of the profile may cost together, in every process on the store.
        pub(crate) profile_budget_usd: Option<f64>,
        /// Tokens all conversations of the profile may use together.
        pub(crate) profile_budget_tokens: Option<u64>,
        /// When the spending of the profile is counted anew: `day`, `month` (both UTC), or `total`.
        pub(crate) profile_budget_period: Period,
        /// Whether a human is asked at the cap.
        pub(crate) ask_at_cap: bool,
        /// What a cap in dollars means for a model without a price: `refuse`, or `free` to count nothing.
        pub(crate) unpriced: Unpriced,
        /// Tools that must have worked so often before an answer counts.
        pub(crate) checklist: BTreeMap<String, u32>,
        /// A command that must succeed before an answer counts.
        pub(crate) gate_command: Option<String>,
        /// What a judge must find to be true of an answer before it counts.
        pub(crate) gate_judge: Option<String>,
        /// What workers do with a run of this profile that a dead process left: `automatic`, or
        /// `manual` to wait for `windlass resume`.
        pub(crate) resume: Option<ResumePolicy>,
        /// The model of the profile.
        pub(crate) model: Option<String>,
        /// The model that sums up for it.
        pub(crate) summary_model: Option<String>,
        /// From when on its context is kept small: `thresholds`, in per cent.
        pub(crate) window: BTreeMap<String, toml::Value>,
        /// Tools that may be called as often as they like with differing arguments.
        pub(crate) exempt_tools: Vec<String>,
        /// The tool a model that repeats itself is made to call.
        pub(crate) lookup_tool: Option<String>,
        /// The tool with which the model asks a person.
        pub(crate) ask_tool: Option<String>,
        /// When an append waits for the disk: `scheduled`, or `strict` for always.
        pub(crate) durability: Option<DurabilityMode>,
    }
}

/// Reads the file; one that does not exist says nothing. A file that is not valid was not understood.
pub(crate) fn read() -> anyhow::Result<Config> {
    read_file().or_usage_error()
}

fn read_file() -> anyhow::Result<Config> {
    let Some(path) = paths::config() else { return Ok(Config::default()) };
    let begun = read_linked(&path, FILE_BYTES);
    let text = begun.and_then(|begun| begun.map(|b| b.into_whole_text(FILE_BYTES)).transpose());
    let text = text.map_err(|why| anyhow::anyhow!("the configuration {} {why}", path.display()))?;
    let Some(text) = text else { return Ok(Config::default()) };
    let config: Config = toml::from_str(&text).map_err(|error: toml::de::Error| {
        let at = error.span().and_then(|span| text.get(..span.start)).unwrap_or_default();
        let line = at.matches('\n').count() + 1;
        let (path, why) = (path.display(), error.message().lines().collect::<Vec<_>>().join(" "));
        anyhow::anyhow!("{path} is not valid (line {line}: {why}); fix it")
    })?;
    // A provider that cannot be asked is told whether or not a model of it was chosen.
    Providers::built_in()
        .with_rows(&config.providers)
        .with_context(|| format!("{} is not valid", path.display()))?;
    Ok(config)
}

impl Config {
    /// The names of all profiles, those that exist without being written down among them.
    pub(crate) fn profile_names(&self) -> BTreeSet<&str> {
        let own = self.profiles.keys().map(String::as_str);
        own.chain(["default", "builder", "router"]).collect()
    }

    /// The profile of this name. Three exist without being written down.
    pub(crate) fn profile(&self, name: Option<&str>) -> anyhow::Result<Profile> {
        let name = name.unwrap_or("default");
        match (self.profiles.get(name), name) {
            (Some(profile), _) => Ok(profile.clone()),
            (None, "default") => Ok(Profile::default()),
            (None, "builder") => Ok(builder()),
            (None, "router") => Ok(router()),
            (None, _) => {
                let known: Vec<&str> = self.profiles.keys().map(String::as_str).collect();
                bail!(
                    "there is no profile `{name}`; use default, builder, router{}{}",
                    if known.is_empty() { "" } else { ", " },
                    known.join(", ")
                )
            }
        }
    }
}

/// The profile of an agent that makes something: it plans, writes, and has time for it.
fn builder() -> Profile {
    Profile {
        limits: numbers([("tool_rounds", 50)]),
        checklist: counts([("TodoWrite", 1), ("Write|Edit", 1)]),
        ..Profile::default()
    }
}

/// The profile of an agent that hands a request to the one who can answer it: short runs.
fn router() -> Profile {
    Profile {
        limits: numbers([("tool_rounds", 12), ("model_calls", 34)]),
        times: numbers([("soft_ms", 300_000), ("hard_ms", 420_000)]),
        checklist: counts([("Agent", 1)]),
        ..Profile::default()
    }
}

fn numbers<const N: usize>(values: [(&str, i64); N]) -> BTreeMap<String, toml::Value> {
    values.map(|(name, value)| (name.to_owned(), toml::Value::Integer(value))).into()
}

fn counts<const N: usize>(tools: [(&str, u32); N]) -> BTreeMap<String, u32> {
    tools.map(|(tool, times)| (tool.to_owned(), times)).into()
}
