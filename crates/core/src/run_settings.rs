//! What one prompt brings along for its own run. It travels with the prompt, waits with it, and is
//! gone when the run has ended: the next run begins from the settings of whoever drives it.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::budget::Budget;
use crate::gate::{Gate, Output};
use crate::limits::{Limits, Times};
use crate::permission::{Mode, Permissions};
use crate::settings::{
    CacheLifetime, DurabilityMode, Guards, Model, ResumePolicy, Settings, StopAction, Temperature,
    Thinking, ToolSpec,
};
use crate::window::Window;
use crate::words;

#[cfg(test)]
#[path = "run_settings_tests.rs"]
mod run_settings_tests;

/// Settings that belong to one run. What is `None` is as the owner of the conversation has it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct RunSettings {
    /// The system prompt.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub system: Option<Arc<str>>,
    /// What is said after the system prompt of the owner.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub system_addition: Option<Arc<str>>,
    /// The names of the tools that are offered, of those that the owner has.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tools: Option<Vec<Arc<str>>>,
    /// Tools that this run is offered besides: the one that takes an answer by schema, and the one that
    /// ends planning.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub added_tools: Vec<ToolSpec>,
    /// What may run. Its folders are the owner's: they say where the work is done.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rules: Option<Permissions>,
    /// The models that are asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub models: Option<RunModels>,
    /// How the owner's models are asked, where no model is named.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub controls: Option<RunControls>,
    /// How the model is to think.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub thinking: Option<Thinking>,
    /// Bounds, times and guards.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bounds: Option<RunBounds>,
    /// What an answer must fulfil.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub answer: Option<RunAnswer>,
}

/// The models of a run.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RunModels {
    /// The one that is asked.
    pub model: Model,
    /// The one to ask when it stays down.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fallback: Option<Model>,
    /// How freely it chooses its words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub temperature: Option<Temperature>,
    /// How long the provider keeps the prompt in its cache.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache: Option<CacheLifetime>,
}

/// How the models of the owner are asked for one run. What is `None` is as the owner has it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct RunControls {
    /// Output tokens asked for at first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_tokens: Option<u64>,
    /// The context window of the model.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub window_tokens: Option<u64>,
    /// The model to ask when the first one stays down.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fallback: Option<Model>,
    /// How freely the model chooses its words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub temperature: Option<Temperature>,
    /// How long the provider keeps the prompt in its cache.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cache: Option<CacheLifetime>,
}

impl RunControls {
    fn apply(&self, settings: &mut Settings) {
        let Self { max_tokens, window_tokens, fallback, temperature, cache } = self;
        settings.fallback = fallback.clone().or_else(|| settings.fallback.take());
        settings.temperature = temperature.or(settings.temperature);
        settings.cache = cache.or(settings.cache);
        settings.model.window_tokens = window_tokens.unwrap_or(settings.model.window_tokens);
        for model in std::iter::once(&mut settings.model).chain(&mut settings.fallback) {
            // Who gave the number need not know the model.
            let most = model.most_output_tokens;
            model.max_tokens = max_tokens.map_or(model.max_tokens, |tokens| tokens.min(most));
        }
    }
}

/// The bounds of a run.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RunBounds {
    /// The profile that they come from; empty if none was chosen.
    #[serde(default, skip_serializing_if = "str::is_empty")]
    pub profile: Arc<str>,
    /// Bounds.
    pub limits: Limits,
    /// How long it may be at work.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub times: Option<Times>,
    /// What may be spent.
    pub budget: Budget,
    /// How the context is kept small.
    pub window: Window,
    /// Who watches for circles.
    pub guards: Guards,
    /// Whether every commit waits for the disk.
    pub durability: DurabilityMode,
    /// What becomes of it when its process dies.
    #[serde(default, skip_serializing_if = "ResumePolicy::is_automatic")]
    pub resume: ResumePolicy,
}

/// What an answer must fulfil.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RunAnswer {
    /// What must be true of it.
    pub gate: Gate,
    /// How one that fits a schema is given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output: Option<Output>,
    /// What each stop string means.
    pub stop_map: BTreeMap<Arc<str>, StopAction>,
}

impl RunSettings {
    /// Everything that can belong to one run. What stays with the owner is what needs its process:
    /// the agent, the tools themselves, the hooks, and what its files say.
    #[must_use]
    pub fn of(settings: &Settings) -> Self {
        // Taken apart, so that a new setting must be given a place here.
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
            thinking,
            depth: _,
            user_context: _,
            profile,
            temperature,
            cache,
            resume,
        } = settings.clone();
        let is_added = |tool: &&ToolSpec| {
            let takes_answer = output.as_ref().is_some_and(|output| output.tool == tool.name);
            takes_answer || &*tool.name == words::EXIT_PLAN_MODE
        };
        Self {
            system: Some(system),
            system_addition: None,
            added_tools: tools.iter().filter(is_added).cloned().collect(),
            tools: Some(tools.into_iter().map(|tool| tool.name).collect()),
            rules: Some(rules),
            models: Some(RunModels { model, fallback, temperature, cache }),
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
            answer: Some(RunAnswer { gate, output, stop_map }),
        }
    }

    /// The owner's settings with these in their place.
    #[must_use]
    pub fn over(&self, owner: &Settings) -> Settings {
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
            let Permissions { root, home, .. } = owner.rules.clone();
            settings.rules = Permissions { root, home, ..rules };
        }
        if let Some(RunModels { model, fallback, temperature, cache }) = self.models.clone() {
            settings = Settings { model, fallback, temperature, cache, ..settings };
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
            // Which model sums up is a question of models.
            let summariser = match &self.models {
                Some(_) => window.summariser.clone(),
                None => owner.window.summariser.clone(),
            };
            let window = Window { summariser, ..window };
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
        if let Some(RunAnswer { gate, output, stop_map }) = self.answer.clone() {
            settings = Settings { gate, output, stop_map, ..settings };
        }
        settings
    }

    /// Leaves the tools that the run has, of those its owner offers, and adds its own.
    fn offer(&self, tools: &mut Vec<ToolSpec>) {
        let is_planning = self.rules.as_ref().map(|rules| rules.mode == Mode::Plan);
        let is_kept = |tool: &ToolSpec| {
            let is_named = self.tools.as_ref().is_none_or(|names| names.contains(&tool.name));
            let is_replaced = self.added_tools.iter().any(|added| added.name == tool.name);
            let ends_planning = &*tool.name == words::EXIT_PLAN_MODE && is_planning == Some(false);
            is_named && !is_replaced && !ends_planning
        };
        tools.retain(is_kept);
        for added in &self.added_tools {
            // Tools are offered by name in order: where they come from is not to change the prompt.
            let place = tools.iter().position(|tool| tool.name > added.name);
            tools.insert(place.unwrap_or(tools.len()), added.clone());
        }
    }

    /// What of it an agent has that works for the run: everything that the agent, with the settings
    /// `base`, does not have otherwise than its owner.
    #[must_use]
    pub fn for_agent(self, base: &Settings, owner: &Settings) -> Self {
        let (base, owner) = (Self::of(base), Self::of(owner));
        Self {
            models: self.models.filter(|_| base.models == owner.models),
            thinking: self.thinking.filter(|_| base.thinking == owner.thinking),
            bounds: self.bounds.filter(|_| base.bounds == owner.bounds),
            ..Self::default()
        }
    }

    /// The same without a prompt and tools that are no more than what the first owner had.
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
