//! Settings of a conversation. Recorded in its log, because decisions read them.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::budget::spending::{Budget, ModelPrice};
use crate::context::WindowSettings;
use crate::guard::completion_gate::{CompletionGate, StructuredOutputTool};
use crate::message::loaded_tools::LoadedTools;
use crate::message::prompt_texts;
use crate::message::raw_json::{RawJson, sha256_hex};
use crate::permission::{PermissionMode, Permissions};
use crate::settings::limits::{Limits, RunTimeLimits};
use crate::settings::server_tools::is_server_tool;

pub use crate::settings::temperature::{InvalidTemperature, Temperature};

/// The settings of a conversation.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Settings {
    /// The registered agent (tools and prompt) that drives the conversation.
    pub agent: Arc<str>,
    /// The profile that the limits come from; empty if none was chosen.
    #[serde(default, skip_serializing_if = "str::is_empty")]
    pub profile: Arc<str>,
    /// The model and its limits.
    pub model: ModelSpec,
    /// The system prompt.
    pub system: Arc<str>,
    /// The offered tools, in order.
    pub tools: Vec<ToolSpec>,
    /// Permissions: what may run.
    pub rules: Permissions,
    /// Limits of the loop.
    pub limits: Limits,
    /// What each stop string means.
    pub stop_map: BTreeMap<Arc<str>, StopAction>,
    /// Time limits of a run. A conversation that was created before time limits existed has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub times: Option<RunTimeLimits>,
    /// Which hook points have hooks; a point without hooks costs nothing.
    pub hooks: HookPoints,
    /// Whether every commit waits for the disk.
    #[serde(default)]
    pub durability: DurabilityMode,
    /// Settings of the context window.
    #[serde(default)]
    pub window: WindowSettings,
    /// Settings of loop detection.
    #[serde(default)]
    pub guards: LoopGuardSettings,
    /// Requirements for an answer.
    #[serde(default)]
    pub gate: CompletionGate,
    /// The tool for a structured answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output: Option<StructuredOutputTool>,
    /// Spending caps.
    #[serde(default)]
    pub budget: Budget,
    /// The fallback model, called when the first one stays down.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fallback: Option<ModelSpec>,
    /// Further fallback models, each called when the one before stays down.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub further_fallbacks: Vec<ModelSpec>,
    /// Settings of the model's thinking.
    #[serde(default)]
    pub thinking: ThinkingSettings,
    /// Sampling temperature; the provider decides if not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub temperature: Option<Temperature>,
    /// Lifetime of cached prompts; the adapter decides if not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache: Option<CacheLifetime>,
    /// Nesting depth below a top-level conversation.
    #[serde(default)]
    pub depth: u8,
    /// The user's and the project's files: inserted before the first message, and again when they
    /// changed.
    #[serde(default, skip_serializing_if = "str::is_empty")]
    pub user_context: Arc<str>,
    /// What happens to runs when their process dies.
    #[serde(default, skip_serializing_if = "ResumePolicy::is_automatic")]
    pub resume: ResumePolicy,
    /// What commands may touch, as the process that runs them states it. For people and reports:
    /// the kernel holds what it says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sandbox: Option<RawJson>,
}

/// What happens to a run whose process died, if it can be resumed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ResumePolicy {
    /// A worker resumes the run.
    #[default]
    Automatic,
    /// The run waits for a user to resume it.
    Manual,
}

impl ResumePolicy {
    /// Returns the name of the policy, as it is stored.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Automatic => "automatic",
            Self::Manual => "manual",
        }
    }

    /// Returns the policy of a stored name. An unknown name is the careful one (manual).
    #[must_use]
    pub fn from_name(name: &str) -> Self {
        if name == "automatic" { Self::Automatic } else { Self::Manual }
    }

    /// Returns whether a worker resumes the run by itself.
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks with a reference")]
    pub(crate) fn is_automatic(&self) -> bool {
        *self == Self::Automatic
    }
}

/// How long the provider keeps cached prompts.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum CacheLifetime {
    /// The prompt is not marked for caching.
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
pub struct LoopGuardSettings {
    /// Tools that may be called any number of times with different arguments. Identical calls count
    /// for them too.
    pub exempt: Vec<Arc<str>>,
    /// The tool that a model in a loop is forced to call.
    pub lookup_tool: Option<Arc<str>>,
    /// The tool with which the model asks the user: the model is forced to call it when nothing
    /// else helps.
    pub ask_tool: Arc<str>,
}

