//! Which model answers: flags, then the environment, then the configuration.

use std::sync::Arc;

use anyhow::{Context, bail};
use windlass::core::conversation::Conversation;
use windlass::core::ids::LaneId;
use windlass::core::record::ToolChoice;
use windlass::core::request::Request;
use windlass::core::settings::{CacheLifetime, Model as ModelSettings, Settings};
use windlass::core::window::Summariser;
use windlass::models::{
    Capabilities, Client, Described, Models, Options, Providers, Proxies, Shared, Standing, Written,
};
use windlass::ports::{Clock, Model, Store};
use windlass::scripted::{Script, ScriptedModel};

use super::config::{self, Config, Profile};
use super::controls::ModelControls;
use super::sources::Source;
use crate::args::ModelArgs;
use crate::look::story::Story;
use crate::{show, words};

/// The name of the model that answers from a script.
const SCRIPTED: &str = "scripted";

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

/// The model that answers, with settings that describe it already.
pub(crate) fn open(
    settings: &Settings,
    args: &ModelArgs,
    described: Option<Models>,
    clock: &Arc<dyn Clock>,
) -> anyhow::Result<Arc<dyn Model>> {
    if let Some(path) = &args.script {
        return Ok(Arc::new(ScriptedModel::new(read_script(path)?, Arc::clone(clock))));
    }
    let Some(models) = described else { return silent(clock) };
    // A key that is missing is told before anything is stored.
    let failed = |failure: windlass::core::input::Failure| anyhow::anyhow!("{}", failure.message);
    models.named(&settings.model.name).map_err(failed)?;
    // And what was asked for in vain: nobody else says it before the first reply.
    for notice in models.without_effect(&Arc::new(settings.clone())).map_err(failed)? {
        show::note(&words::without_effect(notice, &settings.model.name));
    }
    Ok(Arc::new(models))
}

/// What the settings say of the way a model is asked that only another process knows.
pub(crate) fn describe_controls(
    settings: &mut Settings,
    args: &ModelArgs,
    (config, profile): (&Config, &Profile),
    clock: &Arc<dyn Clock>,
) -> anyhow::Result<()> {
    let controls = controls(args, (config, profile))?;
    let summaries = profile.summary_model.as_deref().or(config.summary_model.as_deref());
    if args.fallback_model.is_some() || summaries.is_some() {
        let models = models(config, controls.cache_lifetime, clock)?;
        let known = |name: &str| models.describe(name).map(|described| described.model);
        settings.fallback = args.fallback_model.as_deref().map(known).transpose()?;
        // A typing error is told here, too.
        summaries.map(known).transpose()?;
    }
    controls.apply_to_any_model(settings)
}

/// Describes the model in the settings, and gives all models that a name can choose; none where a
/// script answers.
pub(crate) fn describe(
    settings: &mut Settings,
    args: &ModelArgs,
    (config, profile): (&Config, &Profile),
    (name, last_resort): (Option<String>, Option<String>),
    clock: &Arc<dyn Clock>,
) -> anyhow::Result<Option<Models>> {
    let controls = controls(args, (config, profile))?;
    if args.script.is_some() {
        settings.model = scripted_model(config);
        widen(settings, args);
        controls.apply(settings)?;
        return Ok(None);
    }
    let models = models(config, controls.cache_lifetime, clock)?;
    let name = name.or_else(|| models.default_model()).or(last_resort);
    let Some(name) = name else { bail!(words::NO_MODEL) };
    // The name is checked now: a typing error is told before anything is stored.
    let Described { model, summary_model, standing, .. } = models.describe(&name)?;
    settings.model = model;
    if standing == Standing::Unlisted {
        // Its limit is a guess: whoever names one knows better.
        let most = &mut settings.model.most_output_tokens;
        *most = controls.max_tokens.unwrap_or_default().max(*most);
    }
    let known = |name: &str| models.describe(name).map(|described| described.model);
    let fallback = args.fallback_model.as_deref().or(config.fallback_model.as_deref());
    settings.fallback = fallback.map(known).transpose()?;
    let summaries = profile.summary_model.as_deref().or(config.summary_model.as_deref());
    if let Some(model) = summaries.map(known).transpose()?.or(summary_model) {
        settings.window.summariser = Summariser::Model(model);
    }
    widen(settings, args);
    controls.apply(settings)?;
    Ok(Some(models))
}

