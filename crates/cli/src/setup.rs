//! Puts the parts together from what was typed, from files and from the environment.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::Context;
use windlass::core::ids::LaneId;
use windlass::core::permission::Human;
use windlass::core::settings::Settings;
use windlass::memory::MemoryStore;
use windlass::models::Models;
use windlass::ports::Store;
use windlass::postgres::PostgresStore;
use windlass::sqlite::SqliteStore;
use windlass::tools::{Imports, MemoryNotes, Workplace};
use windlass::{Definition, LeaseTimes, SystemClock, Toolbox, Windlass};

use crate::args::{AgentArgs, PermissionArgs, StoreArgs, WhenAsked};
use crate::exit::{OrUsageError, UsageError};
use crate::settle::agents::{self, FileAgent};
use crate::settle::config::{self, Config};
use crate::settle::customs::{self, Custom};
use crate::settle::sources::Source;
use crate::settle::trust::FolderTrust;
use crate::settle::{
    hooks, limits, memory, model, paths, rules, run_settings, sources, trust, workspace,
};
use crate::{logging, show, toolset, words};

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
        None => Ok(Arc::new(open_file(&path)?)),
    }
}

/// Opens a store in a file, and says so if the file was open to others until now.
pub(crate) fn open_file(path: &Path) -> anyhow::Result<SqliteStore> {
    let mode = || path.metadata().ok().map(|found| found.permissions().mode() & 0o777);
    let is_open = |mode: &u32| mode & 0o077 != 0;
    let before = mode().filter(is_open);
    let store = SqliteStore::open(path)?;
    if let (Some(before), Some(after)) = (before, mode().filter(|mode| !is_open(mode))) {
        show::note(&words::made_private(path, before, after));
    }
    Ok(store)
}

/// Opens the store for a command that is about what is there already: a file that does not exist is
/// not made, and looks like a store in which nothing ran.
pub(crate) async fn existing_store(args: &StoreArgs) -> anyhow::Result<Arc<dyn Store>> {
    match is_missing(&store_path(args)?) {
        true => Ok(Arc::new(MemoryStore::new())),
        false => store(args).await,
    }
}

/// What is said where nothing ran yet. A file that was named and is not there may be a slip.
pub(crate) fn no_runs(args: &StoreArgs) -> String {
    let missing = args.store.as_deref().filter(|path| is_missing(path));
    missing.map_or_else(|| words::NO_RUNS.to_owned(), words::no_store)
}

/// Whether the file of a store does not exist. One that cannot be looked at is told when it is opened.
fn is_missing(path: &Path) -> bool {
    let is_not_found = |error: std::io::Error| error.kind() == std::io::ErrorKind::NotFound;
    server(path).is_none() && path.metadata().err().is_some_and(is_not_found)
}

/// The address, if the store is on a server.
pub(crate) fn server(place: &Path) -> Option<&str> {
    place.to_str().filter(|text| PostgresStore::is_address(text))
}

/// Where the store is.
pub(crate) fn store_path(args: &StoreArgs) -> anyhow::Result<PathBuf> {
    if let Some(path) = &args.store {
        return match unknown_scheme(path) {
            Some(scheme) => unknown_store(scheme, "--store"),
            None => Ok(path.clone()),
        };
    }
    if let Some(path) = std::env::var_os("WINDLASS_STORE").filter(|path| !path.is_empty()) {
        let path = PathBuf::from(path);
        return match unknown_scheme(&path) {
            Some(scheme) => unknown_store(scheme, "WINDLASS_STORE"),
            None => Ok(path),
        };
    }
    match config::read()?.store {
        Some(path) => match unknown_scheme(&path) {
            Some(scheme) => unknown_store(scheme, "`store` in config.toml"),
            None => Ok(path),
        },
        None => Ok(paths::state()?.join("windlass.db")),
    }
}

