//! Model selection: flags, then the environment, then the configuration.

use std::io::Read as _;
use std::sync::Arc;

use anyhow::{Context, bail};
use windlass::core::context::Summariser;
use windlass::core::log::ids::LaneId;
use windlass::core::log::record::ToolChoice;
use windlass::core::message::request::ModelRequest;
use windlass::core::run::conversation::Conversation;
use windlass::core::settings::conversation_settings::{
    CacheLifetime, ModelSpec as ModelSettings, Settings,
};
use windlass::models::{
    CacheWriteLifetime, CallOptions, CapabilityTable, HttpClient, ModelDescription, ModelRegistry,
    NameError, ProviderTable, ProxyRules, SharedServices,
};
use windlass::ports::{Clock, Model, Store};
use windlass::scripted::{Script, ScriptedModel};

use super::config_toml::{self, Config, ProfileConfig};
use super::model_controls::ModelControls;
use crate::args::ModelArgs;
use crate::config::claude::settings_sources::SettingsSource;
use crate::inspect::history::ConversationHistory;
use crate::{messages, sdk, terminal};

/// Maximum number of fallback models.
const MAX_FALLBACKS: usize = 8;

/// The name of the scripted model.
const SCRIPTED_MODEL: &str = "scripted";

/// The configured model: from a flag, the environment, or a file.
pub(crate) fn configured_model(
    args: &ModelArgs,
    (config, profile, sources): (&Config, &ProfileConfig, &[SettingsSource]),
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

/// The model with which a conversation was started. A scripted model is not remembered.
pub(crate) async fn conversation_model(
    store: &dyn Store,
    lane: &LaneId,
) -> anyhow::Result<Option<String>> {
    if store.lane_info(lane.clone()).await?.is_none() {
        return Ok(None);
    }
    let history = ConversationHistory::load(store, lane.clone()).await?;
    let name = history.conversation.settings.map(|settings| settings.model.name.to_string());
    Ok(name.filter(|name| !name.is_empty() && name != SCRIPTED_MODEL))
}

/// Opens the model, and describes it in the settings.
pub(crate) fn open(
    settings: &Settings,
    args: &ModelArgs,
    described: Option<ModelRegistry>,
    clock: &Arc<dyn Clock>,
) -> anyhow::Result<Arc<dyn Model>> {
    if let Some(path) = &args.script {
        return Ok(Arc::new(ScriptedModel::new(read_script(path)?, Arc::clone(clock))));
    }
    let Some(models) = described else { return silent_model(clock) };
    // A missing key is reported before anything is stored.
    let failed =
        |failure: windlass::core::log::input::ModelFailure| anyhow::anyhow!("{}", failure.message);
    models.get(&settings.model.name).map_err(failed)?;
    // Controls without effect are reported now; otherwise the user would learn of them only with
    // the first reply.
    for notice in models.unsupported_settings(&Arc::new(settings.clone())).map_err(failed)? {
        terminal::print_note(&messages::control_without_effect(notice, &settings.model.name));
    }
    Ok(Arc::new(models))
}

/// Describes the model controls in settings for another process, which chooses the model.
pub(crate) fn describe_controls(
    settings: &mut Settings,
    args: &ModelArgs,
    (config, profile): (&Config, &ProfileConfig),
    clock: &Arc<dyn Clock>,
) -> anyhow::Result<()> {
    let controls = merge_controls(args, (config, profile))?;
    let summaries = profile.summary_model.as_deref().or(config.summary_model.as_deref());
    if args.fallback_model.is_some() || summaries.is_some() {
        let models = build_registry(config, controls.cache_lifetime, clock)?;
        let known = |name: &str| models.describe(name).map(|described| described.model);
        let fallbacks = args.fallback_model.as_deref().unwrap_or_default();
        set_fallbacks(settings, fallbacks, &models)?;
        // A misspelled model name is reported here, too.
        summaries.map(known).transpose()?;
    }
    controls.apply_to_any_model(settings)
}

/// Describes the model in the settings, and returns all models that a name can select; `None` for
/// the scripted model.
pub(crate) fn describe(
    settings: &mut Settings,
    args: &ModelArgs,
    (config, profile): (&Config, &ProfileConfig),
    (name, last_resort): (Option<String>, Option<String>),
    clock: &Arc<dyn Clock>,
) -> anyhow::Result<Option<ModelRegistry>> {
    let controls = merge_controls(args, (config, profile))?;
    if args.script.is_some() {
        settings.model = scripted_model(config);
        override_window(settings, args);
        controls.apply(settings)?;
        return Ok(None);
    }
    let models = build_registry(config, controls.cache_lifetime, clock)?;
    let name = name.or_else(|| models.default_model()).or(last_resort);
    let Some(name) = name else { bail!(messages::NO_MODEL_CHOSEN) };
    // The name is checked now: a misspelled one is reported before anything is stored.
    let ModelDescription { model, summary_model, is_listed, .. } =
        describe_by_name(&models, &name)?;
    settings.model = model;
    if sdk::is_sdk_host() {
        // The SDKs expect one call per part of a long answer, as long as the model can make it.
        settings.model.max_tokens = settings.model.max_output_tokens;
    }
    if !is_listed {
        // The limit of an unlisted model is a guess; an explicit one wins.
        let limit = &mut settings.model.max_output_tokens;
        *limit = controls.max_tokens.unwrap_or_default().max(*limit);
    }
    let known = |name: &str| models.describe(name).map(|described| described.model);
    let fallbacks = args.fallback_model.as_deref().or(config.fallback_model.as_deref());
    set_fallbacks(settings, fallbacks.unwrap_or_default(), &models)?;
    let summaries = profile.summary_model.as_deref().or(config.summary_model.as_deref());
    if let Some(model) = summaries.map(known).transpose()?.or(summary_model) {
        settings.window.summariser = Summariser::Model(model);
    }
    override_window(settings, args);
    controls.apply(settings)?;
    Ok(Some(models))
}

/// Describes a model. A program of an SDK means Anthropic's models, the newest ones too.
fn describe_by_name(models: &ModelRegistry, name: &str) -> anyhow::Result<ModelDescription> {
    match models.describe(name) {
        Err(NameError::UnknownProvider { .. }) if sdk::is_sdk_host() => {
            Ok(models.describe(&format!("anthropic:{name}"))?)
        }
        described => Ok(described?),
    }
}

/// Sets the fallback models of a list separated by commas. The model itself is not its own fallback.
fn set_fallbacks(
    settings: &mut Settings,
    list: &str,
    models: &ModelRegistry,
) -> anyhow::Result<()> {
    let names: Vec<&str> = list.split(',').map(str::trim).filter(|name| !name.is_empty()).collect();
    if names.len() > MAX_FALLBACKS {
        bail!("{} fallback models are named; the limit is {MAX_FALLBACKS}", names.len());
    }
    let mut fallbacks = Vec::new();
    for name in names {
        let model = models.describe(name)?.model;
        if model.name != settings.model.name && !fallbacks.contains(&model) {
            fallbacks.push(model);
        }
    }
    let mut fallbacks = fallbacks.into_iter();
    settings.fallback = fallbacks.next();
    settings.further_fallbacks = fallbacks.collect();
    Ok(())
}

/// The effective model controls: flags, then the profile, then the file.
pub(crate) fn merge_controls(
    args: &ModelArgs,
    (config, profile): (&Config, &ProfileConfig),
) -> anyhow::Result<ModelControls> {
    Ok(ModelControls::from_args(args)?.or(profile.controls()).or(config.controls()))
}

/// The description of a sub-agent's own model; `None` for the scripted model.
pub(crate) fn agent_model(
    name: &str,
    args: &ModelArgs,
    config: &Config,
    clock: &Arc<dyn Clock>,
) -> anyhow::Result<Option<ModelSettings>> {
    if args.script.is_some() {
        return Ok(None);
    }
    Ok(Some(build_registry(config, None, clock)?.describe(name)?.model))
}

/// Counts the tokens of a conversation's next request with the provider's token counter.
pub(crate) async fn count_tokens(conversation: &Conversation) -> anyhow::Result<u64> {
    let settings = conversation.active_settings().context(messages::NO_MODEL_CHOSEN)?;
    if &*settings.model.name == SCRIPTED_MODEL {
        bail!(messages::NO_TOKEN_COUNTER);
    }
    let clock: Arc<dyn Clock> = Arc::new(windlass::SystemClock::start());
    let models = build_registry(&config_toml::read()?, settings.cache, &clock)?;
    let failed =
        |failure: windlass::core::log::input::ModelFailure| anyhow::anyhow!("{}", failure.message);
    let remote = models.get(&settings.model.name).map_err(failed)?;
    let request = ModelRequest {
        model_call: 0,
        max_tokens: settings.model.max_tokens,
        settings,
        transcript: conversation.transcript.clone(),
        loaded_tools: conversation.loaded_tools.clone(),
        choice: ToolChoice::Auto,
        journal_digest: conversation.journal_digest.clone(),
        task_remaining_tokens: None,
    };
    remote.count_tokens(&request).await.map_err(failed)
}

/// A model for commands that need no reply: it answers with an empty text.
pub(crate) fn silent_model(clock: &Arc<dyn Clock>) -> anyhow::Result<Arc<dyn Model>> {
    let script = Script::parse("when any\n  say \"\"\n")?;
    Ok(Arc::new(ScriptedModel::new(script, Arc::clone(clock))))
}

/// Builds the registry of all models that a name can select, with the overrides of the
/// configuration.
fn build_registry(
    config: &Config,
    cache: Option<CacheLifetime>,
    clock: &Arc<dyn Clock>,
) -> anyhow::Result<ModelRegistry> {
    let variable = |name: &str| std::env::var(name).ok();
    let proxies = ProxyRules::from_variables(&variable)?;
    let mut shared = SharedServices::new(Arc::clone(clock));
    shared.client = Arc::new(HttpClient::new(Arc::clone(clock)).with_proxy_rules(proxies));
    shared.capabilities = Arc::new(CapabilityTable::built_in().with_overrides(&config.models));
    let providers = ProviderTable::built_in().with_overrides(&config.providers)?;
    let variables = Arc::new(|name: &str| std::env::var(name).ok());
    // Prices depend on the cache lifetime, too.
    let options = CallOptions {
        cache: cache.unwrap_or_default(),
        client_comment: sdk::client_comment().map(Arc::from),
        ..CallOptions::default()
    };
    Ok(ModelRegistry::new(shared, providers, options, variables))
}

/// The settings of the scripted model, with the overrides of the configuration: budgets and small
/// windows are tried out with scripts, too.
fn scripted_model(config: &Config) -> ModelSettings {
    let mut model = ModelSettings::with_defaults(SCRIPTED_MODEL);
    if let Some(row) = config.models.get(SCRIPTED_MODEL) {
        model.window_tokens = row.window_tokens.unwrap_or(model.window_tokens);
        model.max_output_tokens = row.max_output_tokens.unwrap_or(model.max_output_tokens);
        model.price = row.prices.map(|prices| prices.to_price(CacheWriteLifetime::Minutes));
    }
    model
}

/// Overrides the window of the model table with the flags.
fn override_window(settings: &mut Settings, args: &ModelArgs) {
    if let Some(tokens) = args.window_tokens {
        settings.model.window_tokens = tokens;
    }
}

/// The largest script that is read.
const MAX_SCRIPT_BYTES: u64 = 4 * 1024 * 1024;

/// Reads a script.
pub(crate) fn read_script(path: &std::path::Path) -> anyhow::Result<Script> {
    let mut text = String::new();
    let read = std::fs::File::open(path)
        .and_then(|file| file.take(MAX_SCRIPT_BYTES + 1).read_to_string(&mut text));
    let bytes = read.with_context(|| format!("cannot read the script {}", path.display()))?;
    anyhow::ensure!(
        bytes as u64 <= MAX_SCRIPT_BYTES,
        "the script {} is larger than 4 MiB; use a smaller file",
        path.display()
    );
    Script::parse(&text).with_context(|| format!("invalid script {}", path.display()))
}
