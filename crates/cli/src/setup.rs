//! Builds the runtime from arguments, files and the environment.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::Context;
use windlass::core::log::ids::LaneId;
use windlass::core::permission::HumanAvailability;
use windlass::core::settings::conversation_settings::Settings;
use windlass::models::ModelRegistry;
use windlass::ports::Store;
use windlass::tools::{ImportPolicy, MemoryNotes, ToolContext};
use windlass::{LeaseTimes, SystemClock, ToolRegistry, Windlass, WindlassBuilder};

use crate::args::{AgentArgs, PermissionArgs, WhenAsked};
use crate::config::claude::agent_files::AgentFile;
use crate::config::claude::custom_commands::{self, CustomCommand};
use crate::config::claude::settings_sources::{self, SettingsSource};
use crate::config::claude::{hook_config, memory_files, permission_settings};
use crate::config::config_toml::{self, Config};
use crate::config::trust::folder_trust::{self, FolderTrust};
use crate::config::{limit_settings, model_selection, paths, run_settings, workspace_arg};
use crate::exit::OrUsageError;
use crate::{logging, messages, output, terminal, toolset};

mod agents;
mod store_location;

pub(crate) use store_location::{
    no_runs_message, open_existing_store, open_file, open_store, server_address, store_path,
};

/// Delay after the start before commands of dead processes are searched.
const REAP_AFTER_MS: u64 = 100;

/// Returns a new random id.
pub(crate) fn new_id() -> String {
    uuid::Uuid::now_v7().to_string()
}

/// Everything with which a conversation is driven.
pub(crate) struct RunSetup {
    /// The running runtime.
    pub(crate) windlass: Windlass,
    /// The store of its conversations.
    pub(crate) store: Arc<dyn Store>,
    /// The settings of its runs.
    pub(crate) settings: Settings,
    /// The names of the sub-agents.
    pub(crate) agents: Vec<String>,
    /// The custom commands.
    pub(crate) custom_commands: Vec<CustomCommand>,
    /// The folder in which tools work.
    pub(crate) workspace: PathBuf,
    /// State that tools share in the workspace.
    pub(crate) workplace: ToolContext,
    /// Whether the folder is trusted.
    pub(crate) trust: folder_trust::TrustState,
    /// How approvals are handled.
    pub(crate) when_asked: WhenAsked,
    /// Messages of hooks to the user.
    pub(crate) hook_messages: Arc<output::HookMessages>,
}

/// Whether the command needs a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ModelNeed {
    /// The chosen model is needed.
    Required,
    /// No model is needed: the command produces no reply.
    NotNeeded,
}

/// Starts the runtime.
pub(crate) async fn start(args: &AgentArgs) -> anyhow::Result<RunSetup> {
    start_for_conversation(None, args, ModelNeed::Required).await
}

/// A conversation, which may be new, in an open store.
#[derive(Clone)]
pub(crate) struct OpenConversation {
    pub(crate) store: Arc<dyn Store>,
    pub(crate) lane: LaneId,
}

/// Starts the runtime for a conversation, which may exist: it continues with its model unless
/// another one is named. Otherwise the store is opened last: nothing is stored for an invalid
/// command.
pub(crate) async fn start_for_conversation(
    opened: Option<OpenConversation>,
    args: &AgentArgs,
    asks: ModelNeed,
) -> anyhow::Result<RunSetup> {
    Box::pin(start_with(opened, args, asks, FlagScope::EveryRun)).await
}

/// Starts the runtime for one prompt: its flags apply to its run alone.
pub(crate) async fn start_for_prompt(
    opened: Option<OpenConversation>,
    args: &AgentArgs,
    asks: ModelNeed,
) -> anyhow::Result<RunSetup> {
    Box::pin(start_with(opened, args, asks, FlagScope::OwnRun)).await
}

/// The runs to which flags apply.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum FlagScope {
    /// Every run that this process drives.
    EveryRun,
    /// The run of the prompt with which the flags were given; they are sent with the prompt.
    OwnRun,
}

