//! The builder: configures the model, store, tools, permissions and hooks of a [`Windlass`], and
//! starts it.

use std::path::Path;
use std::sync::Arc;

use windlass_core::permission::{
    BypassRefusedForRoot, DefaultDecision, HumanAvailability, InvalidRule, PermissionRule,
};
use windlass_core::settings::conversation_settings::{
    HookPresence, ModelSpec as ModelSettings, Settings,
};
use windlass_core::settings::settings_validation::InvalidSettings;
use windlass_providers::ModelRegistry;
use windlass_providers::catalog::provider_table::ProviderError as NameError;
use windlass_runtime::fair_semaphore::{MAX_PARALLEL_TOOLS, MOST_TOOLS_AT_ONCE};
use windlass_runtime::lease::LeaseTimes;
use windlass_runtime::ports::{Clock, Hooks, Model, Store, StoreError, Tool};
use windlass_runtime::retention::RetentionPolicy;
use windlass_runtime::worker_identity::process_rights;
use windlass_runtime::workspace::Workspace;
use windlass_runtime::{Agent, AgentRegistry, HookChain, LaneHost, SystemClock, ToolRegistry};
use windlass_scripted::{Script, ScriptedModel};
use windlass_tools::{
    CommandHooks, HookConfig, InvalidOutputSchema, SpawnChildRunsTool, StructuredOutput,
};

use crate::Windlass;
use crate::agent_definition::AgentDefinition;

/// Time added to the longest timeout of a command hook to get the timeout of a hook point.
const HOOK_MARGIN_MS: u64 = 5_000;

/// Builder of a [`Windlass`]; get one from [`Windlass::builder`]. A model and a store are required,
/// everything else has a default.
///
/// A method that is given something invalid (a permission rule, a model name, a schema) does not
/// fail itself: [`WindlassBuilder::start`] returns the first such error.
pub struct WindlassBuilder {
    clock: Arc<dyn Clock>,
    model: Option<Arc<dyn Model>>,
    store: Option<Arc<dyn Store>>,
    tools: ToolRegistry,
    settings: Settings,
    lease: LeaseTimes,
    retention: RetentionPolicy,
    tools_at_once: usize,
    workspace: Option<Workspace>,
    hooks: Vec<Arc<dyn Hooks>>,
    has_command_hooks: bool,
    rule_error: Option<InvalidRule>,
    model_name_error: Option<NameError>,
    schema_error: Option<InvalidOutputSchema>,
    sub_agents: Option<Vec<(Arc<str>, AgentDefinition)>>,
}

