//! What models can do and what they cost: a data file, what the user says, and what providers'
//! errors taught.
//!
//! A model nobody knows is an explicit state, not a guess: it has a default window and no price,
//! and whoever counts dollars can see that.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Mutex, PoisonError};

use serde::Deserialize;
use windlass_core::settings::Effort;

use crate::overrides::ModelRow;
use crate::prices::Prices;

/// The table of the repository.
const BUILT_IN: &str = include_str!("models.json");

/// The window of a model nothing is known of.
const DEFAULT_WINDOW_TOKENS: u64 = 128_000;

/// The output limit of a model nothing is known of.
const DEFAULT_OUTPUT_TOKENS: u64 = 32_000;

/// What a model can do.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Abilities {
    /// The model, without a date.
    pub id: String,
    /// Input and output together.
    pub window_tokens: u64,
    /// Output alone.
    pub most_output_tokens: u64,
    /// The ways it can think.
    #[serde(default)]
    pub thinking: Vec<ThinkingKind>,
    /// The efforts it knows.
    #[serde(default)]
    pub efforts: Vec<Effort>,
    /// Whether it can be made to call a tool.
    #[serde(default)]
    pub forced_choice: ForcedChoice,
    /// Who looks out for stop strings.
    #[serde(default)]
    pub stop_strings: StopStrings,
    /// Whether it can be told of a task budget.
    #[serde(default)]
    pub task_budget: bool,
    /// Whether it takes a temperature.
    #[serde(default)]
    pub temperature: TemperatureControl,
    /// The cheap model of its family, which sums up for it; nothing if it is the cheap one itself.
    #[serde(default)]
    pub summary_model: Option<String>,
    /// What it costs; nothing if nobody knows.
    #[serde(default)]
    pub prices: Option<Prices>,
    /// Where this was read.
    #[serde(default)]
    pub source: String,
    /// Whose word it is.
    #[serde(default)]
    pub evidence: Evidence,
}

/// Whose word a row is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Evidence {
    /// The provider's own pages.
    Provider,
    /// What others wrote of them: not verified.
    Others,
    /// The user's, or nobody's.
    #[default]
    Nobody,
}

/// A way of thinking.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ThinkingKind {
    /// As much as it finds right.
    Adaptive,
    /// Up to a number of tokens.
    Budget,
    /// It cannot be turned off.
    Always,
    /// Turned off means: only between calls.
    BetweenTools,
    /// It cannot be turned off above high effort.
    HardAlways,
}

/// Whether a model can be made to call a tool.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ForcedChoice {
    /// It can.
    #[default]
    Always,
    /// Not while it thinks by budget.
    UnlessBudgetThinking,
    /// It refuses such a request.
    Never,
}

/// Whether a model takes a temperature.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TemperatureControl {
    /// It does.
    #[default]
    Sent,
    /// Not while it thinks.
    UnlessThinking,
    /// It refuses such a request.
    Never,
}

/// Who looks out for stop strings.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StopStrings {
    /// The server is told, and ends the output.
    #[default]
    Sent,
    /// The server does not take them: we watch.
    Watched,
}

/// What is known of a model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Knowledge {
    /// It is in the table.
    Known(Abilities),
    /// It is not: defaults, and no price. A dollar cap must refuse to start.
    Unknown(Abilities),
}

impl Knowledge {
    /// The abilities to go by.
    #[must_use]
    pub fn abilities(&self) -> &Abilities {
        match self {
            Self::Known(abilities) | Self::Unknown(abilities) => abilities,
        }
    }

    /// Whether the output limit is more than a default.
    pub(crate) fn knows_output_limit(&self) -> bool {
        match self {
            Self::Known(_) => true,
            Self::Unknown(abilities) => abilities.most_output_tokens != DEFAULT_OUTPUT_TOKENS,
        }
    }

    /// The prices; nothing if nobody knows them.
    #[must_use]
    pub fn prices(&self) -> Option<&Prices> {
        self.abilities().prices.as_ref()
    }
}

/// All models that are known.
#[derive(Debug)]
pub struct Capabilities {
    models: HashMap<String, Abilities>,
    learned: Mutex<HashMap<String, Learned>>,
}

/// What a provider's error taught.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Learned {
    /// The window, if it is smaller than was thought.
    pub window_tokens: Option<u64>,
    /// The output limit, if it is smaller than was thought.
    pub most_output_tokens: Option<u64>,
}