async fn start_with(
    opened: Option<OpenConversation>,
    args: &AgentArgs,
    asks: ModelNeed,
    flags: FlagScope,
) -> anyhow::Result<RunSetup> {
    logging::install(&args.output)?;
    let workspace = paths::resolve_folder(&args.permissions.workspace, "--workspace")?;
    let when_asked =
        permission_settings::resolve_when_asked(&args.permissions, args.output.format());
    let folder = check_folder_trust(&workspace, &args.permissions, when_asked)?;
    let trust = folder.trust;
    let sources =
        settings_sources::effective_sources(&args.permissions, &folder).or_usage_error()?;
    let config = config_toml::read()?;

    let clock: Arc<dyn windlass::ports::Clock> = Arc::new(SystemClock::start());
    let others = run_settings::for_other_runs(args);
    let earlier_model = match asks {
        ModelNeed::Required => {
            earlier_model(opened.as_ref(), [args, &others], (&config, &sources)).await?
        }
        ModelNeed::NotNeeded => None,
    };
    let base = RunBase { folder: &folder, config: &config, clock: &clock, asks, earlier_model };
    let (mut settings, models) = base.settings(args, when_asked, None).or_usage_error()?;
    let chosen = model_selection::open(&settings, &args.model, models, &clock).or_usage_error()?;
    add_memory_files(&mut settings, &folder);

    let agents = agents::load_agents(args, &workspace, trust)?;
    if let Some(state) = paths::state_folder().ok().filter(|state| !paths::can_be_written(state)) {
        terminal::print_note(&messages::nothing_remembered(&state));
    }
    let workplace = toolset::build_workplace(args, &workspace, &sources, &clock);
    let workplace = workplace.or_usage_error()?.with_rules(settings.rules.clone());
    let mut tools = offer(&mut settings, args, &agents.found, &workplace).or_usage_error()?;
    let hook_messages = Arc::default();
    let commands = hook_config::build_command_hooks(
        &mut settings,
        &sources,
        &workspace,
        &clock,
        &hook_messages,
    );
    let commands = commands.or_usage_error()?;
    let own_names = agent_names(&tools, &agents.found);
    let mut owner = settings.clone();
    if flags == FlagScope::OwnRun {
        if run_settings::is_given(args, &others) {
            let given = (&settings, &agents.found[..], &workplace);
            (owner, tools) = base.owner_settings(&others, when_asked, given).or_usage_error()?;
            owner.limits.hook_ms = owner.limits.hook_ms.max(commands.max_timeout_ms());
        }
        // Runs of other processes are parked for an answer, as with a worker.
        owner.rules.human = HumanAvailability::Available;
    }
    reap_orphans_later(Arc::clone(&clock));
    let store = match opened {
        Some(opened) => opened.store,
        None => open_store(&args.store).await?,
    };
    let every_tool: Vec<Arc<str>> = tools.specs().iter().map(|tool| tool.name.clone()).collect();
    let offered = tools.get(toolset::AGENT_TOOL).map_or(Vec::new(), |_| agents.found);
    let mut builder = Windlass::builder();
    for agent in offered {
        let known = (&config, asks);
        let definition =
            agents::agent_definition((&agent, &every_tool), args, known, (&workspace, &clock));
        builder = builder.sub_agent(&agent.name, definition.or_usage_error()?);
    }
    let parts = RunParts { args, folder: &folder, workplace: &workplace, store: &store };
    let builder = parts.add_to(builder.shared_model(chosen).command_hooks(commands), &tools)?;
    let builder = builder.retention(config.keep.to_policy());
    let windlass = builder.settings(|mine| *mine = owner).start().await?;
    let custom_commands = custom_commands::load_commands(&args.permissions, &workspace, trust);
    Ok(RunSetup {
        windlass,
        store,
        settings,
        agents: own_names,
        custom_commands,
        workspace,
        workplace,
        trust,
        when_asked,
        hook_messages,
    })
}

/// What a process needs besides its model, hooks and settings.
struct RunParts<'a> {
    args: &'a AgentArgs,
    folder: &'a FolderTrust,
    workplace: &'a ToolContext,
    store: &'a Arc<dyn Store>,
}

impl RunParts<'_> {
    fn add_to(
        &self,
        builder: WindlassBuilder,
        tools: &ToolRegistry,
    ) -> anyhow::Result<WindlassBuilder> {
        let Self { args, folder, workplace, store } = self;
        let (workspace, trust) = (&folder.folder, folder.trust);
        let (imports, notes) = memory_of_folders(trust);
        let tools = windlass::tools::with_folder_memory(tools, workplace, imports, notes);
        let given = &args.permissions.workspace;
        let lease = LeaseTimes::new(args.beat_ms, args.lease_ms);
        Ok(builder
            .shared_store(Arc::clone(store))
            .tools(toolset::with_reserves(tools, args)?)
            .shared_workspace(workspace_arg::resolve_workspace(given, workspace, trust))
            .tools_at_once(args.tools_at_once.into())
            .lease(lease))
    }
}