fn unknown_store(scheme: &str, given: &str) -> anyhow::Result<PathBuf> {
    Err(UsageError::of(anyhow::anyhow!(words::unknown_store(scheme, given))))
}

/// The scheme of an address that no store understands. A file of that name would be made silently.
fn unknown_scheme(place: &Path) -> Option<&str> {
    let text = place.to_str()?;
    let (scheme, rest) = text.split_once(':')?;
    let is_scheme = scheme.starts_with(|c: char| c.is_ascii_alphabetic())
        && scheme.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.'));
    let is_address =
        rest.starts_with("//") || matches!(scheme, "sqlite" | "postgres" | "postgresql");
    (is_scheme && is_address && server(place).is_none()).then_some(scheme)
}

/// Everything a conversation is driven with.
pub(crate) struct Setup {
    /// The running runtime.
    pub(crate) windlass: Windlass,
    /// Where its conversations live.
    pub(crate) store: Arc<dyn Store>,
    /// The settings it drives with.
    pub(crate) settings: Settings,
    /// The agents that children may be.
    pub(crate) agents: Vec<String>,
    /// The commands that people wrote down.
    pub(crate) customs: Vec<Custom>,
    /// The folder tools work in.
    pub(crate) workspace: PathBuf,
    /// What tools share there.
    pub(crate) workplace: Workplace,
    /// Whether somebody trusts it.
    pub(crate) trust: trust::Trust,
    /// Who decides what would have to be asked.
    pub(crate) when_asked: WhenAsked,
    /// What hooks say to the user.
    pub(crate) hook_messages: Arc<show::HookMessages>,
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

/// A conversation that may have begun, in a store that is open.
#[derive(Clone)]
pub(crate) struct Opened {
    pub(crate) store: Arc<dyn Store>,
    pub(crate) lane: LaneId,
}

/// The same for a conversation that may have begun: it goes on with its model unless another one is
/// named. Else the store is opened last: nothing is stored for a command that was not understood.
pub(crate) async fn start_on(
    opened: Option<Opened>,
    args: &AgentArgs,
    asks: Asks,
) -> anyhow::Result<Setup> {
    Box::pin(start_with(opened, args, asks, FlagScope::EveryRun)).await
}

/// The same for one prompt: what was given as flags is for its run alone.
pub(crate) async fn start_for_prompt(
    opened: Option<Opened>,
    args: &AgentArgs,
    asks: Asks,
) -> anyhow::Result<Setup> {
    Box::pin(start_with(opened, args, asks, FlagScope::OwnRun)).await
}

/// Which runs what was given as flags is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum FlagScope {
    /// Every run that this process drives.
    EveryRun,
    /// The run of the prompt that they were given with; it brings them along.
    OwnRun,
}

