//! What one prompt brings along for its own run. It travels with the prompt, waits with it, and is
//! gone when the run has ended: the next run begins from the settings of whoever drives it.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::budget::Budget;
use crate::gate::{Gate, Output};
use crate::limits::{Limits, Times};
use crate::permission::Permissions;
use crate::settings::{
    CacheLifetime, DurabilityMode, Guards, Model, Settings, StopAction, Temperature, Thinking,
};
use crate::window::Window;

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
    /// The names of the tools that are offered, of those that the owner has.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tools: Option<Vec<Arc<str>>>,
    /// What may run. Its folders are the owner's: they say where the work is done.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rules: Option<Permissions>,
    /// The models that are asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub models: Option<RunModels>,
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
        } = settings.clone();
        Self {
            system: Some(system),
            tools: Some(tools.into_iter().map(|tool| tool.name).collect()),
            rules: Some(rules),
            models: Some(RunModels { model, fallback, temperature, cache }),
            thinking: Some(thinking),
            bounds: Some(RunBounds { profile, limits, times, budget, window, guards, durability }),
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
        if let Some(names) = &self.tools {
            settings.tools.retain(|tool| names.contains(&tool.name));
        }
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
        if let Some(RunBounds { profile, limits, times, budget, window, guards, durability }) =
            self.bounds.clone()
        {
            settings =
                Settings { profile, limits, times, budget, window, guards, durability, ..settings };
        }
        if let Some(RunAnswer { gate, output, stop_map }) = self.answer.clone() {
            settings = Settings { gate, output, stop_map, ..settings };
        }
        settings
    }
}