/// Ends commands of dead processes in the background: their owner ids differ from ours. This scans
/// every process of the machine, so the first request goes first.
fn reap_orphans_later(clock: Arc<dyn windlass::ports::Clock>) {
    tokio::spawn(async move {
        clock.sleep(REAP_AFTER_MS).await;
        windlass::tools::reap_orphans(clock.as_ref()).await
    });
}

/// The model that the conversation used before, unless every run of this process has a named one:
/// the whole conversation is read for it.
async fn earlier_model(
    opened: Option<&OpenConversation>,
    runs: [&AgentArgs; 2],
    (config, sources): (&Config, &[SettingsSource]),
) -> anyhow::Result<Option<String>> {
    let is_named = |args: &AgentArgs| {
        let profile = config.find_profile(args.limits.profile.as_deref());
        let named = |profile| {
            model_selection::configured_model(&args.model, (config, &profile, sources)).is_some()
        };
        args.model.script.is_some() || profile.is_ok_and(named)
    };
    match opened {
        Some(opened) if !runs.into_iter().all(is_named) => {
            model_selection::conversation_model(opened.store.as_ref(), &opened.lane).await
        }
        Some(_) | None => Ok(None),
    }
}

/// The base of a run's settings, independent of what was given with its prompt.
struct RunBase<'a> {
    folder: &'a FolderTrust,
    config: &'a Config,
    clock: &'a Arc<dyn windlass::ports::Clock>,
    asks: ModelNeed,
    /// The model that the conversation used before.
    earlier_model: Option<String>,
}

impl RunBase<'_> {
    /// The settings of a run with these flags, without tools, and the models that it can call: the
    /// named one, else the default, else the last resort.
    fn settings(
        &self,
        args: &AgentArgs,
        when_asked: WhenAsked,
        last_resort: Option<String>,
    ) -> anyhow::Result<(Settings, Option<ModelRegistry>)> {
        let folder = &self.folder.folder;
        let sources = settings_sources::effective_sources(&args.permissions, self.folder)?;
        let profile = self.config.find_profile(args.limits.profile.as_deref());
        let profile = profile?;
        let known = (self.config, &profile);
        let mut settings = Settings::new(windlass::ModelSettings::with_defaults(""));
        let named = match self.asks {
            ModelNeed::Required => {
                model_selection::configured_model(&args.model, (self.config, &profile, &sources))
                    .or_else(|| self.earlier_model.clone())
            }
            ModelNeed::NotNeeded => run_settings::given_model(args, &profile)?,
        };
        let models = match (self.asks, &named) {
            (ModelNeed::NotNeeded, None) => {
                model_selection::describe_controls(&mut settings, &args.model, known, self.clock)?;
                None
            }
            (ModelNeed::NotNeeded | ModelNeed::Required, _) => {
                let names = (named, last_resort);
                model_selection::describe(&mut settings, &args.model, known, names, self.clock)?
            }
        };
        let rules =
            permission_settings::build_permissions(&args.permissions, &sources, folder, when_asked);
        settings.rules = rules?;
        limit_settings::apply_limits(&mut settings, &profile, &args.limits)?;
        let markers =
            messages::end_marker_instruction(&model_selection::merge_controls(&args.model, known)?);
        set_system_prompt(&mut settings, args, folder, &markers);
        Ok((settings, models.filter(|_| self.asks == ModelNeed::Required)))
    }

    /// The settings and tools for runs that other processes started, with these flags.
    fn owner_settings(
        &self,
        others: &AgentArgs,
        when_asked: WhenAsked,
        (given, agents, workplace): (&Settings, &[AgentFile], &ToolContext),
    ) -> anyhow::Result<(Settings, ToolRegistry)> {
        let model = Some(given.model.name.to_string());
        let (mut owner, _) = self.settings(others, when_asked, model)?;
        let tools = offer(&mut owner, others, agents, workplace)?;
        owner.user_context = given.user_context.clone();
        owner.hooks = given.hooks;
        Ok((owner, tools))
    }
}

