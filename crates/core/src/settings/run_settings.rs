//! Settings that one prompt sets for its own run. They are queued with the prompt and end with the
//! run; the next run starts from the settings of its owner.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::budget::spending::Budget;
use crate::context::WindowSettings;
use crate::guard::completion_gate::{CompletionGate, StructuredOutputTool};
use crate::message::prompt_texts;
use crate::permission::{PermissionMode, Permissions};
use crate::settings::conversation_settings::{
    CacheLifetime, DurabilityMode, LoopGuardSettings, ModelSpec, ResumePolicy, Settings,
    StopAction, Temperature, ThinkingSettings, ToolSpec,
};
use crate::settings::limits::{Limits, RunTimeLimits};
use crate::settings::server_tools::is_server_tool;

#[cfg(test)]
#[path = "run_settings_tests.rs"]
mod run_settings_tests;

/// Settings that belong to one run. A field that is `None` is as in the owner's settings.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct RunSettings {
    /// The system prompt.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub system: Option<Arc<str>>,
    /// Text that is added to the system prompt of the owner.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub system_addition: Option<Arc<str>>,
    /// Names of the offered tools, out of those that the owner has.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tools: Option<Vec<Arc<str>>>,
    /// Tools that this run is offered in addition: the one for a structured answer, and the one
    /// that ends plan mode.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub added_tools: Vec<ToolSpec>,
    /// Permissions of the run. Its folders are the owner's: they say where the work is done.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rules: Option<Permissions>,
    /// Models of the run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub models: Option<RunModels>,
    /// Parameters for the owner's models, if no model is named.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub controls: Option<RunControls>,
    /// Settings of the model's thinking.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub thinking: Option<ThinkingSettings>,
    /// Limits, times and guards of the run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bounds: Option<RunBounds>,
    /// Requirements for an answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub answer: Option<RunAnswerRules>,
}

/// The models of a run.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RunModels {
    /// The model of the run.
    pub model: ModelSpec,
    /// The fallback model, called when the first one stays down.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fallback: Option<ModelSpec>,
    /// Further fallback models, each called when the one before stays down.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub further_fallbacks: Vec<ModelSpec>,
    /// Sampling temperature.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub temperature: Option<Temperature>,
    /// Lifetime of cached prompts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache: Option<CacheLifetime>,
}

/// Parameters for the owner's models in one run. A field that is `None` is as in the owner's
/// settings.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct RunControls {
    /// Output tokens that are requested at first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_tokens: Option<u64>,
    /// The context window of the model.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub window_tokens: Option<u64>,
    /// The fallback model, called when the first one stays down.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fallback: Option<ModelSpec>,
    /// Further fallback models; they belong to `fallback`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub further_fallbacks: Vec<ModelSpec>,
    /// Sampling temperature.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub temperature: Option<Temperature>,
    /// Lifetime of cached prompts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cache: Option<CacheLifetime>,
}

impl RunControls {
    fn apply(&self, settings: &mut Settings) {
        let Self { max_tokens, window_tokens, fallback, further_fallbacks, temperature, cache } =
            self;
        if fallback.is_some() {
            settings.fallback.clone_from(fallback);
            settings.further_fallbacks.clone_from(further_fallbacks);
        }
        settings.temperature = temperature.or(settings.temperature);
        settings.cache = cache.or(settings.cache);
        settings.model.window_tokens = window_tokens.unwrap_or(settings.model.window_tokens);
        let fallbacks = settings.fallback.iter_mut().chain(&mut settings.further_fallbacks);
        for model in std::iter::once(&mut settings.model).chain(fallbacks) {
            // The number may have been chosen without knowing the model.
            let limit = model.max_output_tokens;
            model.max_tokens = max_tokens.map_or(model.max_tokens, |tokens| tokens.min(limit));
        }
    }
}

/// The limits of a run.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RunBounds {
    /// The profile that the limits come from; empty if none was chosen.
    #[serde(default, skip_serializing_if = "str::is_empty")]
    pub profile: Arc<str>,
    /// Limits of the loop.
    pub limits: Limits,
    /// Time limits of the run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub times: Option<RunTimeLimits>,
    /// Spending caps.
    pub budget: Budget,
    /// Settings of the context window.
    pub window: WindowSettings,
    /// Settings of loop detection.
    pub guards: LoopGuardSettings,
    /// Whether every commit waits for the disk.
    pub durability: DurabilityMode,
    /// What happens to the run when its process dies.
    #[serde(default, skip_serializing_if = "ResumePolicy::is_automatic")]
    pub resume: ResumePolicy,
}

/// Requirements for an answer.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RunAnswerRules {
    /// The completion gate.
    pub gate: CompletionGate,
    /// The tool for a structured answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output: Option<StructuredOutputTool>,
    /// What each stop string means.
    pub stop_map: BTreeMap<Arc<str>, StopAction>,
}

