//! Builds the runtime from arguments, files and the environment.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use windlass::core::log::ids::LaneId;
use windlass::core::permission::CommandConfinement;
use windlass::core::settings::conversation_settings::Settings;
use windlass::mcp::McpServers;
use windlass::ports::Store;
use windlass::tools::{CommandHooks, ToolContext};
use windlass::{LeaseTimes, SystemClock, ToolRegistry, Windlass, WindlassBuilder};

use crate::args::{AgentArgs, WhenAsked};
use crate::config::claude::custom_commands::CustomCommand;
use crate::config::claude::hook_config::{self, AgentHooks, HookListeners};
use crate::config::claude::output_styles;
use crate::config::claude::settings_sources::{self, SettingsSource};
use crate::config::claude::{memory_files, permission_settings};
use crate::config::config_toml::{self, Config};
use crate::config::plugins::Plugin;
use crate::config::sandbox_level::LevelChoice;
use crate::config::sandbox_settings::SandboxChoice;
use crate::config::trust::folder_trust::{self, FolderTrust};
use crate::config::trust::ignored_settings::IgnoredSettings;
use crate::config::{model_selection, paths, run_settings, workspace_arg};
use crate::exit::OrUsageError;
use crate::prompt::slash_command;
use crate::toolset::AddedTools;
use crate::{logging, messages, output, terminal, toolset};

mod agents;
#[cfg(feature = "server")]
mod api_run_settings;
mod folder_check;
mod folder_sandbox;
mod host_files;
mod host_parts;
pub(crate) mod mcp_servers;
mod profile_check;
mod prompt_text;
mod run_base;
pub(crate) mod session_changes;
mod store_location;
mod worktrees;

#[cfg(feature = "server")]
pub(crate) use api_run_settings::resolve_run_options;
pub(crate) use folder_check::ask_about_trust;
pub(crate) use folder_sandbox::{FolderSandbox, launcher_here, sandbox_of_folder};
pub(crate) use host_files::HookReportSink;
pub(crate) use host_parts::{HostParts, waits_for_background_agents};
pub(crate) use profile_check::check_profile;
use run_base::RunBase;
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
    /// The sub-agents.
    pub(crate) agents: agents::AgentListing,
    /// The names of the commands that a prompt can begin with.
    pub(crate) slash_commands: Vec<String>,
    /// The names of the skills.
    pub(crate) skills: Vec<String>,
    /// The plugins in force.
    pub(crate) plugins: Vec<Arc<Plugin>>,
    /// The output style in use.
    pub(crate) output_style: String,
    /// The output styles that can be chosen.
    pub(crate) output_styles: Vec<String>,
    /// The custom commands.
    pub(crate) custom_commands: Vec<CustomCommand>,
    /// The folder in which tools work.
    pub(crate) workspace: PathBuf,
    /// State that tools share in the workspace.
    pub(crate) workplace: ToolContext,
    /// Whether the folder is trusted.
    pub(crate) trust: folder_trust::TrustState,
    /// What is ignored because the folder is not trusted.
    pub(crate) ignored_settings: Option<IgnoredSettings>,
    /// How approvals are handled.
    pub(crate) when_asked: WhenAsked,
    /// Messages of hooks to the user.
    pub(crate) hook_messages: Arc<output::HookMessages>,
    /// The MCP servers.
    pub(crate) mcp: McpServers,
    /// The level of the sandbox.
    pub(crate) sandbox: LevelChoice,
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

impl OpenConversation {
    /// A new conversation that ends with this process.
    pub(crate) fn in_memory(session_id: Option<&str>) -> Self {
        let id = session_id.map_or_else(new_id, str::to_owned);
        let store: Arc<dyn Store> = Arc::new(windlass::memory::MemoryStore::new());
        Self { store, lane: LaneId::from(format!("conversation:{id}")) }
    }
}