/// Checks whether a run with this profile could start: by the same checks as a run, without its
/// model, its store and the settings files of the folder.
pub(crate) fn check_profile(
    name: &str,
    config: &Config,
    folder: &FolderTrust,
) -> anyhow::Result<()> {
    let args = AgentArgs::of_profile(name);
    let clock: Arc<dyn windlass::ports::Clock> = Arc::new(SystemClock::start());
    let (asks, earlier_model) = (ModelNeed::NotNeeded, None);
    let base = RunBase { folder, config, clock: &clock, asks, earlier_model };
    let (mut settings, _) = base.settings(&args, WhenAsked::Park, None)?;
    let workplace = toolset::build_workplace(&args, &folder.folder, &[], &clock)?;
    offer(&mut settings, &args, &[], &workplace).map(drop)
}

/// Adds the tools of a run with these flags to its settings, and returns them.
fn offer(
    settings: &mut Settings,
    args: &AgentArgs,
    agents: &[AgentFile],
    workplace: &ToolContext,
) -> anyhow::Result<ToolRegistry> {
    let tools = toolset::build_tools(args, (&settings.rules, agents), workplace);
    let tools = tools?;
    settings.tools = tools.specs();
    settings.output = toolset::structured_output(args);
    settings.check_tool_names()?;
    Ok(tools)
}

/// The names of the sub-agents, if the agent tool is offered.
fn agent_names(tools: &ToolRegistry, agents: &[AgentFile]) -> Vec<String> {
    let names = || agents.iter().map(|agent| agent.name.clone()).collect();
    tools.get(toolset::AGENT_TOOL).map_or_else(Vec::new, |_| names())
}

/// Checks the trust of the folder. What is ignored is reported once; at a terminal the user is
/// asked first.
fn check_folder_trust(
    workspace: &Path,
    args: &PermissionArgs,
    when_asked: WhenAsked,
) -> anyhow::Result<FolderTrust> {
    let mut folder =
        FolderTrust::load(workspace, |source| args.reads_source(source)).or_usage_error()?;
    settings_sources::check_sources(args, &folder).or_usage_error()?;
    let reads = args.reads_source("project") || args.reads_source("local");
    if reads {
        ask_about_trust(&mut folder, when_asked)?;
        if folder.has_ignored_grants() && folder.grants.affect_every_run() {
            terminal::print_note(&messages::folder_untrusted(&folder));
        }
    }
    Ok(folder)
}

/// Asks once at the terminal whether to trust a folder whose settings are ignored.
pub(crate) fn ask_about_trust(
    folder: &mut FolderTrust,
    when_asked: WhenAsked,
) -> anyhow::Result<()> {
    let asks =
        when_asked == WhenAsked::Prompt && !folder.is_declined && folder.grants.too_much.is_none();
    if asks && folder.has_ignored_grants() {
        let decision = output::ask_trust(folder).context("cannot use the terminal")?;
        decision.map(|decision| folder.record_decision(decision)).transpose()?;
    }
    Ok(())
}

/// Adds memory files to the settings for the model, and reports problems with them.
fn add_memory_files(settings: &mut Settings, folder: &FolderTrust) {
    let memory = memory_files::load_memory_files(folder);
    memory.problems.iter().for_each(|problem| terminal::print_note(&messages::warning(problem)));
    settings.user_context = Arc::from(messages::memory_context(&memory.files));
}

/// What memory files of nested folders may import, and how problems with them are reported.
fn memory_of_folders(trust: folder_trust::TrustState) -> (ImportPolicy, MemoryNotes) {
    let imports = match trust {
        folder_trust::TrustState::Trusted => ImportPolicy::Allowed,
        folder_trust::TrustState::Untrusted => ImportPolicy::Ignored,
    };
    (imports, Arc::new(|problem: &str| terminal::print_note(&messages::warning(problem))))
}

/// Sets the system prompt: the given or the default one, what is appended to it, and end markers.
fn set_system_prompt(settings: &mut Settings, args: &AgentArgs, workspace: &Path, markers: &str) {
    let own = args.prompt.system_prompt.clone();
    let own = own.unwrap_or_else(|| messages::system_prompt(workspace));
    let parts = [Some(own), args.prompt.append_system_prompt.clone(), Some(markers.to_owned())];
    settings.system = Arc::from(join_parts(parts.into_iter().flatten()));
}

fn join_parts(parts: impl IntoIterator<Item = String>) -> String {
    let parts = parts.into_iter().filter(|part| !part.trim().is_empty());
    parts.collect::<Vec<_>>().join("\n\n")
}