impl RunSettings {
    /// Returns everything that can belong to one run. The owner keeps what needs its process: the
    /// agent, the tools themselves, the hooks, and the user context from its files.
    #[must_use]
    pub fn from_settings(settings: &Settings) -> Self {
        // Destructured, so that a new setting must be handled here.
        let Settings {
            agent: _,
            model,
            system,
            tools,
            rules,
            limits,
            stop_map,
            times,
            hooks: _,
            durability,
            window,
            guards,
            gate,
            output,
            budget,
            fallback,
            further_fallbacks,
            thinking,
            depth: _,
            user_context: _,
            profile,
            temperature,
            cache,
            resume,
            sandbox: _,
        } = settings.clone();
        let is_added = |tool: &&ToolSpec| {
            let takes_answer = output.as_ref().is_some_and(|output| output.tool == tool.name);
            takes_answer || &*tool.name == prompt_texts::EXIT_PLAN_MODE
        };
        Self {
            system: Some(system),
            system_addition: None,
            added_tools: tools.iter().filter(is_added).cloned().collect(),
            tools: Some(tools.into_iter().map(|tool| tool.name).collect()),
            rules: Some(rules),
            models: Some(RunModels { model, fallback, further_fallbacks, temperature, cache }),
            controls: None,
            thinking: Some(thinking),
            bounds: Some(RunBounds {
                profile,
                limits,
                times,
                budget,
                window,
                guards,
                durability,
                resume,
            }),
            answer: Some(RunAnswerRules { gate, output, stop_map }),
        }
    }

    /// Returns the owner's settings with these applied over them.
    #[must_use]
    pub fn apply_over(&self, owner: &Settings) -> Settings {
        let mut settings = owner.clone();
        if let Some(system) = &self.system {
            settings.system = system.clone();
        }
        if let Some(more) = &self.system_addition {
            let parts = [&*settings.system, &**more].map(str::trim_end);
            let parts: Vec<&str> = parts.into_iter().filter(|part| !part.is_empty()).collect();
            settings.system = Arc::from(parts.join("\n\n"));
        }
        self.offer(&mut settings.tools);
        if let Some(rules) = self.rules.clone() {
            let Permissions { root, home, confinement, .. } = owner.rules.clone();
            settings.rules = Permissions { root, home, confinement, ..rules };
        }
        if let Some(RunModels { model, fallback, further_fallbacks, temperature, cache }) =
            self.models.clone()
        {
            settings =
                Settings { model, fallback, further_fallbacks, temperature, cache, ..settings };
        }
        if let Some(thinking) = self.thinking.clone() {
            settings.thinking = thinking;
        }
        if let Some(controls) = &self.controls {
            controls.apply(&mut settings);
        }
        if let Some(RunBounds {
            profile,
            limits,
            times,
            budget,
            window,
            guards,
            durability,
            resume,
        }) = self.bounds.clone()
        {
            // The model of the summariser belongs to the models.
            let summariser = match &self.models {
                Some(_) => window.summariser.clone(),
                None => owner.window.summariser.clone(),
            };
            let window = WindowSettings { summariser, ..window };
            settings = Settings {
                profile,
                limits,
                times,
                budget,
                window,
                guards,
                durability,
                resume,
                ..settings
            };
        }
        if let Some(RunAnswerRules { gate, output, stop_map }) = self.answer.clone() {
            settings = Settings { gate, output, stop_map, ..settings };
        }
        settings
    }

    /// Keeps the tools that the run has, out of those its owner offers, and adds its own.
    fn offer(&self, tools: &mut Vec<ToolSpec>) {
        let is_planning = self.rules.as_ref().map(|rules| rules.mode == PermissionMode::Plan);
        let is_kept = |tool: &ToolSpec| {
            let is_named = self.tools.as_ref().is_none_or(|names| names.contains(&tool.name))
                || (is_server_tool(&tool.name) && self.may_offer(tool));
            let is_replaced = self.added_tools.iter().any(|added| added.name == tool.name);
            let ends_planning =
                &*tool.name == prompt_texts::EXIT_PLAN_MODE && is_planning == Some(false);
            is_named && !is_replaced && !ends_planning
        };
        tools.retain(is_kept);
        for added in &self.added_tools {
            // Tools are offered sorted by name: their origin must not change the prompt.
            let place = tools.iter().position(|tool| tool.name > added.name);
            tools.insert(place.unwrap_or(tools.len()), added.clone());
        }
    }

    /// Returns whether the run may be offered this tool of an MCP server: servers may have been
    /// connected after its prompt was sent, so only a rule that denies the tool leaves it out.
    pub(crate) fn may_offer(&self, tool: &ToolSpec) -> bool {
        let is_denied = |rules: &Permissions| {
            rules.disallowed.iter().any(|rule| rule.is_unscoped() && rule.covers_tool(&tool.name))
        };
        !self.rules.as_ref().is_some_and(is_denied)
    }

    /// Returns the settings for an agent that works for the run: everything in which the agent,
    /// with the settings `base`, does not differ from its owner.
    #[must_use]
    pub fn for_agent(self, base: &Settings, owner: &Settings) -> Self {
        let (base, owner) = (Self::from_settings(base), Self::from_settings(owner));
        Self {
            models: self.models.filter(|_| base.models == owner.models),
            thinking: self.thinking.filter(|_| base.thinking == owner.thinking),
            bounds: self.bounds.filter(|_| base.bounds == owner.bounds),
            ..Self::default()
        }
    }

    /// Returns the settings without a prompt and tools that only repeat those of the first owner.
    pub(crate) fn without_shared_prompt(&self, first: &Settings) -> Self {
        let is_shared =
            |names: &Vec<Arc<str>>| first.tools.iter().all(|tool| names.contains(&tool.name));
        Self {
            system: self.system.clone().filter(|system| *system != first.system),
            tools: self.tools.clone().filter(|names| !is_shared(names)),
            ..self.clone()
        }
    }
}
