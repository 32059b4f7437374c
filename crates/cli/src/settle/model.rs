//! Which model answers: flags, then the environment, then the configuration.

use std::sync::Arc;

use anyhow::{Context, bail};
use windlass::core::budget::Price;
use windlass::core::settings::{Effort, Forcing, Model as ModelSettings, Settings};
use windlass::core::window::Summariser;
use windlass::models::{ForcedChoice, Knowledge, Models, Options, Providers, Shared};
use windlass::ports::{Clock, Model};
use windlass::scripted::{Script, ScriptedModel};

use super::config::{Config, Profile};
use super::sources::Source;
use crate::args::{EffortWord, ModelArgs};

/// Output tokens asked for at first; a reply that is cut is asked for again with all there are.
const FIRST_OUTPUT_TOKENS: u64 = 16_000;

/// Short names people use.
const ALIASES: &[(&str, &str)] =
    &[("opus", "claude-opus-4-5"), ("sonnet", "claude-sonnet-4-5"), ("haiku", "claude-haiku-4-5")];

/// The model, and what the settings must say of it.
pub(crate) fn choose(
    settings: &mut Settings,
    args: &ModelArgs,
    (config, profile, sources): (&Config, &Profile, &[Source]),
    clock: &Arc<dyn Clock>,
) -> anyhow::Result<Arc<dyn Model>> {
    if let Some(path) = &args.script {
        let script = read_script(path)?;
        settings.model = ModelSettings::named("scripted");
        widen(settings, args);
        return Ok(Arc::new(ScriptedModel::new(script, Arc::clone(clock))));
    }
    let by_file = || sources.iter().rev().find_map(|source| source.model.clone());
    let name = args
        .model
        .clone()
        .or_else(|| std::env::var("ANTHROPIC_MODEL").ok().filter(|name| !name.is_empty()))
        .or_else(|| profile.model.clone())
        .or_else(by_file)
        .or_else(|| config.model.clone());
    let Some(name) = name.as_deref().map(full) else {
        bail!(
            "no model is chosen; give --model NAME (such as claude-sonnet-4-5, openai:gpt-5 or \
             ollama:llama3), set `model` in config.toml, or go without one: --script FILE, or \
             `windlass demo`"
        );
    };
    let shared = Shared::new(Arc::clone(clock));
    let providers = providers(config)?;
    let known = |name: &str| {
        // The name is checked now: a typing error is told before anything is stored.
        providers.find(name).map(|(_, bare)| described(name, &shared.capabilities.of(bare)))
    };
    settings.model = known(&name)?;
    let fallback = args.fallback_model.as_deref().or(config.fallback_model.as_deref());
    settings.fallback = fallback.map(|name| known(&full(name))).transpose()?;
    if let Some(name) = config.summary_model.as_deref() {
        settings.window.summariser = Summariser::Model(known(&full(name))?);
    }
    widen(settings, args);
    think(settings, args);
    let variables = Arc::new(|name: &str| std::env::var(name).ok());
    let models = Models::new(shared.clone(), providers, Options::default(), variables);
    // So is a key that is missing.
    models.named(&settings.model.name).map_err(|failure| anyhow::anyhow!("{}", failure.message))?;
    Ok(Arc::new(models))
}

/// What the settings say of a model. One that nobody knows has no price.
fn described(name: &str, knowledge: &Knowledge) -> ModelSettings {
    let abilities = knowledge.abilities();
    ModelSettings {
        window_tokens: abilities.window_tokens,
        most_output_tokens: abilities.most_output_tokens,
        max_tokens: abilities.most_output_tokens.min(FIRST_OUTPUT_TOKENS),
        price: knowledge.prices().map(|prices| Price {
            input_usd_micros: prices.input,
            output_usd_micros: prices.output,
            cache_read_usd_micros: prices.cache_read,
            cache_write_usd_micros: prices.cache_write,
        }),
        forcing: match abilities.forced_choice {
            ForcedChoice::Never => Forcing::Impossible,
            ForcedChoice::Always | ForcedChoice::UnlessBudgetThinking => Forcing::Possible,
        },
        ..ModelSettings::named(name)
    }
}

fn full(name: &str) -> String {
    let alias = ALIASES.iter().find(|(short, _)| *short == name);
    alias.map_or(name, |(_, full)| full).to_owned()
}

fn providers(config: &Config) -> anyhow::Result<Providers> {
    if config.providers.is_empty() {
        return Ok(Providers::built_in());
    }
    let table = serde_json::json!({ "providers": config.providers });
    Ok(Providers::built_in().with_overrides(&table.to_string())?)
}

/// What was typed about the window counts more than what the table says.
fn widen(settings: &mut Settings, args: &ModelArgs) {
    if let Some(tokens) = args.window_tokens {
        settings.model.window_tokens = tokens;
    }
}

fn think(settings: &mut Settings, args: &ModelArgs) {
    let effort = |word| match word {
        EffortWord::Low => Effort::Low,
        EffortWord::Medium => Effort::Medium,
        EffortWord::High => Effort::High,
        EffortWord::Xhigh => Effort::Xhigh,
        EffortWord::Max => Effort::Max,
    };
    settings.thinking.effort = args.effort.map(effort);
    settings.thinking.budget_tokens = args.max_thinking_tokens;
    settings.thinking.task_tokens = args.task_budget;
    settings.thinking.betas = args.betas.iter().map(|beta| Arc::from(beta.as_str())).collect();
}

/// Reads a script.
pub(crate) fn read_script(path: &std::path::Path) -> anyhow::Result<Script> {
    let text = std::fs::read_to_string(path)
        .with_context(|| format!("the script {} cannot be read", path.display()))?;
    Script::parse(&text).with_context(|| format!("the script {} is not valid", path.display()))
}
