//! What a conversation runs with. Recorded in its log, because decisions read it.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::budget::{Budget, Price};
use crate::gate::{Gate, Output};
use crate::limits::{Limits, Times};
use crate::permission::{Mode, Permissions};
use crate::raw::{Raw, sha256_hex};
use crate::window::Window;
use crate::words;

/// The settings of a conversation.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Settings {
    /// Which registered set of tools and prompt drives it.
    pub agent: Arc<str>,
    /// The profile that its limits come from; empty if none was chosen.
    #[serde(default, skip_serializing_if = "str::is_empty")]
    pub profile: Arc<str>,
    /// The model and its bounds.
    pub model: Model,
    /// The system prompt.
    pub system: Arc<str>,
    /// The tools offered, in order.
    pub tools: Vec<ToolSpec>,
    /// What may run.
    pub rules: Permissions,
    /// Bounds.
    pub limits: Limits,
    /// What each stop string means.
    pub stop_map: BTreeMap<Arc<str>, StopAction>,
    /// How long a run may be at work. A conversation that is older than such limits has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub times: Option<Times>,
    /// Which hook points have somebody listening.
    pub hooks: HookPoints,
    /// Whether every commit waits for the disk.
    #[serde(default)]
    pub durability: DurabilityMode,
    /// How the context is kept small.
    #[serde(default)]
    pub window: Window,
    /// Who watches for circles.
    #[serde(default)]
    pub guards: Guards,
    /// What an answer must fulfil.
    #[serde(default)]
    pub gate: Gate,
    /// How an answer that fits a schema is given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output: Option<Output>,
    /// What may be spent.
    #[serde(default)]
    pub budget: Budget,
    /// The model to ask when the first one stays down.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fallback: Option<Model>,
    /// How the model is to think.
    #[serde(default)]
    pub thinking: Thinking,
    /// How freely the model chooses its words; the provider decides if not said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub temperature: Option<Temperature>,
    /// How long the provider keeps the prompt in its cache; the adapter decides if not said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache: Option<CacheLifetime>,
    /// How deep the conversation stands below one that is nobody's child.
    #[serde(default)]
    pub depth: u8,
    /// What the user's and the project's files say: put before the first message, and said again
    /// when it changed.
    #[serde(default, skip_serializing_if = "str::is_empty")]
    pub user_context: Arc<str>,
    /// What becomes of its runs when their process dies.
    #[serde(default, skip_serializing_if = "ResumePolicy::is_automatic")]
    pub resume: ResumePolicy,
}

/// What becomes of a run whose process died, if it can be resumed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ResumePolicy {
    /// A worker resumes it.
    #[default]
    Automatic,
    /// It waits for a person to resume it.
    Manual,
}

impl ResumePolicy {
    /// The name of the policy, as it is stored.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Automatic => "automatic",
            Self::Manual => "manual",
        }
    }

    /// The policy of a stored name. A name that is not known is the careful one.
    #[must_use]
    pub fn from_name(name: &str) -> Self {
        if name == "automatic" { Self::Automatic } else { Self::Manual }
    }

    /// Whether a worker resumes the run by itself.
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks with a reference")]
    pub(crate) fn is_automatic(&self) -> bool {
        *self == Self::Automatic
    }
}

/// A sampling temperature between 0 and 2, in thousandths: settings are compared and hashed, which
/// floating-point numbers are not.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "u16", into = "u16")]
pub struct Temperature(u16);

/// A temperature that no provider takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a temperature must be between 0 and 2, such as 0.7")]
pub struct BadTemperature;

impl Temperature {
    const MOST_THOUSANDTHS: u16 = 2_000;

    /// The temperature of a number, rounded to thousandths.
    ///
    /// # Errors
    ///
    /// If the number is not between 0 and 2.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "checked to be a small number that is not negative"
    )]
    pub fn new(temperature: f64) -> Result<Self, BadTemperature> {
        let fits = (0.0..=2.0).contains(&temperature);
        fits.then(|| Self((temperature * 1_000.0).round() as u16)).ok_or(BadTemperature)
    }

    /// The number, as requests have it.
    #[must_use]
    pub fn as_f64(self) -> f64 {
        f64::from(self.0) / 1_000.0
    }
}

impl TryFrom<u16> for Temperature {
    type Error = BadTemperature;

    fn try_from(thousandths: u16) -> Result<Self, BadTemperature> {
        let fits = thousandths <= Self::MOST_THOUSANDTHS;
        fits.then_some(Self(thousandths)).ok_or(BadTemperature)
    }
}

impl From<Temperature> for u16 {
    fn from(temperature: Temperature) -> Self {
        temperature.0
    }
}

