//! Which model answers: flags, then the environment, then the configuration.

use std::sync::Arc;

use anyhow::{Context, bail};
use windlass::core::ids::LaneId;
use windlass::core::settings::{Effort, Model as ModelSettings, Settings};
use windlass::core::window::Summariser;
use windlass::models::{Capabilities, Client, Models, Options, Providers, Proxies, Shared};
use windlass::ports::{Clock, Model, Store};
use windlass::scripted::{Script, ScriptedModel};

use super::config::{Config, Profile};
use super::sources::Source;
use crate::args::{EffortWord, ModelArgs};
use crate::look::story::Story;

/// The name of the model that answers from a script.
const SCRIPTED: &str = "scripted";

/// Short names people use.
const ALIASES: &[(&str, &str)] =
    &[("opus", "claude-opus-4-5"), ("sonnet", "claude-sonnet-4-5"), ("haiku", "claude-haiku-4-5")];

/// The model that was named: by a flag, the environment, or a file.
pub(crate) fn named(
    args: &ModelArgs,
    (config, profile, sources): (&Config, &Profile, &[Source]),
) -> Option<String> {
    let by_file = || sources.iter().rev().find_map(|source| source.model.clone());
    let variable = || std::env::var("ANTHROPIC_MODEL").ok().filter(|name| !name.is_empty());
    args.model
        .clone()
        .or_else(variable)
        .or_else(|| profile.model.clone())
        .or_else(by_file)
        .or_else(|| config.model.clone())
}

/// The model that a conversation was begun with. A script is not remembered.
pub(crate) async fn of_conversation(
    store: &dyn Store,
    lane: &LaneId,
) -> anyhow::Result<Option<String>> {
    if store.lane(lane.clone()).await?.is_none() {
        return Ok(None);
    }
    let story = Story::read(store, lane.clone()).await?;
    let name = story.now.settings.map(|settings| settings.model.name.to_string());
    Ok(name.filter(|name| !name.is_empty() && name != SCRIPTED))
}

/// The model, and what the settings must say of it.
pub(crate) fn choose(
    settings: &mut Settings,
    args: &ModelArgs,
    (config, profile): (&Config, &Profile),
    name: Option<String>,
    clock: &Arc<dyn Clock>,
) -> anyhow::Result<Arc<dyn Model>> {
    if let Some(path) = &args.script {
        let script = read_script(path)?;
        settings.model = ModelSettings::named(SCRIPTED);
        widen(settings, args);
        return Ok(Arc::new(ScriptedModel::new(script, Arc::clone(clock))));
    }
    let Some(name) = name.as_deref().map(full) else {
        bail!(
            "no model is chosen; give --model NAME (such as claude-sonnet-4-5, openai:gpt-5 or \
             ollama:llama3), set `model` in config.toml, or go without one: --script FILE, or \
             `windlass demo`"
        );
    };
    let models = models(config, clock)?;
    // The name is checked now: a typing error is told before anything is stored.
    let known = |name: &str| models.describe(name).map(|described| described.model);
    settings.model = known(&name)?;
    let fallback = args.fallback_model.as_deref().or(config.fallback_model.as_deref());
    settings.fallback = fallback.map(|name| known(&full(name))).transpose()?;
    let summaries = profile.summary_model.as_deref().or(config.summary_model.as_deref());
    if let Some(name) = summaries.map(full).or_else(|| cheaper(&name)) {
        settings.window.summariser = Summariser::Model(known(&name)?);
    }
    widen(settings, args);
    think(settings, args);
    // So is a key that is missing.
    models.named(&settings.model.name).map_err(|failure| anyhow::anyhow!("{}", failure.message))?;
    Ok(Arc::new(models))
}

/// What is known of a model that an agent of its own asks; nothing where a script answers.
pub(crate) fn of_agent(
    name: &str,
    args: &ModelArgs,
    config: &Config,
    clock: &Arc<dyn Clock>,
) -> anyhow::Result<Option<ModelSettings>> {
    if args.script.is_some() {
        return Ok(None);
    }
    Ok(Some(models(config, clock)?.describe(&full(name))?.model))
}

/// A model for what needs no reply: whoever asks it gets an empty one.
pub(crate) fn silent(clock: &Arc<dyn Clock>) -> anyhow::Result<Arc<dyn Model>> {
    let script = Script::parse("when any\n  say \"\"\n")?;
    Ok(Arc::new(ScriptedModel::new(script, Arc::clone(clock))))
}

fn full(name: &str) -> String {
    let alias = ALIASES.iter().find(|(short, _)| *short == name);
    alias.map_or(name, |(_, full)| full).to_owned()
}

/// The cheap model of the same family, asked where the name says; nobody knows one for other families.
fn cheaper(name: &str) -> Option<String> {
    let (provider, model) = match name.split_once(':') {
        Some((provider, model)) => (format!("{provider}:"), model),
        None => (String::new(), name),
    };
    let is_dearer = model.starts_with("claude-") && !model.contains("haiku");
    is_dearer.then(|| format!("{provider}{}", full("haiku")))
}

/// Every model that a name can choose, with what the configuration says of them.
fn models(config: &Config, clock: &Arc<dyn Clock>) -> anyhow::Result<Models> {
    let variable = |name: &str| std::env::var(name).ok();
    let proxies = Proxies::from_variables(&variable)?;
    let mut shared = Shared::new(Arc::clone(clock));
    shared.client = Arc::new(Client::new(Arc::clone(clock)).through(proxies));
    shared.capabilities = Arc::new(Capabilities::built_in().with_rows(&config.models));
    let providers = Providers::built_in().with_rows(&config.providers)?;
    let variables = Arc::new(|name: &str| std::env::var(name).ok());
    Ok(Models::new(shared, providers, Options::default(), variables))
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
