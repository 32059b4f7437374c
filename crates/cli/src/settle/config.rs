//! Our own configuration: one TOML file, all of it optional.
//!
//! ```toml
//! model = "claude-sonnet-4-5"
//! fallback_model = "openai:gpt-5-mini"
//! summary_model = "claude-haiku-4-5"
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
//! checklist = { Write = 1 }
//! window = { thresholds = { compact = 60 }, collapse = "off" }
//! ```

use std::collections::{BTreeMap, BTreeSet};
use std::io::ErrorKind;
use std::path::PathBuf;

use anyhow::{Context, bail};
use serde::Deserialize;
use windlass::Keeping;
use windlass::core::budget::Unpriced;
use windlass::models::{ModelRow, ProviderRow};

use super::paths;

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
    /// The model of the profile.
    pub(crate) model: Option<String>,
    /// The model that sums up for it.
    pub(crate) summary_model: Option<String>,
    /// How its context is kept small, where that differs: `thresholds`, `snip`, `micro`, `collapse`,
    /// `auto`.
    pub(crate) window: BTreeMap<String, toml::Value>,
    /// Tools that may be called as often as they like.
    pub(crate) exempt_tools: Vec<String>,
    /// The tool a model that goes in circles is made to call.
    pub(crate) lookup_tool: Option<String>,
}

/// Reads the file; one that does not exist says nothing.
pub(crate) fn read() -> anyhow::Result<Config> {
    let Some(path) = paths::config() else { return Ok(Config::default()) };
    let text = match std::fs::read_to_string(&path) {
        Ok(text) => text,
        // A folder that is none is told by whoever wants to write into it.
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
            return Ok(Config::default());
        }
        Err(error) => {
            return Err(error)
                .with_context(|| format!("the configuration {} cannot be read", path.display()));
        }
    };
    toml::from_str(&text).map_err(|error: toml::de::Error| {
        let at = error.span().and_then(|span| text.get(..span.start)).unwrap_or_default();
        let line = at.matches('\n').count() + 1;
        let (path, why) = (path.display(), error.message().lines().collect::<Vec<_>>().join(" "));
        anyhow::anyhow!("{path} is not valid (line {line}: {why}); mend it")
    })
}

impl Config {
    /// The profile of this name. Three exist without being written down.
    pub(crate) fn profile(&self, name: Option<&str>) -> anyhow::Result<Profile> {
        let name = name.unwrap_or("default");
        match (self.profiles.get(name), name) {
            (Some(profile), _) => Ok(profile.clone()),
            (None, "default" | "builder") => Ok(Profile::default()),
            (None, "router") => {
                let limits = BTreeMap::from([("tool_rounds".to_owned(), toml::Value::Integer(12))]);
                Ok(Profile { limits, ..Profile::default() })
            }
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