/// The default tool with which the model asks the user.
pub(crate) const DEFAULT_ASK_TOOL: &str = "AskUserQuestion";

impl Default for LoopGuardSettings {
    fn default() -> Self {
        Self { exempt: Vec::new(), lookup_tool: None, ask_tool: Arc::from(DEFAULT_ASK_TOOL) }
    }
}

/// Settings of the model's thinking.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ThinkingSettings {
    /// Effort; the provider decides if not given.
    pub effort: Option<Effort>,
    /// Token budget for thinking; 0 switches it off, `None` leaves it to the model.
    pub budget_tokens: Option<u64>,
    /// Task budget in tokens, as the model is told.
    pub task_tokens: Option<u64>,
    /// Names of beta features to enable.
    pub betas: Vec<Arc<str>>,
    /// How much of the thinking the provider sends; the provider decides if not given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub display: Option<ThinkingDisplay>,
}

/// How much of its thinking a model sends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ThinkingDisplay {
    /// A summary.
    Summarized,
    /// Nothing.
    Omitted,
    /// The important parts.
    Highlights,
}

/// Effort of a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Effort {
    /// Low effort.
    Low,
    /// Medium effort.
    Medium,
    /// High effort.
    High,
    /// Very high effort.
    Xhigh,
    /// Maximum effort.
    Max,
}

impl Effort {
    /// Returns the effort of a name such as `high`.
    #[must_use]
    pub fn from_name(word: &str) -> Option<Self> {
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

/// A model and its capabilities.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ModelSpec {
    /// Name of the model.
    pub name: Arc<str>,
    /// Output tokens that are requested at first.
    pub max_tokens: u64,
    /// Maximum output tokens of the model.
    pub max_output_tokens: u64,
    /// Context window of the model.
    pub window_tokens: u64,
    /// Price of the model, if known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub price: Option<ModelPrice>,
    /// Whether the model can be forced to call a certain tool.
    #[serde(default)]
    pub forcing: ToolForcing,
}

/// Whether a model can be forced to call a certain tool.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ToolForcing {
    /// The model can be forced.
    #[default]
    Supported,
    /// The model chooses freely; only the required tool is offered.
    Unsupported,
}

/// A tool as offered to the model.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ToolSpec {
    /// Name of the tool.
    pub name: Arc<str>,
    /// Description of the tool.
    pub description: Arc<str>,
    /// JSON Schema of the arguments.
    pub input_schema: RawJson,
}

/// The meaning of a matched stop string.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StopAction {
    /// The run finishes normally.
    Finish,
    /// The output is dropped and requested again.
    Reprompt {
        /// Reason, as recorded.
        reason: Arc<str>,
    },
    /// The model continues.
    Continue,
}

/// Which hook points have hooks; a point without hooks costs nothing.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HookPoints {
    /// Hooks before a tool call is authorised.
    pub before_tool: HookPresence,
    /// Hooks after a tool call returned.
    pub after_tool: HookPresence,
    /// Hooks when a prompt starts a run.
    #[serde(default)]
    pub prompt: HookPresence,
    /// Hooks when an answer is complete.
    #[serde(default)]
    pub answer: HookPresence,
    /// Hooks before a compaction.
    #[serde(default)]
    pub compaction: HookPresence,
}

impl HookPoints {
    /// Returns the points with hooks everywhere.
    #[must_use]
    pub fn all() -> Self {
        let present = HookPresence::Present;
        Self {
            before_tool: present,
            after_tool: present,
            prompt: present,
            answer: present,
            compaction: present,
        }
    }

    /// Returns the points that have hooks here or in `other`.
    #[must_use]
    pub fn union(self, other: Self) -> Self {
        Self {
            before_tool: self.before_tool.or(other.before_tool),
            after_tool: self.after_tool.or(other.after_tool),
            prompt: self.prompt.or(other.prompt),
            answer: self.answer.or(other.answer),
            compaction: self.compaction.or(other.compaction),
        }
    }
}