/// Starts the runtime for a conversation, which may exist: it continues with its model unless
/// another one is named. Otherwise the store is opened last: nothing is stored for an invalid
/// command.
pub(crate) async fn start_for_conversation(
    opened: Option<OpenConversation>,
    args: &AgentArgs,
    asks: ModelNeed,
) -> anyhow::Result<RunSetup> {
    Box::pin(start_with(opened, args, asks, FlagScope::EveryRun, HostParts::default())).await
}

/// Starts the runtime for a process that drives the runs of others, whenever they come: it outlives
/// sub-agents in the background.
pub(crate) async fn start_for_service(args: &AgentArgs) -> anyhow::Result<RunSetup> {
    let parts = HostParts { background_agents: true, ..HostParts::default() };
    Box::pin(start_with(None, args, ModelNeed::Required, FlagScope::EveryRun, parts)).await
}

/// Starts the runtime for one prompt: its flags apply to its run alone.
pub(crate) async fn start_for_prompt(
    opened: Option<OpenConversation>,
    args: &AgentArgs,
    asks: ModelNeed,
) -> anyhow::Result<RunSetup> {
    let background_agents = waits_for_background_agents(&args.output);
    let parts = HostParts { background_agents, ..HostParts::default() };
    Box::pin(start_with(opened, args, asks, FlagScope::OwnRun, parts)).await
}

/// Starts the runtime for a program at the other end of the SDK channel.
pub(crate) async fn start_for_host(
    opened: Option<OpenConversation>,
    args: &AgentArgs,
    host: HostParts,
) -> anyhow::Result<RunSetup> {
    let asks = ModelNeed::Required;
    Box::pin(start_with(opened, args, asks, FlagScope::EveryRun, host)).await
}

/// The runs to which flags apply.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum FlagScope {
    /// Every run that this process drives.
    EveryRun,
    /// The run of the prompt with which the flags were given; they are sent with the prompt. Runs of
    /// other processes are parked for an answer, as with a worker.
    OwnRun,
}