async fn start_with(
    opened: Option<Opened>,
    args: &AgentArgs,
    asks: Asks,
    flags: FlagScope,
) -> anyhow::Result<Setup> {
    logging::install(&args.output)?;
    let workspace = paths::folder(&args.permissions.workspace, "--workspace")?;
    let when_asked = rules::who_is_asked(&args.permissions, args.output.format());
    let folder = trusted(&workspace, &args.permissions, when_asked)?;
    let trust = folder.trust;
    let sources = sources::in_force(&args.permissions, &folder).or_usage_error()?;
    let config = config::read()?;

    let clock: Arc<dyn windlass::ports::Clock> = Arc::new(SystemClock::start());
    let others = run_settings::for_other_runs(args);
    let earlier_model = match asks {
        Asks::Model => earlier_model(opened.as_ref(), [args, &others], (&config, &sources)).await?,
        Asks::Nobody => None,
    };
    let base = RunBase { folder: &folder, config: &config, clock: &clock, asks, earlier_model };
    let (mut settings, models) = base.settings(args, when_asked, None).or_usage_error()?;
    let chosen = model::open(&settings, &args.model, models, &clock).or_usage_error()?;
    remember(&mut settings, &folder);

    let agents =
        agents::all(&agents::files(|source| args.permissions.reads(source), &workspace, trust));
    agents.problems.iter().for_each(|problem| show::note(&words::problem(problem)));
    sources::tell_of_agents(&args.permissions, &agents.findings).or_usage_error()?;
    if let Some(state) = paths::state().ok().filter(|state| !paths::can_be_written(state)) {
        show::note(&words::nothing_remembered(&state));
    }
    let workplace = toolset::workplace(args, &workspace, &sources, &clock);
    let workplace = workplace.or_usage_error()?.ruled_by(settings.rules.clone());
    let mut tools = offer(&mut settings, args, &agents.found, &workplace).or_usage_error()?;
    let hook_messages = Arc::default();
    let commands = hooks::commands(&mut settings, &sources, &workspace, &clock, &hook_messages);
    let commands = commands.or_usage_error()?;
    let own_names = agent_names(&tools, &agents.found);
    let mut owner = settings.clone();
    if flags == FlagScope::OwnRun {
        if run_settings::is_given(args, &others) {
            let model = Some(settings.model.name.to_string());
            (owner, _) = base.settings(&others, when_asked, model).or_usage_error()?;
            tools = offer(&mut owner, &others, &agents.found, &workplace).or_usage_error()?;
            owner.user_context = settings.user_context.clone();
            owner.hooks = settings.hooks;
            owner.limits.hook_ms = owner.limits.hook_ms.max(commands.longest_ms());
        }
        // Runs that others began wait for an answer, as with a worker.
        owner.rules.human = Human::Reachable;
    }
    end_orphans_later(Arc::clone(&clock));
    let store = match opened {
        Some(opened) => opened.store,
        None => store(&args.store).await?,
    };
    let offered = tools.get(toolset::AGENT).map_or(Vec::new(), |_| agents.found);
    let every_tool: Vec<Arc<str>> = tools.specs().iter().map(|tool| tool.name.clone()).collect();
    let mut builder = Windlass::builder();
    for agent in offered {
        let definition =
            definition((&agent, &every_tool), args, (&config, asks), (&workspace, &clock));
        let definition = definition.or_usage_error()?;
        builder = builder.agent(&agent.name, definition);
    }
    let windlass = builder
        .shared_model(chosen)
        .shared_store(Arc::clone(&store))
        .tools(toolset::with_reserves(
            windlass::tools::remembering(&tools, &workplace, &store, memory_of_folders(trust)),
            args,
        )?)
        .command_hooks(commands)
        .shared_workspace(workspace::of(&args.permissions.workspace, &workspace, trust))
        .keeping(config.keep.settled())
        .tools_at_once(args.tools_at_once.into())
        .lease(LeaseTimes { beat_ms: args.beat_ms, expiry_ms: args.lease_ms })
        .settings(|mine| *mine = owner)
        .start()
        .await?;
    let customs = customs::all(&args.permissions, &workspace, trust);
    Ok(Setup {
        windlass,
        store,
        settings,
        agents: own_names,
        customs,
        workspace,
        workplace,
        trust,
        when_asked,
        hook_messages,
    })
}

/// Ends commands of processes that died, beside the work: their owners' names are not ours. Every
/// process of the machine is looked at for that, so the first request goes first.
fn end_orphans_later(clock: Arc<dyn windlass::ports::Clock>) {
    tokio::spawn(async move {
        clock.sleep(REAP_AFTER_MS).await;
        windlass::tools::reap_orphans(clock.as_ref()).await
    });
}

/// The model that a conversation was asked with before, unless every run of this process has one that
/// was named: the whole conversation is read for it.
async fn earlier_model(
    opened: Option<&Opened>,
    runs: [&AgentArgs; 2],
    (config, sources): (&Config, &[Source]),
) -> anyhow::Result<Option<String>> {
    let is_named = |args: &AgentArgs| {
        let profile = config.profile(args.limits.profile.as_deref());
        let named = |profile| model::named(&args.model, (config, &profile, sources)).is_some();
        args.model.script.is_some() || profile.is_ok_and(named)
    };
    match opened {
        Some(opened) if !runs.into_iter().all(is_named) => {
            model::of_conversation(opened.store.as_ref(), &opened.lane).await
        }
        Some(_) | None => Ok(None),
    }
}