/// How long a provider keeps the prompt in its cache.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum CacheLifetime {
    /// Not marked for caching.
    #[serde(rename = "off")]
    Off,
    /// Five minutes.
    #[default]
    #[serde(rename = "5m")]
    FiveMinutes,
    /// An hour, at a higher price.
    #[serde(rename = "1h")]
    OneHour,
}

/// Loop detection. Its numbers are limits; it cannot be switched off.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Guards {
    /// Tools that may be called as often as they like with differing arguments. The same call with
    /// the same arguments counts for them too.
    pub exempt: Vec<Arc<str>>,
    /// The tool a model that goes in circles is made to call.
    pub lookup_tool: Option<Arc<str>>,
    /// The tool with which the model asks a person: it is made to call it when nothing else helps.
    pub ask_tool: Arc<str>,
}

/// The tool with which the model asks a person, unless the settings name another.
pub(crate) const ASK_TOOL: &str = "AskUserQuestion";

impl Default for Guards {
    fn default() -> Self {
        Self { exempt: Vec::new(), lookup_tool: None, ask_tool: Arc::from(ASK_TOOL) }
    }
}

/// How the model is to think.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Thinking {
    /// How hard; the provider decides if not said.
    pub effort: Option<Effort>,
    /// Tokens for thoughts; 0 switches them off, nothing leaves it to the model.
    pub budget_tokens: Option<u64>,
    /// Tokens the whole task may take, as the model is told.
    pub task_tokens: Option<u64>,
    /// Names of features that are not yet for everybody.
    pub betas: Vec<Arc<str>>,
}

/// How hard a model is to try.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Effort {
    /// Little.
    Low,
    /// Some.
    Medium,
    /// Much.
    High,
    /// Very much.
    Xhigh,
    /// All it can.
    Max,
}

impl Effort {
    /// The effort of a word such as `high`.
    #[must_use]
    pub fn named(word: &str) -> Option<Self> {
        match word {
            "low" => Some(Self::Low),
            "medium" => Some(Self::Medium),
            "high" => Some(Self::High),
            "xhigh" => Some(Self::Xhigh),
            "max" => Some(Self::Max),
            _ => None,
        }
    }
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
    /// What it costs; nobody knows if not said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub price: Option<Price>,
    /// Whether it can be made to call a certain tool.
    #[serde(default)]
    pub forcing: Forcing,
}

/// Whether a model can be made to call a certain tool.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Forcing {
    /// It can.
    #[default]
    Possible,
    /// The choice stays with the model; only the wanted tool is offered.
    Impossible,
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
    /// When a prompt begins a run.
    #[serde(default)]
    pub prompt: Listening,
    /// When an answer is complete.
    #[serde(default)]
    pub answer: Listening,
    /// Before room is made.
    #[serde(default)]
    pub compaction: Listening,
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
            profile: Arc::from(""),
            model,
            system: Arc::from(""),
            tools: Vec::new(),
            rules: Permissions::default(),
            limits: Limits::default(),
            stop_map: BTreeMap::from([
                (Arc::from("\nUser:"), drift),
                (Arc::from("\n---END---"), StopAction::Finish),
            ]),
            times: Some(Times::default()),
            hooks: HookPoints::default(),
            durability: DurabilityMode::Scheduled,
            window: Window::default(),
            guards: Guards::default(),
            gate: Gate::default(),
            output: None,
            budget: Budget::default(),
            fallback: None,
            thinking: Thinking::default(),
            temperature: None,
            cache: None,
            depth: 0,
            user_context: Arc::from(""),
            resume: ResumePolicy::Automatic,
        }
    }

    /// What the model is told about plan mode, if it is on.
    #[must_use]
    pub fn plan_note(&self) -> Option<&'static str> {
        let offered = || self.tools.iter().any(|tool| &*tool.name == words::EXIT_PLAN_MODE);
        match self.rules.mode {
            Mode::Plan if offered() => Some(words::PLAN_MODE),
            Mode::Plan | Mode::PlanNone => Some(words::PLAN_MODE_IN_WORDS),
            Mode::Default
            | Mode::AcceptEdits
            | Mode::DontAsk
            | Mode::Auto
            | Mode::BypassPermissions => None,
        }
    }

    /// Bytes of what the model is told before the conversation.
    #[must_use]
    pub fn prompt_bytes(&self) -> u64 {
        let tools = self.tools.iter().map(ToolSpec::bytes).sum::<usize>();
        let note = self.plan_note().map_or(0, str::len);
        (self.system.len() + tools + note) as u64
    }

    /// The texts of what the model is told before the conversation.
    pub(crate) fn prompt_texts(&self) -> impl Iterator<Item = &str> {
        let tools = self.tools.iter();
        let tools =
            tools.flat_map(|tool| [&*tool.name, &*tool.description, tool.input_schema.text()]);
        std::iter::once(&*self.system).chain(tools)
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
            price: None,
            forcing: Forcing::Possible,
        }
    }
}