#[derive(Debug, Deserialize)]
struct Table {
    models: Vec<Abilities>,
}

impl Capabilities {
    /// The table of the repository.
    #[must_use]
    pub fn built_in() -> Self {
        // A test reads the file; a table that cannot be read knows no model.
        let models = serde_json::from_str(BUILT_IN).map(by_id).unwrap_or_default();
        Self { models, learned: Mutex::default() }
    }

    /// Puts a user's rows over it. A row says only what is different; a model that was not listed
    /// is listed from now on.
    #[must_use]
    pub fn with_rows(mut self, rows: &BTreeMap<String, ModelRow>) -> Self {
        for (id, row) in rows {
            let mut abilities = self.of(id).abilities().clone();
            row.put_over(id, &mut abilities);
            self.models.insert(id.clone(), abilities);
        }
        self
    }

    /// What is known of a model: its own row, or the row of its name without a date.
    #[must_use]
    pub fn of(&self, model: &str) -> Knowledge {
        let row = self.models.get(model).or_else(|| self.models.get(without_date(model)));
        let mut knowledge = match row {
            Some(abilities) => Knowledge::Known(abilities.clone()),
            None => Knowledge::Unknown(unknown(model)),
        };
        let learned = self.learned.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(learned) = learned.get(model) {
            knowledge.narrow(*learned);
        }
        knowledge
    }

    /// The newest model of a family: `sonnet` is the `claude-sonnet-…` with the highest version.
    #[must_use]
    pub fn newest_of(&self, family: &str) -> Option<&str> {
        let plain = !family.is_empty() && family.bytes().all(|byte| byte.is_ascii_lowercase());
        let prefix = format!("claude-{family}-");
        let ids = self.models.keys().filter(|_| plain);
        let versions = ids.filter_map(|id| Some((version(id.strip_prefix(&prefix)?)?, id)));
        versions.max().map(|(_, id)| id.as_str())
    }

    /// Every model of the table, by name.
    #[must_use]
    pub fn listed(&self) -> Vec<&Abilities> {
        let mut listed: Vec<&Abilities> = self.models.values().collect();
        listed.sort_by(|one, other| one.id.cmp(&other.id));
        listed
    }

    /// Remembers what a provider's error said, for this process.
    pub fn learn(&self, model: &str, lesson: Learned) {
        let mut learned = self.learned.lock().unwrap_or_else(PoisonError::into_inner);
        let known = learned.entry(model.to_owned()).or_default();
        known.window_tokens = lesson.window_tokens.or(known.window_tokens);
        known.most_output_tokens = lesson.most_output_tokens.or(known.most_output_tokens);
    }
}

impl Knowledge {
    fn narrow(&mut self, learned: Learned) {
        let (Self::Known(abilities) | Self::Unknown(abilities)) = self;
        let least = |known: u64, said: Option<u64>| said.map_or(known, |said| known.min(said));
        abilities.window_tokens = least(abilities.window_tokens, learned.window_tokens);
        abilities.most_output_tokens =
            least(abilities.most_output_tokens, learned.most_output_tokens);
    }
}

/// The numbers of a version such as `4-5`; a name with anything else in it is no version.
fn version(text: &str) -> Option<Vec<u32>> {
    text.split('-').map(|number| number.parse().ok()).collect()
}

fn by_id(table: Table) -> HashMap<String, Abilities> {
    table.models.into_iter().map(|model| (model.id.clone(), model)).collect()
}

/// Servers of unknown models are asked as the options say: they know best what they can do.
fn unknown(model: &str) -> Abilities {
    Abilities {
        id: model.to_owned(),
        window_tokens: DEFAULT_WINDOW_TOKENS,
        most_output_tokens: DEFAULT_OUTPUT_TOKENS,
        thinking: vec![ThinkingKind::Adaptive, ThinkingKind::Budget],
        efforts: Vec::new(),
        forced_choice: ForcedChoice::Always,
        stop_strings: StopStrings::Sent,
        task_budget: false,
        temperature: TemperatureControl::Sent,
        summary_model: None,
        prices: None,
        source: "unknown".to_owned(),
        evidence: Evidence::Nobody,
    }
}

/// `claude-haiku-4-5-20251001`, `…@20251001` and `gpt-5-2025-08-07` are models with a date.
fn without_date(model: &str) -> &str {
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