/// What the settings of a run begin with, whatever was given with its prompt.
struct RunBase<'a> {
    folder: &'a FolderTrust,
    config: &'a Config,
    clock: &'a Arc<dyn windlass::ports::Clock>,
    asks: Asks,
    /// The model that the conversation was asked with before.
    earlier_model: Option<String>,
}

impl RunBase<'_> {
    /// The settings of a run with these flags, without tools, and the models that it can ask: the one
    /// that is named, else the default, else the last resort.
    fn settings(
        &self,
        args: &AgentArgs,
        when_asked: WhenAsked,
        last_resort: Option<String>,
    ) -> anyhow::Result<(Settings, Option<Models>)> {
        let folder = &self.folder.folder;
        let sources = sources::in_force(&args.permissions, self.folder)?;
        let profile = self.config.profile(args.limits.profile.as_deref());
        let profile = profile?;
        let known = (self.config, &profile);
        let mut settings = Settings::new(windlass::ModelSettings::named(""));
        let named = match self.asks {
            Asks::Model => model::named(&args.model, (self.config, &profile, &sources))
                .or_else(|| self.earlier_model.clone()),
            Asks::Nobody => run_settings::given_model(args, &profile)?,
        };
        let models = match (self.asks, &named) {
            (Asks::Nobody, None) => {
                model::describe_controls(&mut settings, &args.model, known, self.clock)?;
                None
            }
            (Asks::Nobody | Asks::Model, _) => {
                let names = (named, last_resort);
                model::describe(&mut settings, &args.model, known, names, self.clock)?
            }
        };
        let rules = rules::permissions(&args.permissions, &sources, folder, when_asked);
        settings.rules = rules?;
        limits::apply(&mut settings, &profile, &args.limits)?;
        let markers = words::end_markers(&model::controls(&args.model, known)?);
        tell(&mut settings, args, folder, &markers);
        Ok((settings, models.filter(|_| self.asks == Asks::Model)))
    }
}

/// Whether a run with this profile could begin: judged by what judges a run, without its model, its
/// store and the settings files of the folder.
pub(crate) fn check_profile(
    name: &str,
    config: &Config,
    folder: &FolderTrust,
) -> anyhow::Result<()> {
    let args = AgentArgs::of_profile(name);
    let clock: Arc<dyn windlass::ports::Clock> = Arc::new(SystemClock::start());
    let (asks, earlier_model) = (Asks::Nobody, None);
    let base = RunBase { folder, config, clock: &clock, asks, earlier_model };
    let (mut settings, _) = base.settings(&args, WhenAsked::Park, None)?;
    let workplace = toolset::workplace(&args, &folder.folder, &[], &clock)?;
    offer(&mut settings, &args, &[], &workplace).map(drop)
}

/// Offers the tools of a run with these flags, and gives them.
fn offer(
    settings: &mut Settings,
    args: &AgentArgs,
    agents: &[FileAgent],
    workplace: &Workplace,
) -> anyhow::Result<Toolbox> {
    let tools = toolset::toolbox(args, (&settings.rules, agents), workplace);
    let tools = tools?;
    settings.tools = tools.specs();
    settings.output = toolset::output(args);
    settings.check_tool_names()?;
    Ok(tools)
}

/// The agents that children may be, if any may.
fn agent_names(tools: &Toolbox, agents: &[FileAgent]) -> Vec<String> {
    let names = || agents.iter().map(|agent| agent.name.clone()).collect();
    tools.get(toolset::AGENT).map_or_else(Vec::new, |_| names())
}