async fn start_with(
    opened: Option<OpenConversation>,
    args: &AgentArgs,
    asks: ModelNeed,
    flags: FlagScope,
    host: HostParts,
) -> anyhow::Result<RunSetup> {
    logging::install(&args.output)?;
    let workspace = paths::resolve_folder(&args.permissions.workspace, "--workspace")?;
    let when_asked =
        permission_settings::resolve_when_asked(&args.permissions, args.output.format());
    let config = config_toml::read()?;
    let (folder, programs, ignored_settings) =
        folder_check::check_folder(&workspace, &args.permissions, &config, when_asked)?;
    let sources =
        settings_sources::effective_sources(&args.permissions, &folder).or_usage_error()?;
    let clock: Arc<dyn windlass::ports::Clock> = Arc::new(SystemClock::start());
    let others = run_settings::for_other_runs(args);
    let named = opened.as_ref().filter(|_| asks == ModelNeed::Required);
    let earlier_model = earlier_model(named, [args, &others], (&config, &sources)).await?;
    let output_style = output_styles::chosen_style(&sources);
    let styles =
        prompt_text::check_styles(&args.permissions, &folder, output_style).or_usage_error()?;
    let level = LevelChoice::resolve(&args.permissions, &config.sandbox, (&sources, &workspace))?;
    let base = RunBase::new((&folder, &config, &clock), level, asks, earlier_model);
    let (mut settings, models) = base.settings(args, when_asked, None).or_usage_error()?;
    let chosen = model_selection::open(&settings, &args.model, models, &clock).or_usage_error()?;
    let memory = prompt_text::add_context(&mut settings, args, &folder, host.context_clock(&clock));
    let plugins = settings_sources::plugins_of(&sources);
    let agents = agents::load_agents(args, &workspace, folder.trust, &plugins)?;
    check_old_state(&clock);
    let built = toolset::build_workplace(args, &workspace, &sources, &programs, &clock);
    let workplace = record_sandbox(&mut settings, built.or_usage_error()?);
    let workplace = host.add_files_to(workplace, &settings);
    let (worktrees, workplace) = worktrees::prepare(&agents.found, &folder, &clock, workplace);
    let skills = agents::load_skills(args, &folder, &plugins);
    let web = (&config.web, &clock);
    let added = AddedTools { agents: &agents.found, programs: &programs, skills: &skills, web };
    let mut tools = offer(&mut settings, args, &added, &workplace).or_usage_error()?;
    let ports = (&clock, workplace.launcher());
    let mcp =
        mcp_servers::start_for_runs(args, asks, &folder, (host.servers, host.adds_servers), ports)
            .await?;
    tools = mcp_servers::offer_tools(&mut settings, tools, &mcp, &workplace);
    let hook_messages: Arc<output::HookMessages> = Arc::default();
    let listeners = hook_listeners(host.hook_reports, &hook_messages);
    let known = (&sources[..], workspace.as_path(), &clock);
    let agent_hooks = AgentHooks::new(known, workplace.launcher(), listeners.clone());
    let commands = build_hooks(&mut settings, known, host.hooks.as_ref(), listeners)?;
    let commands = with_instructions(commands, &memory);
    let listed = agents::AgentListing::of(&tools, &agents.found);
    let given = (&settings, &added, &workplace, &mcp);
    let scope = (flags, run_settings::is_given(args, &others));
    let owner = base.owner_of(scope, (&others, when_asked), given, tools);
    let (owner, tools) = owner.or_usage_error()?;
    let store = store_location::take_store(opened, &args.store, &clock).await?;
    let offered = tools.get(toolset::AGENT_TOOL).map_or(Vec::new(), |_| agents.found);
    let (place, own) = ((&*workspace, &clock), (&skills, &agent_hooks, worktrees.as_ref()));
    let builder = agents::add_sub_agents(offered, &tools, args, (&config, asks), place, own)?;
    worktrees::finish_leftovers(worktrees, store.as_ref()).await;
    let background = host.background_agents;
    let parts =
        RunParts { args, folder: &folder, workplace: &workplace, store: &store, background };
    let builder = builder.shared_model(chosen).agent_tasks(host.agent_tasks);
    let builder = add_confined_hooks(builder, &workplace, commands, host.hooks);
    let builder = parts.add_to(builder, &tools)?.retention(config.keep.to_policy());
    let windlass = builder.settings(|mine| *mine = owner).start().await?;
    let custom_commands = agents::load_commands(args, &folder, &plugins);
    Ok(RunSetup {
        windlass,
        store,
        settings,
        agents: listed,
        slash_commands: slash_command_names(args, &custom_commands),
        skills: skills.into_names(),
        plugins,
        output_style: output_style.to_owned(),
        output_styles: styles.names(),
        custom_commands,
        workspace,
        workplace,
        trust: folder.trust,
        ignored_settings,
        when_asked,
        hook_messages,
        mcp,
        sandbox: level,
    })
}

/// Records what commands may touch, and says so if there should be a sandbox and is none.
fn record_sandbox(
    settings: &mut Settings,
    (workplace, sandbox): (ToolContext, SandboxChoice),
) -> ToolContext {
    settings.sandbox = Some(sandbox.recorded());
    if sandbox.level.confinement == CommandConfinement::Missing {
        terminal::print_note(messages::sandbox::MISSING);
    }
    workplace
}

/// Adds hooks whose commands are started as those of the tools are.
fn add_confined_hooks(
    builder: WindlassBuilder,
    workplace: &ToolContext,
    commands: CommandHooks,
    host: Option<CommandHooks>,
) -> WindlassBuilder {
    let confined = |hooks: CommandHooks| hooks.with_launcher(Arc::clone(workplace.launcher()));
    let hooks = std::iter::once(commands).chain(host).map(confined);
    hooks.fold(builder, WindlassBuilder::command_hooks)
}