/// How the model is asked: flags, then the profile, then the file.
pub(crate) fn controls(
    args: &ModelArgs,
    (config, profile): (&Config, &Profile),
) -> anyhow::Result<ModelControls> {
    Ok(ModelControls::typed(args)?.or(profile.controls()).or(config.controls()))
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
    Ok(Some(models(config, None, clock)?.describe(name)?.model))
}

/// The tokens of a conversation's next request, as its provider counts them.
pub(crate) async fn count_tokens(conversation: &Conversation) -> anyhow::Result<u64> {
    let settings = conversation.settings_in_use().context(words::NO_MODEL)?;
    if &*settings.model.name == SCRIPTED {
        bail!(words::NO_EXACT_COUNT);
    }
    let clock: Arc<dyn Clock> = Arc::new(windlass::SystemClock::start());
    let models = models(&config::read()?, settings.cache, &clock)?;
    let failed = |failure: windlass::core::input::Failure| anyhow::anyhow!("{}", failure.message);
    let remote = models.named(&settings.model.name).map_err(failed)?;
    let request = Request {
        ask: 0,
        max_tokens: settings.model.max_tokens,
        settings,
        transcript: conversation.transcript.clone(),
        choice: ToolChoice::Open,
        digest: conversation.digest.clone(),
        task_left_tokens: None,
    };
    remote.count_tokens(&request).await.map_err(failed)
}

/// A model for what needs no reply: whoever asks it gets an empty one.
pub(crate) fn silent(clock: &Arc<dyn Clock>) -> anyhow::Result<Arc<dyn Model>> {
    let script = Script::parse("when any\n  say \"\"\n")?;
    Ok(Arc::new(ScriptedModel::new(script, Arc::clone(clock))))
}

/// Every model that a name can choose, with what the configuration says of them.
fn models(
    config: &Config,
    cache: Option<CacheLifetime>,
    clock: &Arc<dyn Clock>,
) -> anyhow::Result<Models> {
    let variable = |name: &str| std::env::var(name).ok();
    let proxies = Proxies::from_variables(&variable)?;
    let mut shared = Shared::new(Arc::clone(clock));
    shared.client = Arc::new(Client::new(Arc::clone(clock)).through(proxies));
    shared.capabilities = Arc::new(Capabilities::built_in().with_rows(&config.models));
    let providers = Providers::built_in().with_rows(&config.providers)?;
    let variables = Arc::new(|name: &str| std::env::var(name).ok());
    // Prices depend on it, too.
    let options = Options { cache: cache.unwrap_or_default(), ..Options::default() };
    Ok(Models::new(shared, providers, options, variables))
}

/// The model that answers from a script, with what the configuration says of it: budgets and small
/// windows are tried out with scripts, too.
fn scripted_model(config: &Config) -> ModelSettings {
    let mut model = ModelSettings::named(SCRIPTED);
    if let Some(row) = config.models.get(SCRIPTED) {
        model.window_tokens = row.window_tokens.unwrap_or(model.window_tokens);
        model.most_output_tokens = row.most_output_tokens.unwrap_or(model.most_output_tokens);
        model.price = row.prices.map(|prices| prices.price(Written::Minutes));
    }
    model
}

/// What was typed about the window counts more than what the table says.
fn widen(settings: &mut Settings, args: &ModelArgs) {
    if let Some(tokens) = args.window_tokens {
        settings.model.window_tokens = tokens;
    }
}

/// Reads a script.
pub(crate) fn read_script(path: &std::path::Path) -> anyhow::Result<Script> {
    let text = std::fs::read_to_string(path)
        .with_context(|| format!("the script {} cannot be read", path.display()))?;
    Script::parse(&text).with_context(|| format!("the script {} is not valid", path.display()))
}