/// Why [`WindlassBuilder::start`] failed.
#[derive(Debug, thiserror::Error)]
pub enum BuildError {
    /// No model was given.
    #[error("no model; give the builder one with `.model(…)`")]
    NoModel,
    /// No store was given.
    #[error("no store; give the builder one with `.store(…)`")]
    NoStore,
    /// A permission rule is not valid.
    #[error(transparent)]
    InvalidRule(#[from] InvalidRule),
    /// The name of a model is not known.
    #[error(transparent)]
    UnknownModel(#[from] NameError),
    /// The output schema is not valid.
    #[error(transparent)]
    InvalidSchema(#[from] InvalidOutputSchema),
    /// A setting is not valid.
    #[error(transparent)]
    InvalidSettings(#[from] InvalidSettings),
    /// The permission mode is refused for a process that runs as root.
    #[error(transparent)]
    RefusedForRoot(#[from] BypassRefusedForRoot),
    /// The store failed or does not respond.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl Default for WindlassBuilder {
    fn default() -> Self {
        Self {
            clock: Arc::new(SystemClock::start()),
            model: None,
            store: None,
            tools: ToolRegistry::default(),
            settings: Settings::new(ModelSettings::with_defaults("scripted")),
            lease: LeaseTimes::default(),
            retention: RetentionPolicy::default(),
            tools_at_once: MAX_PARALLEL_TOOLS,
            workspace: None,
            hooks: Vec::new(),
            has_command_hooks: false,
            rule_error: None,
            model_name_error: None,
            schema_error: None,
            sub_agents: None,
        }
    }
}

impl WindlassBuilder {
    /// Sets the model that conversations call.
    #[must_use]
    pub fn model(mut self, model: impl Model) -> Self {
        self.model = Some(Arc::new(model));
        self
    }

    /// Sets the model that conversations call, shared with other parts of the program.
    #[must_use]
    pub fn shared_model(mut self, model: Arc<dyn Model>) -> Self {
        self.model = Some(model);
        self
    }

    /// Sets the model by a name such as `sonnet` or `openai:gpt-6-sol`, with its context window,
    /// its price, and the cheap model of its family as the summariser. For an unknown name
    /// [`WindlassBuilder::start`] returns an error.
    #[must_use]
    pub fn model_by_name(mut self, models: ModelRegistry, name: &str) -> Self {
        match models.settings_for(name) {
            Ok(Settings { model, window, .. }) => {
                self.settings.model = model;
                self.settings.window.summariser = window.summariser;
            }
            Err(problem) => self.model_name_error = self.model_name_error.or(Some(problem)),
        }
        self.model(models)
    }

    /// Uses the offline model that replies from a script, for tests and demonstrations. Uses the
    /// clock set so far, so call [`WindlassBuilder::clock`] before this.
    #[must_use]
    pub fn scripted_model(mut self, script: Script) -> Self {
        self.model = Some(Arc::new(ScriptedModel::new(script, Arc::clone(&self.clock))));
        self
    }

    /// Sets the store that holds the conversations.
    #[must_use]
    pub fn store(self, store: impl Store) -> Self {
        self.shared_store(Arc::new(store))
    }

    /// Sets the store that holds the conversations, shared with other parts of the program.
    #[must_use]
    pub fn shared_store(mut self, store: Arc<dyn Store>) -> Self {
        self.store = Some(store);
        self
    }

    /// Adds a tool that the model may call if the permission rules allow it or a human approves the
    /// call.
    #[must_use]
    pub fn tool(mut self, tool: impl Tool) -> Self {
        self.tools = self.tools.with(tool);
        self
    }

    /// Adds several tools, such as the standard ones; see [`WindlassBuilder::tool`].
    #[must_use]
    pub fn tools(mut self, tools: ToolRegistry) -> Self {
        self.tools = self.tools.merge(tools);
        self
    }

    /// Allows calls that this rule covers without asking: `Read`, `mcp__*`, `Bash(npm test:*)`. For
    /// a rule that is not valid [`WindlassBuilder::start`] returns an error.
    #[must_use]
    pub fn allow(mut self, rule: &str) -> Self {
        match PermissionRule::parse(rule) {
            Ok(rule) => self.settings.rules.allow.push(rule),
            Err(problem) => self.rule_error = self.rule_error.or(Some(problem)),
        }
        self
    }

    /// Denies calls that this rule covers even in part. For a rule that is not valid
    /// [`WindlassBuilder::start`] returns an error.
    #[must_use]
    pub fn deny(mut self, rule: &str) -> Self {
        match PermissionRule::parse(rule) {
            Ok(rule) => self.settings.rules.deny.push(rule),
            Err(problem) => self.rule_error = self.rule_error.or(Some(problem)),
        }
        self
    }

    /// Lets the model delegate tasks to sub-agents with its own settings, through the tools `Agent`
    /// and `spawn_child_runs`.
    #[must_use]
    pub fn enable_sub_agents(mut self) -> Self {
        self.sub_agents.get_or_insert_default();
        self
    }

    /// Registers a sub-agent that the model can choose by this name; also does what
    /// [`WindlassBuilder::enable_sub_agents`] does.
    #[must_use]
    pub fn sub_agent(mut self, name: &str, definition: AgentDefinition) -> Self {
        self.sub_agents.get_or_insert_default().push((Arc::from(name), definition));
        self
    }

    /// Requires the answer of a run to be data that fits this JSON Schema (structured output). For
    /// a schema that is not valid [`WindlassBuilder::start`] returns an error.
    #[must_use]
    pub fn output_schema(mut self, schema: &str) -> Self {
        match StructuredOutput::new(schema) {
            Ok(tool) => {
                self.tools = self.tools.with(tool);
                self.settings.output = Some(StructuredOutput::output_setting());
            }
            Err(problem) => self.schema_error = self.schema_error.or(Some(problem)),
        }
        self
    }

    /// Adds hooks. The settings say at which hook points they are called. Called several times, all
    /// hooks are called; deny overrides ask, and ask overrides allow.
    #[must_use]
    pub fn hooks(mut self, hooks: impl Hooks) -> Self {
        self.hooks.push(Arc::new(hooks));
        self
    }

    /// Adds hooks that run commands, and enables the hook points they are configured for. Raises
    /// the hook timeout so that the slowest command fits.
    #[must_use]
    pub fn command_hooks(mut self, hooks: CommandHooks) -> Self {
        let (own, theirs) = (&mut self.settings.hooks, hooks.hook_points());
        for (own, theirs) in [
            (&mut own.before_tool, theirs.before_tool),
            (&mut own.after_tool, theirs.after_tool),
            (&mut own.prompt, theirs.prompt),
            (&mut own.answer, theirs.answer),
            (&mut own.compaction, theirs.compaction),
        ] {
            if theirs == HookPresence::Present {
                *own = theirs;
            }
        }
        let longest = hooks.max_timeout_ms().saturating_add(HOOK_MARGIN_MS);
        self.settings.limits.hook_ms = self.settings.limits.hook_ms.max(longest);
        self.has_command_hooks = true;
        self.hooks(hooks)
    }

    /// Allows every call that no rule denies.
    #[must_use]
    pub fn allow_by_default(mut self) -> Self {
        self.settings.rules.default_decision = DefaultDecision::Allow;
        self
    }

    /// Denies calls that would require approval, because no human is available to approve them.
    #[must_use]
    pub fn deny_when_unattended(mut self) -> Self {
        self.settings.rules.human = HumanAvailability::Absent;
        self
    }

    /// Changes any setting.
    #[must_use]
    pub fn settings(mut self, change: impl FnOnce(&mut Settings)) -> Self {
        change(&mut self.settings);
        self
    }

    /// Sets the lease: how long a process that sends no heartbeats keeps its conversations.
    #[must_use]
    pub fn lease(mut self, times: LeaseTimes) -> Self {
        self.lease = times;
        self
    }

    /// Sets how long raw responses and trace rows are kept, and for which tenants no raw responses
    /// are kept.
    #[must_use]
    pub fn retention(mut self, keeping: RetentionPolicy) -> Self {
        self.retention = keeping;
        self
    }

    /// Sets how many tools this process executes at once, in all of its conversations together; 64
    /// by default. For a number that is not from 1 to 1024 [`WindlassBuilder::start`] returns an
    /// error.
    #[must_use]
    pub fn tools_at_once(mut self, tools_at_once: usize) -> Self {
        self.tools_at_once = tools_at_once;
        self
    }

    /// Sets the folder that tools work in: conversations started here are driven only by workers
    /// that have the same folder on the same machine. Without a workspace they may be driven by any
    /// worker.
    #[must_use]
    pub fn workspace(self, folder: &Path) -> Self {
        self.shared_workspace(Workspace::from_folder(folder))
    }

    /// Sets a workspace that other machines may have too: conversations started here are driven by
    /// every worker that has a workspace of the same id.
    #[must_use]
    pub fn shared_workspace(mut self, workspace: Workspace) -> Self {
        self.workspace = Some(workspace);
        self
    }

    /// Replaces the system clock, for tests.
    #[must_use]
    pub fn clock(mut self, clock: impl Clock) -> Self {
        self.clock = Arc::new(clock);
        self
    }

    /// Starts the process's lane host: checks the configuration, sends a first heartbeat to the
    /// store, and continues to send heartbeats in the background.
    ///
    /// # Errors
    ///
    /// Returns a [`BuildError`] if the model or the store is missing, if a rule, model name, schema
    /// or setting is not valid, if the permission mode is refused for root, or if the store fails.
    pub async fn start(self) -> Result<Windlass, BuildError> {
        if let Some(problem) = self.rule_error {
            return Err(problem.into());
        }
        if let Some(problem) = self.model_name_error {
            return Err(problem.into());
        }
        if let Some(problem) = self.schema_error {
            return Err(problem.into());
        }
        self.settings.validate()?;
        self.settings.rules.mode.validate(process_rights())?;
        self.check_tool_names()?;
        self.check_tools_at_once()?;
        let mut hooks = HookChain::default();
        for one in self.hooks {
            hooks = hooks.with(one);
        }
        if self.settings.gate.command.is_some() && !self.has_command_hooks {
            let clock = Arc::clone(&self.clock);
            let gate = CommandHooks::new(HookConfig::default(), ".", clock);
            hooks = hooks.with(Arc::new(gate));
        }
        let parts = SharedPorts {
            model: self.model.ok_or(BuildError::NoModel)?,
            store: self.store.ok_or(BuildError::NoStore)?,
            clock: self.clock,
            hooks: Arc::new(hooks),
        };
        let agents = match self.sub_agents {
            Some(named) => parts.build_agents(self.tools, self.settings, named)?,
            None => parts.build_agent(self.tools, self.settings).into(),
        };
        let agents = match self.workspace {
            Some(workspace) => agents.with_workspace(workspace),
            None => agents,
        };
        let agents = agents.with_retention(self.retention).with_tools_at_once(self.tools_at_once);
        Ok(Windlass { host: LaneHost::start(agents, self.lease).await? })
    }
}

impl WindlassBuilder {
    /// Checks that the tools which the settings name exist. The settings alone do not know the
    /// tools; they are added here.
    fn check_tool_names(&self) -> Result<(), InvalidSettings> {
        let mut named = self.settings.clone();
        named.tools = self.tools.specs();
        if self.sub_agents.is_some() {
            named.tools.push(windlass_tools::AgentTool::default().spec());
            named.tools.push(SpawnChildRunsTool::default().spec());
        }
        named.check_tool_names()
    }

    fn check_tools_at_once(&self) -> Result<(), InvalidSettings> {
        let (value, most) = (self.tools_at_once as u64, MOST_TOOLS_AT_ONCE as u64);
        let bad = || InvalidSettings::OutOfRange {
            name: Arc::from("tools_at_once"),
            value,
            least: 1,
            most,
        };
        if (1..=most).contains(&value) { Ok(()) } else { Err(bad()) }
    }
}

/// The ports that all agents of a process share.
struct SharedPorts {
    model: Arc<dyn Model>,
    store: Arc<dyn Store>,
    clock: Arc<dyn Clock>,
    hooks: Arc<dyn Hooks>,
}

impl SharedPorts {
    fn build_agent(&self, tools: ToolRegistry, settings: Settings) -> Agent {
        let (model, store) = (Arc::clone(&self.model), Arc::clone(&self.store));
        let mut agent = Agent::new(model, store, Arc::clone(&self.clock), tools, settings);
        agent.ports.hooks = Arc::clone(&self.hooks);
        agent
    }

    fn build_agents(
        &self,
        tools: ToolRegistry,
        settings: Settings,
        named: Vec<(Arc<str>, AgentDefinition)>,
    ) -> Result<AgentRegistry, BypassRefusedForRoot> {
        let (mut one, mut several) =
            (windlass_tools::AgentTool::default(), SpawnChildRunsTool::default());
        for (name, definition) in &named {
            one = one.with(name, &definition.description);
            several = several.with(name, &definition.description);
        }
        let tools = tools.with(one).with(several);
        let mut agents = AgentRegistry::from(self.build_agent(tools.clone(), settings.clone()));
        for (name, definition) in named {
            let (tools, settings) =
                (definition.select_tools(&tools), definition.build_settings(&settings));
            settings.rules.mode.validate(process_rights())?;
            agents = agents.with(&name, self.build_agent(tools, settings));
        }
        Ok(agents)
    }
}
