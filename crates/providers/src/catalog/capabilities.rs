//! Model capabilities and prices: a built-in table, the user's overrides, and limits learned from
//! provider errors.
//!
//! A model that is not in the table is an explicit state, not a guess: it has a default window and
//! no price, so that a budget in dollars can refuse to start.

use std::collections::{BTreeMap, HashMap};

use parking_lot::Mutex;
use serde::Deserialize;
use windlass_core::settings::conversation_settings::Effort;

use crate::catalog::overrides::ModelOverride;
use crate::catalog::prices::TokenPrices;

/// The built-in table.
const BUILT_IN_MODELS: &str = include_str!("models.json");

/// The window of an unknown model.
const DEFAULT_WINDOW_TOKENS: u64 = 128_000;

/// The output limit of an unknown model.
const DEFAULT_OUTPUT_TOKENS: u64 = 32_000;

/// The capabilities of a model.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ModelCapabilities {
    /// The name of the model, without a date.
    pub id: String,
    /// The context window: input and output together, in tokens.
    pub window_tokens: u64,
    /// The output limit, in tokens.
    pub max_output_tokens: u64,
    /// The kinds of thinking that it supports.
    #[serde(default)]
    pub thinking: Vec<ThinkingKind>,
    /// The efforts that it supports.
    #[serde(default)]
    pub efforts: Vec<Effort>,
    /// Whether it can be forced to call a tool.
    #[serde(default)]
    pub forced_choice: ForcedChoice,
    /// Whether stop strings are matched by the server or by the client.
    #[serde(default)]
    pub stop_strings: StopStringSupport,
    /// Whether it supports a task budget.
    #[serde(default)]
    pub task_budget: bool,
    /// Whether it loads deferred tools when a result refers to them.
    #[serde(default)]
    pub tool_search: bool,
    /// Whether it accepts a temperature.
    #[serde(default)]
    pub temperature: TemperatureSupport,
    /// The cheap model of its family, which summarises for it; `None` if it is the cheap one
    /// itself.
    #[serde(default)]
    pub summary_model: Option<String>,
    /// The prices of the model; `None` if unknown.
    #[serde(default)]
    pub prices: Option<TokenPrices>,
    /// The source of this row.
    #[serde(default)]
    pub source: String,
    /// The evidence for this row.
    #[serde(default)]
    pub evidence: Evidence,
}

/// The evidence for a row of the table.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Evidence {
    /// The provider's own documentation.
    Provider,
    /// Other publications: not verified.
    ThirdParty,
    /// Given by the user, or not verified at all.
    #[default]
    Unverified,
}

/// A kind of thinking.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ThinkingKind {
    /// The model decides how much to think.
    Adaptive,
    /// Thinking is limited to a number of tokens.
    Budget,
    /// Thinking cannot be switched off.
    Always,
    /// Switched off means: only between tool calls.
    BetweenTools,
    /// Thinking cannot be switched off above high effort.
    AlwaysAboveHighEffort,
}

/// Whether a model can be forced to call a tool.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ForcedChoice {
    /// The model can always be forced.
    #[default]
    Always,
    /// The model cannot be forced while it thinks with a budget.
    UnlessBudgetThinking,
    /// The model rejects such a request.
    Never,
}

/// Whether a model accepts a temperature.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TemperatureSupport {
    /// The model always accepts a temperature.
    #[default]
    Always,
    /// The model accepts no temperature while it thinks.
    UnlessThinking,
    /// The model rejects such a request.
    Never,
}

/// Whether stop strings are matched by the server or by the client.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StopStringSupport {
    /// The server matches stop strings and ends the output.
    #[default]
    Server,
    /// The server does not accept stop strings: the client matches them.
    Client,
}

/// What is known of a model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ModelKnowledge {
    /// The model is in the table.
    Known(ModelCapabilities),
    /// The model is not in the table: it has defaults and no price. A cap in dollars must refuse to
    /// start.
    Unknown(ModelCapabilities),
}

impl ModelKnowledge {
    /// Returns the capabilities to use.
    #[must_use]
    pub fn capabilities(&self) -> &ModelCapabilities {
        match self {
            Self::Known(abilities) | Self::Unknown(abilities) => abilities,
        }
    }

    /// Returns whether the table lists the model.
    #[must_use]
    pub fn is_listed(&self) -> bool {
        matches!(self, Self::Known(_))
    }

    /// Returns whether the output limit is more than a default.
    pub(crate) fn has_known_output_limit(&self) -> bool {
        match self {
            Self::Known(_) => true,
            Self::Unknown(abilities) => abilities.max_output_tokens != DEFAULT_OUTPUT_TOKENS,
        }
    }

    /// Returns the prices; `None` if they are unknown.
    #[must_use]
    pub fn prices(&self) -> Option<&TokenPrices> {
        self.capabilities().prices.as_ref()
    }
}

/// The table of all known models.
#[derive(Debug)]
pub struct CapabilityTable {
    models: HashMap<String, ModelCapabilities>,
    learned_limits: Mutex<HashMap<String, LearnedLimits>>,
}

/// Limits learned from a provider's error.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct LearnedLimits {
    /// The window, if it is smaller than the table says.
    pub window_tokens: Option<u64>,
    /// The output limit, if it is smaller than the table says.
    pub max_output_tokens: Option<u64>,
}

