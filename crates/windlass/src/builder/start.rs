//! Starts what the builder describes: checks the configuration, builds the agents, and starts the
//! lane host.

use std::sync::Arc;

use windlass_core::permission::BypassRefusedForRoot;
use windlass_core::settings::conversation_settings::Settings;
use windlass_core::settings::settings_validation::InvalidSettings;
use windlass_runtime::fair_semaphore::MOST_TOOLS_AT_ONCE;
use windlass_runtime::ports::{Clock, Hooks, Model, Store, Tool};
use windlass_runtime::worker_identity::process_rights;
use windlass_runtime::{Agent, AgentRegistry, HookChain, LaneHost, ToolRegistry};
use windlass_tools::{AgentTool, CommandHooks, HookConfig, SpawnChildRunsTool, WorktreeHooks};

use super::{BuildError, WindlassBuilder};
use crate::Windlass;
use crate::agent_definition::AgentDefinition;

impl WindlassBuilder {
    /// Checks the configuration, sends a first heartbeat to the store, and starts the background
    /// tasks of the process: heartbeats, housekeeping and the watchdog. Needs a Tokio runtime.
    ///
    /// # Errors
    ///
    /// Returns a [`BuildError`] if the model or the store is missing, if a rule, model name, schema
    /// or setting is not valid, if the permission mode is refused for root, or if the store fails.
    ///
    /// # Examples
    ///
    /// ```
    /// use windlass::{BuildError, Windlass, memory::MemoryStore};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() {
    /// let error = Windlass::builder().store(MemoryStore::new()).start().await.err();
    /// assert!(matches!(error, Some(BuildError::NoModel)));
    /// # }
    /// ```
    #[cfg_attr(not(feature = "mcp"), expect(unused_mut, reason = "servers add tools"))]
    pub async fn start(mut self) -> Result<Windlass, BuildError> {
        #[cfg(feature = "mcp")]
        self.connect_mcp_servers().await?;
        if let Some(problem) = self.rule_error {
            return Err(problem.into());
        }
        #[cfg(feature = "providers")]
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
            Some(named) => {
                let background = self.background_sub_agents;
                parts.build_agents(self.tools, self.settings, named, background)?
            }
            None => parts.build_agent(self.tools, self.settings).into(),
        };
        let agents = match self.workspace {
            Some(workspace) => agents.with_workspace(workspace),
            None => agents,
        };
        let agents = agents.with_retention(self.retention).with_tools_at_once(self.tools_at_once);
        let host = LaneHost::start(agents, self.lease).await?;
        if let Some(tasks) = self.agent_tasks {
            tasks.connect(&host);
        }
        Ok(Windlass { host })
    }

    /// Checks that the tools which the settings name exist. The settings alone do not know the
    /// tools; they are added here.
    fn check_tool_names(&self) -> Result<(), InvalidSettings> {
        let mut named = self.settings.clone();
        named.tools = self.tools.specs();
        if self.sub_agents.is_some() {
            named.tools.push(AgentTool::default().spec());
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
        background: bool,
    ) -> Result<AgentRegistry, BypassRefusedForRoot> {
        let (mut one, mut several) = (AgentTool::default(), SpawnChildRunsTool::default());
        for (name, definition) in &named {
            one = one.with(name, &definition.description);
            several = several.with(name, &definition.description);
            if definition.is_background {
                one = one.in_background(name);
            }
        }
        if background {
            one = one.with_background();
        }
        let tools = tools.with(one).with(several);
        let mut agents = AgentRegistry::from(self.build_agent(tools.clone(), settings.clone()));
        for (name, mut definition) in named {
            if let Some(worktrees) = definition.worktrees.clone() {
                let hooks = WorktreeHooks::new(worktrees, Arc::clone(&self.hooks));
                definition.hooks.push(Arc::new(hooks));
            }
            let own_hooks = definition.hooks.clone();
            if let Some(worktrees) = &definition.worktrees {
                agents = agents.with_worktree(&name, worktrees.places().clone());
            }
            let (tools, settings) =
                (definition.select_tools(&tools), definition.build_settings(&settings));
            settings.rules.mode.validate(process_rights())?;
            let mut agent = self.build_agent(tools, settings);
            if !own_hooks.is_empty() {
                let all = HookChain::default().with(Arc::clone(&agent.ports.hooks));
                agent.ports.hooks = Arc::new(own_hooks.into_iter().fold(all, HookChain::with));
            }
            agents = agents.with(&name, agent);
        }
        Ok(agents)
    }
}