/// Builds the hooks of settings files, and adds the moments of all hooks to the settings.
fn build_hooks(
    settings: &mut Settings,
    (sources, workspace, clock): (&[SettingsSource], &Path, &Arc<dyn windlass::ports::Clock>),
    host: Option<&CommandHooks>,
    listeners: HookListeners,
) -> anyhow::Result<CommandHooks> {
    let commands = hook_config::build_command_hooks(settings, sources, workspace, clock, listeners);
    let commands = commands.or_usage_error()?;
    if let Some(hooks) = host {
        hook_config::add_hook_points(settings, hooks);
    }
    Ok(commands)
}

/// Tells hooks of the memory files that every session begins with.
fn with_instructions(hooks: CommandHooks, memory: &[PathBuf]) -> CommandHooks {
    let file = |path: &PathBuf| (path.clone(), memory_files::memory_type(path));
    hooks.with_instructions(memory.iter().map(file).collect())
}

/// Who is told what hooks report: the program that hosts the process, or the person at the terminal.
fn hook_listeners(
    reports: Option<HookReportSink>,
    terminal: &Arc<output::HookMessages>,
) -> HookListeners {
    match reports {
        Some(reports) => HookListeners::Readers(reports),
        None => HookListeners::Terminal(Arc::clone(terminal)),
    }
}

/// The names of the commands that a prompt can begin with.
fn slash_command_names(args: &AgentArgs, customs: &[CustomCommand]) -> Vec<String> {
    let names = slash_command::command_names(customs);
    names.filter(|_| !args.prompt.disable_slash_commands).map(str::to_owned).collect()
}

/// Looks after what earlier processes left, and where tools keep what they know.
fn check_old_state(clock: &Arc<dyn windlass::ports::Clock>) {
    report_unwritable_state();
    reap_orphans_later(Arc::clone(clock));
}

/// Reports if the state folder cannot be written, where tools keep what they know between runs.
fn report_unwritable_state() {
    if let Some(state) = paths::state_folder().ok().filter(|state| !paths::can_be_written(state)) {
        terminal::print_note(&messages::nothing_remembered(&state));
    }
}

/// What a process needs besides its model, hooks and settings.
struct RunParts<'a> {
    args: &'a AgentArgs,
    folder: &'a FolderTrust,
    workplace: &'a ToolContext,
    store: &'a Arc<dyn Store>,
    /// Whether sub-agents may work in the background.
    background: bool,
}

impl RunParts<'_> {
    fn add_to(
        &self,
        builder: WindlassBuilder,
        tools: &ToolRegistry,
    ) -> anyhow::Result<WindlassBuilder> {
        let Self { args, folder, workplace, store, background } = self;
        let builder = match background & tools.get(toolset::AGENT_TOOL).is_some() {
            true => builder.enable_sub_agents().background_sub_agents(),
            false => builder,
        };
        let (workspace, trust) = (&folder.folder, folder.trust);
        let (imports, notes) = prompt_text::memory_of_folders(trust);
        let kinds = memory_files::memory_kinds(|source| args.permissions.reads_source(source));
        let tools = windlass::tools::with_folder_memory(tools, workplace, &kinds, imports, notes);
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

/// Sets the model of these flags, and what depends on it, in settings that exist.
pub(crate) fn select_model(settings: &mut Settings, args: &AgentArgs) -> anyhow::Result<()> {
    let config = config_toml::read()?;
    let profile = config.find_profile(args.limits.profile.as_deref())?;
    let clock: Arc<dyn windlass::ports::Clock> = Arc::new(SystemClock::start());
    let names = (args.model.model.clone(), None);
    model_selection::describe(settings, &args.model, (&config, &profile), names, &clock).map(drop)
}

/// Adds the tools of a run with these flags to its settings, and returns them.
fn offer(
    settings: &mut Settings,
    args: &AgentArgs,
    added: &AddedTools<'_>,
    workplace: &ToolContext,
) -> anyhow::Result<ToolRegistry> {
    let tools = toolset::build_tools(args, &settings.rules, added, workplace);
    let tools = tools?;
    settings.rules.allow.extend(added.skills.read_rules());
    settings.tools = tools.specs();
    settings.output = toolset::structured_output(args);
    settings.check_tool_names()?;
    Ok(tools)
}
