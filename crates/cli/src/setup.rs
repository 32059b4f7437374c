//! Puts the parts together from what was typed, from files and from the environment.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use windlass::core::settings::Settings;
use windlass::ports::Store;
use windlass::postgres::PostgresStore;
use windlass::sqlite::SqliteStore;
use windlass::{LeaseTimes, SystemClock, Windlass};

use crate::args::{AgentArgs, StoreArgs, WhenAsked};
use crate::settle::{config, hooks, limits, memory, model, paths, rules, sources, trust};
use crate::{toolset, words};

/// How long after the start commands of dead processes are looked for.
const REAP_AFTER_MS: u64 = 100;

/// A new random id.
pub(crate) fn new_id() -> String {
    uuid::Uuid::now_v7().to_string()
}

/// Opens the store: a server if an address was given, else a file.
pub(crate) async fn store(args: &StoreArgs) -> anyhow::Result<Arc<dyn Store>> {
    let path = store_path(args)?;
    match server(&path) {
        Some(url) => Ok(Arc::new(PostgresStore::open(url).await?)),
        None => Ok(Arc::new(SqliteStore::open(path)?)),
    }
}

/// The address, if the store is on a server.
pub(crate) fn server(place: &Path) -> Option<&str> {
    place.to_str().filter(|text| PostgresStore::is_address(text))
}

/// Where the store is.
pub(crate) fn store_path(args: &StoreArgs) -> anyhow::Result<PathBuf> {
    match &args.store {
        Some(path) => Ok(path.clone()),
        None => match config::read()?.store {
            Some(path) => Ok(path),
            None => Ok(paths::state()?.join("windlass.db")),
        },
    }
}

/// Everything a conversation is driven with.
pub(crate) struct Setup {
    /// The running runtime.
    pub(crate) windlass: Windlass,
    /// Where its conversations live.
    pub(crate) store: Arc<dyn Store>,
    /// The settings it drives with.
    pub(crate) settings: Settings,
    /// The folder tools work in.
    pub(crate) workspace: PathBuf,
    /// Whether somebody trusts it.
    pub(crate) trust: trust::Trust,
    /// Who decides what would have to be asked.
    pub(crate) when_asked: WhenAsked,
}

/// Who is asked for replies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Asks {
    /// The model that was chosen.
    Model,
    /// Nobody: what is to be done needs no reply.
    Nobody,
}

/// Starts driving.
pub(crate) async fn start(args: &AgentArgs) -> anyhow::Result<Setup> {
    start_on(None, args, Asks::Model).await
}

/// The same on a store that is open already. Else it is opened last: nothing is stored for a command
/// that was not understood.
pub(crate) async fn start_on(
    opened: Option<Arc<dyn Store>>,
    args: &AgentArgs,
    asks: Asks,
) -> anyhow::Result<Setup> {
    let workspace = paths::folder(&args.permissions.workspace, "--workspace")?;
    let trust = trust::of(&workspace);
    let sources = sources::all(&args.permissions, &workspace, trust)?;
    let config = config::read()?;
    let profile = config.profile(args.limits.profile.as_deref())?;
    let when_asked = rules::who_is_asked(&args.permissions, args.output.format());

    let clock: Arc<dyn windlass::ports::Clock> = Arc::new(SystemClock::start());
    let mut settings = Settings::new(windlass::ModelSettings::named(""));
    let chosen = match asks {
        Asks::Model => {
            model::choose(&mut settings, &args.model, (&config, &profile, &sources), &clock)?
        }
        Asks::Nobody => model::silent(&clock)?,
    };
    settings.rules = rules::permissions(&args.permissions, &sources, &workspace, when_asked)?;
    limits::apply(&mut settings, &profile, &args.limits)?;
    tell(&mut settings, args, &workspace);

    let around = (sources.as_slice(), &settings.rules);
    let (tools, workplace) = toolset::toolbox(args, &workspace, around, &clock)?;
    settings.tools = tools.specs();
    settings.output = toolset::output(args);
    let commands = hooks::commands(&mut settings, &sources, &workspace, &clock)?;
    // Commands of processes that died are ended beside the work: their owners' names are not ours.
    // Every process of the machine is looked at for that, so the first request goes first.
    let reaper = Arc::clone(&clock);
    tokio::spawn(async move {
        reaper.sleep(REAP_AFTER_MS).await;
        windlass::tools::reap_orphans(reaper.as_ref()).await
    });
    let store = match opened {
        Some(store) => store,
        None => store(&args.store).await?,
    };
    let windlass = Windlass::builder()
        .shared_model(chosen)
        .shared_store(Arc::clone(&store))
        .tools(windlass::tools::remembering(&tools, &workplace, &store))
        .command_hooks(commands)
        .workspace(&workspace)
        .lease(LeaseTimes { beat_ms: args.beat_ms, expiry_ms: args.lease_ms })
        .settings(|mine| *mine = settings.clone())
        .start()
        .await?;
    Ok(Setup { windlass, store, settings, workspace, trust, when_asked })
}

/// What the model is told before the conversation: the prompt, where it is, and memory files.
fn tell(settings: &mut Settings, args: &AgentArgs, workspace: &Path) {
    let files = memory::files(workspace);
    let mut parts = Vec::new();
    match &args.prompt.system_prompt {
        Some(own) => parts.push(own.clone()),
        None => parts.push(words::system(workspace)),
    }
    parts.extend(args.prompt.append_system_prompt.clone());
    for file in &files {
        parts.push(words::memory(&file.path, &file.text));
    }
    parts.retain(|part| !part.trim().is_empty());
    settings.system = Arc::from(parts.join("\n\n"));
    settings.window.preserve = memory::preserve(&files).map(Arc::from);
}