/// How it stands with trust in the folder. What is ignored is said once; at a terminal the user is
/// asked first.
fn trusted(
    workspace: &Path,
    args: &PermissionArgs,
    when_asked: WhenAsked,
) -> anyhow::Result<FolderTrust> {
    let mut folder = FolderTrust::look(workspace, |source| args.reads(source)).or_usage_error()?;
    sources::check(args, &folder).or_usage_error()?;
    let reads = args.reads("project") || args.reads("local");
    if reads {
        ask_about(&mut folder, when_asked)?;
        if folder.ignores_something() && folder.grants.concern_every_run() {
            show::note(&words::untrusted(&folder));
        }
    }
    Ok(folder)
}

/// Asks whoever sits at the terminal about a folder whose settings are ignored, once.
pub(crate) fn ask_about(folder: &mut FolderTrust, when_asked: WhenAsked) -> anyhow::Result<()> {
    let asks =
        when_asked == WhenAsked::Prompt && !folder.is_declined && folder.grants.too_much.is_none();
    if asks && folder.ignores_something() {
        let decision = show::ask_trust(folder).context("the terminal cannot be used")?;
        decision.map(|decision| folder.decide(decision)).transpose()?;
    }
    Ok(())
}

/// What memory files say, for the model; what is wrong with them is told.
fn remember(settings: &mut Settings, folder: &FolderTrust) {
    let memory = memory::files(folder);
    memory.problems.iter().for_each(|problem| show::note(&words::problem(problem)));
    settings.user_context = Arc::from(words::user_context(&memory.files));
}

/// What memory files of deeper folders may import, and where problems with them are told.
fn memory_of_folders(trust: trust::Trust) -> (Imports, MemoryNotes) {
    let imports = match trust {
        trust::Trust::Given => Imports::Allowed,
        trust::Trust::Missing => Imports::Ignored,
    };
    (imports, Arc::new(|problem: &str| show::note(&words::problem(problem))))
}

/// What the model is told before the conversation: the prompt and where it is.
fn tell(settings: &mut Settings, args: &AgentArgs, workspace: &Path, markers: &str) {
    let own = args.prompt.system_prompt.clone();
    let own = own.unwrap_or_else(|| words::system(workspace));
    let parts = [Some(own), args.prompt.append_system_prompt.clone(), Some(markers.to_owned())];
    settings.system = Arc::from(together(parts.into_iter().flatten()));
}

fn together(parts: impl IntoIterator<Item = String>) -> String {
    let parts = parts.into_iter().filter(|part| !part.trim().is_empty());
    parts.collect::<Vec<_>>().join("\n\n")
}

/// An agent that children may be, as its file says it.
fn definition(
    (agent, every_tool): (&FileAgent, &[Arc<str>]),
    args: &AgentArgs,
    (config, asks): (&Config, Asks),
    (workspace, clock): (&Path, &Arc<dyn windlass::ports::Clock>),
) -> anyhow::Result<Definition> {
    let told = words::agent(&agent.prompt, workspace);
    let mut definition = Definition::new(&agent.about).system(&told);
    let mut names: Vec<&str> = match &agent.tools {
        Some(tools) => tools.iter().map(|tool| rules::tool_of(tool)).collect(),
        None => every_tool.iter().map(AsRef::as_ref).collect(),
    };
    names.retain(|name| !agent.disallowed.iter().any(|rule| rules::is_for(rule, name)));
    if agent.tools.is_some() || !agent.disallowed.is_empty() {
        definition = definition.tools(&names);
    }
    let model = agent.model.as_deref().filter(|_| asks == Asks::Model);
    let model = model.map(|name| model::of_agent(name, &args.model, config, clock));
    let model = model.transpose().with_context(|| words::agent_model(&agent.name))?.flatten();
    let effort = agent.effort;
    Ok(definition.settings(move |settings| {
        if let Some(model) = model {
            settings.model = model;
        }
        settings.thinking.effort = effort.or(settings.thinking.effort);
    }))
}