#[derive(Debug, Deserialize)]
struct ModelsFile {
    models: Vec<ModelCapabilities>,
}

impl CapabilityTable {
    /// Returns the built-in table.
    #[must_use]
    pub fn built_in() -> Self {
        // A test parses the file; a table that cannot be parsed has no model.
        let models = serde_json::from_str(BUILT_IN_MODELS).map(index_by_id).unwrap_or_default();
        Self { models, learned_limits: Mutex::default() }
    }

    /// Applies the user's rows. A row contains only what is different; a model that was not listed
    /// is listed from then on.
    #[must_use]
    pub fn with_overrides(mut self, rows: &BTreeMap<String, ModelOverride>) -> Self {
        for (id, row) in rows {
            let mut abilities = self.lookup(id).capabilities().clone();
            row.apply_to(id, &mut abilities);
            self.models.insert(id.clone(), abilities);
        }
        self
    }

    /// Looks a model up by its name, or by its name without the date suffix.
    #[must_use]
    pub fn lookup(&self, model: &str) -> ModelKnowledge {
        let row = self.models.get(model).or_else(|| self.models.get(strip_date(model)));
        let mut knowledge = match row {
            Some(abilities) => ModelKnowledge::Known(abilities.clone()),
            None => ModelKnowledge::Unknown(unknown_model_defaults(model)),
        };
        let learned = self.learned_limits.lock();
        if let Some(learned) = learned.get(model) {
            knowledge.apply_learned_limits(*learned);
        }
        knowledge
    }

    /// Returns the newest model of a family: `sonnet` is the `claude-sonnet-…` with the highest
    /// version.
    #[must_use]
    pub fn newest_in_family(&self, family: &str) -> Option<&str> {
        let plain = !family.is_empty() && family.bytes().all(|byte| byte.is_ascii_lowercase());
        let prefix = format!("claude-{family}-");
        let ids = self.models.keys().filter(|_| plain);
        let versions = ids.filter_map(|id| Some((parse_version(id.strip_prefix(&prefix)?)?, id)));
        versions.max().map(|(_, id)| id.as_str())
    }

    /// Returns every model of the table, by name.
    #[must_use]
    pub fn all_models(&self) -> Vec<&ModelCapabilities> {
        let mut listed: Vec<&ModelCapabilities> = self.models.values().collect();
        listed.sort_by(|one, other| one.id.cmp(&other.id));
        listed
    }

    /// Records limits from a provider's error, for this process.
    pub fn record_learned_limits(&self, model: &str, lesson: LearnedLimits) {
        let mut learned = self.learned_limits.lock();
        let known = learned.entry(model.to_owned()).or_default();
        known.window_tokens = lesson.window_tokens.or(known.window_tokens);
        known.max_output_tokens = lesson.max_output_tokens.or(known.max_output_tokens);
    }
}

impl ModelKnowledge {
    fn apply_learned_limits(&mut self, learned: LearnedLimits) {
        let (Self::Known(abilities) | Self::Unknown(abilities)) = self;
        let least = |known: u64, said: Option<u64>| said.map_or(known, |said| known.min(said));
        abilities.window_tokens = least(abilities.window_tokens, learned.window_tokens);
        abilities.max_output_tokens = least(abilities.max_output_tokens, learned.max_output_tokens);
    }
}

/// Parses the numbers of a version such as `4-5`; a name with anything else in it is not a version.
fn parse_version(text: &str) -> Option<Vec<u32>> {
    text.split('-').map(|number| number.parse().ok()).collect()
}

fn index_by_id(table: ModelsFile) -> HashMap<String, ModelCapabilities> {
    table.models.into_iter().map(|model| (model.id.clone(), model)).collect()
}

/// The capabilities of an unknown model. Its server is called as the options say: it decides what
/// it supports.
fn unknown_model_defaults(model: &str) -> ModelCapabilities {
    ModelCapabilities {
        id: model.to_owned(),
        window_tokens: DEFAULT_WINDOW_TOKENS,
        max_output_tokens: DEFAULT_OUTPUT_TOKENS,
        thinking: vec![ThinkingKind::Adaptive, ThinkingKind::Budget],
        efforts: Vec::new(),
        forced_choice: ForcedChoice::Always,
        stop_strings: StopStringSupport::Server,
        task_budget: false,
        tool_search: false,
        temperature: TemperatureSupport::Always,
        summary_model: None,
        prices: None,
        source: "unknown".to_owned(),
        evidence: Evidence::Unverified,
    }
}

/// Strips the date from names like `claude-haiku-4-5-20251001`, `…@20251001` and
/// `gpt-5-2025-08-07`.
fn strip_date(model: &str) -> &str {
    let name = model.rsplit('/').next().unwrap_or(model);
    let end = name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '-' || c == '@');
    let date: String =
        name.get(end.len()..).unwrap_or_default().chars().filter(char::is_ascii_digit).collect();
    // The version may stand right before the date: only the last eight digits are the date.
    if date.len() < 8 {
        return name.strip_suffix("-latest").unwrap_or(name);
    }
    let mut digits = 0;
    let cut = name.char_indices().rev().find(|(_, c)| {
        digits += usize::from(c.is_ascii_digit());
        digits == 8
    });
    let cut = cut.map_or(name.len(), |(at, _)| at);
    name.get(..cut).unwrap_or(name).trim_end_matches(['-', '@'])
}
