//! How the model is asked: effort, thinking, output limit, temperature, stop sequences, cache. Each
//! control is set by a flag, else by the profile, else at the top of config.toml; one that nobody
//! sets is left to the provider.

use std::collections::BTreeMap;
use std::sync::Arc;

use anyhow::bail;
use serde::Deserialize;
use windlass::core::settings::{
    CacheLifetime, Effort, Model as ModelSettings, Settings, StopAction, Temperature,
};

use crate::args::{CacheWord, EffortWord, ModelArgs};
use crate::words;

#[cfg(test)]
#[path = "controls_tests.rs"]
mod controls_tests;

/// Defines a table of config.toml that has the controls of a model besides fields of its own. They
/// are listed here once; `serde(flatten)` would do the same, but accept unknown names.
macro_rules! with_model_controls {
    ($(#[$meta:meta])* pub(crate) struct $name:ident { $($own:tt)* }) => {
        $(#[$meta])*
        pub(crate) struct $name {
            /// How hard the model should try: `low`, `medium`, `high`, `xhigh` or `max`.
            pub(crate) effort: Option<windlass::core::settings::Effort>,
            /// Tokens the model may think with; 0 switches thinking off.
            pub(crate) max_thinking_tokens: Option<u64>,
            /// Tokens the model is told it has for the whole task.
            pub(crate) task_budget: Option<u64>,
            /// Beta features to ask for.
            pub(crate) betas: Option<Vec<String>>,
            /// Output tokens one reply may have at first.
            pub(crate) max_tokens: Option<u64>,
            /// How freely the model chooses its words, from 0 to 2.
            pub(crate) temperature: Option<f64>,
            /// How long the provider keeps the prompt in its cache: `off`, `5m` or `1h`.
            pub(crate) cache_lifetime: Option<windlass::core::settings::CacheLifetime>,
            /// Texts that end the output, and what each means: `finish`, `reprompt` or `continue`.
            pub(crate) stop_sequences: Option<BTreeMap<String, crate::settle::controls::StopMeaning>>,
            $($own)*
        }

        impl $name {
            /// How the model is asked.
            pub(crate) fn controls(&self) -> crate::settle::controls::ModelControls {
                crate::settle::controls::ModelControls {
                    effort: self.effort,
                    max_thinking_tokens: self.max_thinking_tokens,
                    task_budget: self.task_budget,
                    betas: self.betas.clone(),
                    max_tokens: self.max_tokens,
                    temperature: self.temperature,
                    cache_lifetime: self.cache_lifetime,
                    stop_sequences: self.stop_sequences.clone(),
                }
            }
        }
    };
}

pub(super) use with_model_controls;

/// The controls of one source.
#[derive(Debug, Clone, Default)]
pub(crate) struct ModelControls {
    pub(crate) effort: Option<Effort>,
    pub(crate) max_thinking_tokens: Option<u64>,
    pub(crate) task_budget: Option<u64>,
    pub(crate) betas: Option<Vec<String>>,
    pub(crate) max_tokens: Option<u64>,
    pub(crate) temperature: Option<f64>,
    pub(crate) cache_lifetime: Option<CacheLifetime>,
    pub(crate) stop_sequences: Option<BTreeMap<String, StopMeaning>>,
}

/// What a stop sequence means when the model writes it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum StopMeaning {
    /// The answer is complete.
    Finish,
    /// The output is thrown away, and the model is asked again.
    Reprompt,
    /// The model goes on.
    Continue,
}

impl StopMeaning {
    fn action(self) -> StopAction {
        match self {
            Self::Finish => StopAction::Finish,
            Self::Reprompt => StopAction::Reprompt { reason: Arc::from("stop_sequence") },
            Self::Continue => StopAction::Continue,
        }
    }
}

impl ModelControls {
    /// What was typed.
    pub(crate) fn typed(args: &ModelArgs) -> anyhow::Result<Self> {
        let effort = |word| match word {
            EffortWord::Low => Effort::Low,
            EffortWord::Medium => Effort::Medium,
            EffortWord::High => Effort::High,
            EffortWord::Xhigh => Effort::Xhigh,
            EffortWord::Max => Effort::Max,
        };
        let lifetime = |word| match word {
            CacheWord::Off => CacheLifetime::Off,
            CacheWord::FiveMinutes => CacheLifetime::FiveMinutes,
            CacheWord::OneHour => CacheLifetime::OneHour,
        };
        Ok(Self {
            effort: args.effort.map(effort),
            max_thinking_tokens: args.max_thinking_tokens,
            task_budget: args.task_budget,
            betas: (!args.betas.is_empty()).then(|| args.betas.clone()),
            max_tokens: args.max_tokens,
            temperature: args.temperature,
            cache_lifetime: args.cache_lifetime.map(lifetime),
            stop_sequences: typed_stops(&args.stop_sequence)?,
        })
    }

    /// These, and what `weaker` says of the rest.
    pub(crate) fn or(self, weaker: Self) -> Self {
        Self {
            effort: self.effort.or(weaker.effort),
            max_thinking_tokens: self.max_thinking_tokens.or(weaker.max_thinking_tokens),
            task_budget: self.task_budget.or(weaker.task_budget),
            betas: self.betas.or(weaker.betas),
            max_tokens: self.max_tokens.or(weaker.max_tokens),
            temperature: self.temperature.or(weaker.temperature),
            cache_lifetime: self.cache_lifetime.or(weaker.cache_lifetime),
            stop_sequences: self.stop_sequences.or(weaker.stop_sequences),
        }
    }

    /// Puts them into the settings, whose model is known already.
    pub(crate) fn apply(&self, settings: &mut Settings) -> anyhow::Result<()> {
        self.apply_to_any_model(settings)?;
        for model in std::iter::once(&mut settings.model).chain(&mut settings.fallback) {
            self.limit_output(model)?;
        }
        Ok(())
    }

    /// Puts into the settings what does not depend on the model.
    pub(crate) fn apply_to_any_model(&self, settings: &mut Settings) -> anyhow::Result<()> {
        settings.thinking.effort = self.effort;
        settings.thinking.budget_tokens = self.max_thinking_tokens;
        settings.thinking.task_tokens = self.task_budget;
        let betas = self.betas.iter().flatten();
        settings.thinking.betas = betas.map(|beta| Arc::from(beta.as_str())).collect();
        settings.temperature = self.temperature.map(Temperature::new).transpose()?;
        settings.cache = self.cache_lifetime;
        if let Some(stops) = &self.stop_sequences {
            settings.stop_map = stop_map(stops)?;
        }
        Ok(())
    }

    fn limit_output(&self, model: &mut ModelSettings) -> anyhow::Result<()> {
        let Some(tokens) = self.max_tokens else { return Ok(()) };
        if tokens == 0 || tokens > model.most_output_tokens {
            bail!(words::output_limit(tokens, &model.name, model.most_output_tokens));
        }
        model.max_tokens = tokens;
        Ok(())
    }

    /// The sequences with which the model is to end its answer, where somebody asked for any.
    pub(crate) fn end_markers(&self) -> Vec<&str> {
        let ends = |(_, meaning): &(&String, &StopMeaning)| **meaning == StopMeaning::Finish;
        let stops = self.stop_sequences.iter().flatten().filter(ends);
        stops.map(|(text, _)| text.trim()).filter(|text| !text.is_empty()).collect()
    }
}

/// The sequences of the command line: those whose meaning is agreed keep it, and any other ends the
/// answer. One empty sequence means none at all.
fn typed_stops(typed: &[String]) -> anyhow::Result<Option<BTreeMap<String, StopMeaning>>> {
    match typed {
        [] => Ok(None),
        [none] if none.is_empty() => Ok(Some(BTreeMap::new())),
        some => some
            .iter()
            .map(|text| Ok((unescaped(text)?, usual(text))))
            .collect::<Result<_, _>>()
            .map(Some),
    }
}

fn usual(text: &str) -> StopMeaning {
    if text.trim_start_matches("\\n").trim() == "User:" {
        StopMeaning::Reprompt
    } else {
        StopMeaning::Finish
    }
}

/// A text with `\n`, `\t` and `\\` as people type them.
fn unescaped(text: &str) -> anyhow::Result<String> {
    let mut out = String::with_capacity(text.len());
    let mut characters = text.chars();
    while let Some(character) = characters.next() {
        out.push(match character {
            '\\' => match characters.next() {
                Some('n') => '\n',
                Some('t') => '\t',
                Some('\\') => '\\',
                _ => bail!(words::bad_escape(text)),
            },
            other => other,
        });
    }
    Ok(out)
}

fn stop_map(
    stops: &BTreeMap<String, StopMeaning>,
) -> anyhow::Result<BTreeMap<Arc<str>, StopAction>> {
    // The API refuses a sequence of nothing but blanks.
    if let Some(blank) = stops.keys().find(|text| text.trim().is_empty()) {
        bail!(words::blank_stop(blank));
    }
    let drift = || StopAction::Reprompt { reason: Arc::from("roleplay_drift") };
    let action = |(text, meaning): (&String, &StopMeaning)| {
        let is_drift = text == "\nUser:" && *meaning == StopMeaning::Reprompt;
        (Arc::from(text.as_str()), if is_drift { drift() } else { meaning.action() })
    };
    Ok(stops.iter().map(action).collect())
}
