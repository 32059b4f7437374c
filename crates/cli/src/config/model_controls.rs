//! Model controls: effort, thinking, output limit, temperature, stop sequences, prompt caching. A
//! flag overrides the profile, which overrides the top of config.toml; a control that is not set is
//! left to the provider.

use std::collections::BTreeMap;
use std::sync::Arc;

use anyhow::bail;
use serde::Deserialize;
use windlass::core::settings::conversation_settings::{
    CacheLifetime, Effort, ModelSpec as ModelSettings, Settings, StopAction, Temperature,
    ThinkingDisplay,
};

use crate::args::{CacheLifetimeArg, EffortArg, ModelArgs, ThinkingArg, ThinkingDisplayArg};
use crate::{messages, sdk};

#[cfg(test)]
#[path = "model_controls_tests.rs"]
mod model_controls_tests;

/// Defines a table of config.toml that has the controls of a model besides fields of its own. They
/// are listed here once; `serde(flatten)` would do the same, but accept unknown names.
macro_rules! with_model_controls {
    ($(#[$meta:meta])* pub(crate) struct $name:ident { $($own:tt)* }) => {
        $(#[$meta])*
        pub(crate) struct $name {
            /// Reasoning effort: `low`, `medium`, `high`, `xhigh` or `max`.
            pub(crate) effort: Option<windlass::core::settings::conversation_settings::Effort>,
            /// Thinking budget in tokens; 0 switches thinking off.
            pub(crate) max_thinking_tokens: Option<u64>,
            /// Task budget in tokens, as it is told to the model.
            pub(crate) task_budget: Option<u64>,
            /// Beta features to request.
            pub(crate) betas: Option<Vec<String>>,
            /// Initial output limit of one reply in tokens.
            pub(crate) max_tokens: Option<u64>,
            /// Sampling temperature, from 0 to 2.
            pub(crate) temperature: Option<f64>,
            /// How long the provider keeps the prompt in its cache: `off`, `5m` or `1h`.
            pub(crate) cache_lifetime: Option<windlass::core::settings::conversation_settings::CacheLifetime>,
            /// Texts that end the output, and what each means: `finish`, `reprompt` or `continue`.
            pub(crate) stop_sequences: Option<BTreeMap<String, crate::config::model_controls::StopMeaning>>,
            $($own)*
        }

        impl $name {
            /// The model controls of this table.
            pub(crate) fn controls(&self) -> crate::config::model_controls::ModelControls {
                crate::config::model_controls::ModelControls {
                    effort: self.effort,
                    thinking: self
                        .max_thinking_tokens
                        .map(crate::config::model_controls::ThinkingAmount::Tokens),
                    thinking_display: None,
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

/// The model controls of one source.
#[derive(Debug, Clone, Default)]
pub(crate) struct ModelControls {
    pub(crate) effort: Option<Effort>,
    pub(crate) thinking: Option<ThinkingAmount>,
    pub(crate) thinking_display: Option<ThinkingDisplay>,
    pub(crate) task_budget: Option<u64>,
    pub(crate) betas: Option<Vec<String>>,
    pub(crate) max_tokens: Option<u64>,
    pub(crate) temperature: Option<f64>,
    pub(crate) cache_lifetime: Option<CacheLifetime>,
    pub(crate) stop_sequences: Option<BTreeMap<String, StopMeaning>>,
}

/// How much the model thinks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ThinkingAmount {
    /// As much as it decides, whatever the configuration says.
    Adaptive,
    /// At most this number of tokens; 0 switches thinking off.
    Tokens(u64),
}

/// The meaning of a stop sequence that the model writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum StopMeaning {
    /// The answer is complete.
    Finish,
    /// The output is discarded, and the model is called again.
    Reprompt,
    /// The model continues.
    Continue,
}

impl StopMeaning {
    fn to_action(self) -> StopAction {
        match self {
            Self::Finish => StopAction::Finish,
            Self::Reprompt => StopAction::Reprompt { reason: Arc::from("stop_sequence") },
            Self::Continue => StopAction::Continue,
        }
    }
}

impl ModelControls {
    /// The controls given as flags.
    pub(crate) fn from_args(args: &ModelArgs) -> anyhow::Result<Self> {
        let effort = |word| match word {
            EffortArg::Low => Effort::Low,
            EffortArg::Medium => Effort::Medium,
            EffortArg::High => Effort::High,
            EffortArg::Xhigh => Effort::Xhigh,
            EffortArg::Max => Effort::Max,
        };
        let lifetime = |word| match word {
            CacheLifetimeArg::Off => CacheLifetime::Off,
            CacheLifetimeArg::FiveMinutes => CacheLifetime::FiveMinutes,
            CacheLifetimeArg::OneHour => CacheLifetime::OneHour,
        };
        let display = |word| match word {
            ThinkingDisplayArg::Summarized => ThinkingDisplay::Summarized,
            ThinkingDisplayArg::Omitted => ThinkingDisplay::Omitted,
            ThinkingDisplayArg::Highlights => ThinkingDisplay::Highlights,
        };
        Ok(Self {
            effort: args.effort.map(effort),
            thinking: thinking_of(args),
            thinking_display: args.thinking_display.map(display),
            task_budget: args.task_budget,
            betas: (!args.betas.is_empty()).then(|| named_betas(&args.betas)),
            max_tokens: args.max_tokens,
            temperature: args.temperature,
            cache_lifetime: args.cache_lifetime.map(lifetime),
            stop_sequences: parse_stop_sequences(&args.stop_sequence)?,
        })
    }

    /// These controls, completed by those of `weaker`.
    pub(crate) fn or(self, weaker: Self) -> Self {
        Self {
            effort: self.effort.or(weaker.effort),
            thinking: self.thinking.or(weaker.thinking),
            thinking_display: self.thinking_display.or(weaker.thinking_display),
            task_budget: self.task_budget.or(weaker.task_budget),
            betas: self.betas.or(weaker.betas),
            max_tokens: self.max_tokens.or(weaker.max_tokens),
            temperature: self.temperature.or(weaker.temperature),
            cache_lifetime: self.cache_lifetime.or(weaker.cache_lifetime),
            stop_sequences: self.stop_sequences.or(weaker.stop_sequences),
        }
    }

    /// Applies the controls to settings whose model is already known.
    pub(crate) fn apply(&self, settings: &mut Settings) -> anyhow::Result<()> {
        self.apply_to_any_model(settings)?;
        let fallbacks = settings.fallback.iter_mut().chain(&mut settings.further_fallbacks);
        for model in std::iter::once(&mut settings.model).chain(fallbacks) {
            self.limit_output(model)?;
        }
        Ok(())
    }

    /// Applies the controls that do not depend on the model.
    pub(crate) fn apply_to_any_model(&self, settings: &mut Settings) -> anyhow::Result<()> {
        settings.thinking.effort = self.effort;
        settings.thinking.budget_tokens = match self.thinking {
            Some(ThinkingAmount::Tokens(tokens)) => Some(tokens),
            Some(ThinkingAmount::Adaptive) | None => None,
        };
        settings.thinking.display = self.thinking_display;
        settings.thinking.task_tokens = self.task_budget;
        let betas = self.betas.iter().flatten();
        settings.thinking.betas = betas.map(|beta| Arc::from(beta.as_str())).collect();
        settings.temperature = self.temperature.map(Temperature::new).transpose()?;
        settings.cache = self.cache_lifetime;
        if let Some(stops) = &self.stop_sequences {
            settings.stop_map = to_stop_map(stops)?;
        }
        Ok(())
    }

    fn limit_output(&self, model: &mut ModelSettings) -> anyhow::Result<()> {
        let Some(tokens) = self.max_tokens else { return Ok(()) };
        if tokens == 0 || tokens > model.max_output_tokens {
            bail!(messages::invalid_output_limit(tokens, &model.name, model.max_output_tokens));
        }
        model.max_tokens = tokens;
        Ok(())
    }

    /// The configured sequences with which the model should end its answer.
    pub(crate) fn end_markers(&self) -> Vec<&str> {
        let ends = |(_, meaning): &(&String, &StopMeaning)| **meaning == StopMeaning::Finish;
        let stops = self.stop_sequences.iter().flatten().filter(ends);
        stops.map(|(text, _)| text.trim()).filter(|text| !text.is_empty()).collect()
    }
}

/// How much the model thinks, as the flags or the environment say.
fn thinking_of(args: &ModelArgs) -> Option<ThinkingAmount> {
    match args.thinking {
        Some(ThinkingArg::Adaptive) => Some(ThinkingAmount::Adaptive),
        Some(ThinkingArg::Disabled) => Some(ThinkingAmount::Tokens(0)),
        None => {
            let tokens = args.max_thinking_tokens.or_else(sdk::max_thinking_tokens);
            tokens.map(ThinkingAmount::Tokens)
        }
    }
}

/// The named beta features: an empty list is written as an empty name.
fn named_betas(typed: &[String]) -> Vec<String> {
    let names = typed.iter().map(|name| name.trim()).filter(|name| !name.is_empty());
    names.map(str::to_owned).collect()
}

/// Parses the sequences of the command line: those with an agreed meaning keep it, and any other
/// ends the answer. A single empty sequence means none at all.
fn parse_stop_sequences(typed: &[String]) -> anyhow::Result<Option<BTreeMap<String, StopMeaning>>> {
    match typed {
        [] => Ok(None),
        [none] if none.is_empty() => Ok(Some(BTreeMap::new())),
        some => some
            .iter()
            .map(|text| Ok((unescape(text)?, default_meaning(text))))
            .collect::<Result<_, _>>()
            .map(Some),
    }
}

fn default_meaning(text: &str) -> StopMeaning {
    if text.trim_start_matches("\\n").trim() == "User:" {
        StopMeaning::Reprompt
    } else {
        StopMeaning::Finish
    }
}

/// Replaces `\n`, `\t` and `\\` as people type them.
fn unescape(text: &str) -> anyhow::Result<String> {
    let mut out = String::with_capacity(text.len());
    let mut characters = text.chars();
    while let Some(character) = characters.next() {
        out.push(match character {
            '\\' => match characters.next() {
                Some('n') => '\n',
                Some('t') => '\t',
                Some('\\') => '\\',
                _ => bail!(messages::invalid_escape(text)),
            },
            other => other,
        });
    }
    Ok(out)
}

fn to_stop_map(
    stops: &BTreeMap<String, StopMeaning>,
) -> anyhow::Result<BTreeMap<Arc<str>, StopAction>> {
    // The API rejects a sequence that is only whitespace.
    if let Some(blank) = stops.keys().find(|text| text.trim().is_empty()) {
        bail!(messages::blank_stop_sequence(blank));
    }
    let drift = || StopAction::Reprompt { reason: Arc::from("roleplay_drift") };
    let action = |(text, meaning): (&String, &StopMeaning)| {
        let is_drift = text == "\nUser:" && *meaning == StopMeaning::Reprompt;
        (Arc::from(text.as_str()), if is_drift { drift() } else { meaning.to_action() })
    };
    Ok(stops.iter().map(action).collect())
}