impl HookPresence {
    fn or(self, other: Self) -> Self {
        match self {
            Self::Present => Self::Present,
            Self::Absent => other,
        }
    }
}

/// Whether a hook point has hooks.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum HookPresence {
    /// No hook: the point is skipped.
    #[default]
    Absent,
    /// The point has a hook.
    Present,
}

/// When a log append waits for the disk.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DurabilityMode {
    /// Before effects and acknowledgements.
    #[default]
    Scheduled,
    /// Always: every append waits.
    Strict,
}

impl Settings {
    /// Returns default settings for a model: no tools, nothing allowed, default limits, and the two
    /// stop strings whose meaning is agreed.
    #[must_use]
    pub fn new(model: ModelSpec) -> Self {
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
            times: Some(RunTimeLimits::default()),
            hooks: HookPoints::default(),
            durability: DurabilityMode::Scheduled,
            window: WindowSettings::default(),
            guards: LoopGuardSettings::default(),
            gate: CompletionGate::default(),
            output: None,
            budget: Budget::default(),
            fallback: None,
            further_fallbacks: Vec::new(),
            thinking: ThinkingSettings::default(),
            temperature: None,
            cache: None,
            depth: 0,
            user_context: Arc::from(""),
            resume: ResumePolicy::Automatic,
            sandbox: None,
        }
    }

    /// Returns all fallback models, in the order in which they are called.
    pub fn fallbacks(&self) -> impl Iterator<Item = &ModelSpec> {
        self.fallback.iter().chain(&self.further_fallbacks)
    }

    /// Returns the note to the model about plan mode, if it is on.
    #[must_use]
    pub fn plan_mode_note(&self) -> Option<&'static str> {
        let offered = || self.tools.iter().any(|tool| &*tool.name == prompt_texts::EXIT_PLAN_MODE);
        match self.rules.mode {
            PermissionMode::Plan if offered() => Some(prompt_texts::PLAN_MODE),
            PermissionMode::Plan | PermissionMode::PlanNone => {
                Some(prompt_texts::PLAN_MODE_WITHOUT_TOOL)
            }
            PermissionMode::Default
            | PermissionMode::AcceptEdits
            | PermissionMode::DontAsk
            | PermissionMode::Auto
            | PermissionMode::BypassPermissions => None,
        }
    }

    /// Returns the bytes of the prompt before the conversation, with the tools that are visible.
    #[must_use]
    pub fn prompt_byte_count(&self, loaded: &LoadedTools) -> u64 {
        let tools = self.visible_tool_bytes(loaded);
        let note = self.plan_mode_note().map_or(0, str::len);
        (self.system.len() + tools + note) as u64
    }

    /// Returns the texts of the prompt before the conversation.
    pub(crate) fn prompt_texts(&self, loaded: &LoadedTools) -> impl Iterator<Item = &str> {
        let visible =
            |tool: &&ToolSpec| !self.is_deferred(&tool.name) || loaded.contains(&tool.name);
        let tools = self.tools.iter().filter(visible);
        let tools =
            tools.flat_map(|tool| [&*tool.name, &*tool.description, tool.input_schema.text()]);
        std::iter::once(&*self.system).chain(tools)
    }

    /// Returns the hash of the prompt before the conversation: system prompt and tools, without those
    /// of servers, which come and go.
    #[must_use]
    pub fn prompt_hash(&self) -> Arc<str> {
        let lasting = self.tools.iter().filter(|tool| !is_server_tool(&tool.name));
        let stable = RawJson::encode(&(&self.system, lasting.collect::<Vec<_>>()));
        Arc::from(sha256_hex(stable.text().as_bytes()))
    }
}

impl ToolSpec {
    pub(crate) fn byte_count(&self) -> usize {
        self.name.len() + self.description.len() + self.input_schema.text().len()
    }
}

impl ModelSpec {
    /// Returns a model by name with round numbers, for tests and for unknown models.
    #[must_use]
    pub fn with_defaults(name: &str) -> Self {
        Self {
            name: Arc::from(name),
            max_tokens: 4_096,
            max_output_tokens: 32_000,
            window_tokens: 200_000,
            price: None,
            forcing: ToolForcing::Supported,
        }
    }
}
