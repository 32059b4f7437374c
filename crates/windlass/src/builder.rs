//! The builder: configures the model, store, tools, permissions and hooks of a
//! [`Windlass`](crate::Windlass).

mod build_error;
#[cfg(feature = "mcp")]
mod mcp_servers;
mod start;

pub use build_error::BuildError;

use std::path::Path;
use std::sync::Arc;

use windlass_core::permission::{DefaultDecision, HumanAvailability, InvalidRule, PermissionRule};
use windlass_core::settings::conversation_settings::{ModelSpec as ModelSettings, Settings};
#[cfg(feature = "providers")]
use windlass_providers::ModelRegistry;
#[cfg(feature = "providers")]
use windlass_providers::catalog::provider_table::ProviderError as NameError;
use windlass_runtime::fair_semaphore::MAX_PARALLEL_TOOLS;
use windlass_runtime::lease::LeaseTimes;
use windlass_runtime::ports::{Clock, Hooks, Model, Store, Tool};
use windlass_runtime::retention::RetentionPolicy;
use windlass_runtime::workspace::Workspace;
use windlass_runtime::{SystemClock, ToolRegistry};
#[cfg(feature = "scripted")]
use windlass_scripted::{Script, ScriptedModel};
use windlass_tools::{CommandHooks, InvalidOutputSchema, StructuredOutput};

use crate::agent_definition::AgentDefinition;
use crate::agent_tasks::AgentTasks;

/// Time added to the longest timeout of a command hook to get the timeout of a hook point.
const HOOK_MARGIN_MS: u64 = 5_000;

/// Builder of a [`Windlass`](crate::Windlass); get one from
/// [`Windlass::builder`](crate::Windlass::builder). A model and a store are required, everything else
/// has a default.
///
/// A method that is given something invalid (a permission rule, a model name, a schema) does not
/// fail itself: [`WindlassBuilder::start`] returns the first such error.
///
/// # Examples
///
/// ```
/// use windlass::memory::MemoryStore;
/// use windlass::scripted::Script;
/// use windlass::tools::{ToolContext, standard_tools};
/// use windlass::{BuildError, Windlass};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let builder = || Windlass::builder().scripted_model(Script::default()).store(MemoryStore::new());
/// let windlass = builder()
///     .tools(standard_tools(&ToolContext::new(".".as_ref()))) // Read, Write, Bash, …
///     .allow("Read")
///     .allow("Bash(cargo test:*)")
///     .deny("Read(secrets/**)")
///     .settings(|settings| {
///         settings.system = "You are a careful engineer.".into();
///         settings.limits.tool_rounds = 20;
///     })
///     .start()
///     .await?;
///
/// let refused = builder().allow("Bash(").start().await;
/// assert!(matches!(refused, Err(BuildError::InvalidRule(_))));
/// # Ok(())
/// # }
/// ```
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
    #[cfg(feature = "providers")]
    model_name_error: Option<NameError>,
    schema_error: Option<InvalidOutputSchema>,
    sub_agents: Option<Vec<(Arc<str>, AgentDefinition)>>,
    background_sub_agents: bool,
    agent_tasks: Option<AgentTasks>,
    #[cfg(feature = "mcp")]
    mcp_servers: Vec<(String, windlass_mcp::McpServerConfig)>,
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
            #[cfg(feature = "providers")]
            model_name_error: None,
            schema_error: None,
            sub_agents: None,
            background_sub_agents: false,
            agent_tasks: None,
            #[cfg(feature = "mcp")]
            mcp_servers: Vec::new(),
        }
    }
}

impl WindlassBuilder {
    /// Sets the model that conversations call: an implementation of [`Model`](crate::ports::Model).
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
    /// [`WindlassBuilder::start`] returns [`BuildError::UnknownModel`].
    ///
    /// # Examples
    ///
    /// ```
    /// use std::sync::Arc;
    ///
    /// use windlass::models::{CallOptions, ModelRegistry, ProviderTable, SharedServices};
    /// use windlass::{SystemClock, Windlass};
    ///
    /// let models = ModelRegistry::new(
    ///     SharedServices::new(Arc::new(SystemClock::start())),
    ///     ProviderTable::built_in(),
    ///     CallOptions::default(),
    ///     Arc::new(|name: &str| std::env::var(name).ok()), // the keys: ANTHROPIC_API_KEY, …
    /// );
    /// let builder = Windlass::builder().model_by_name(models, "sonnet").settings(|settings| {
    ///     assert!(settings.model.name.starts_with("claude-sonnet"));
    ///     assert!(settings.model.price.is_some());
    /// });
    /// ```
    #[cfg(feature = "providers")]
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

    /// Uses the offline model that replies from a [script](crate::scripted), for tests and
    /// demonstrations. Uses the clock set so far, so call [`WindlassBuilder::clock`] before this.
    #[cfg(feature = "scripted")]
    #[must_use]
    pub fn scripted_model(mut self, script: Script) -> Self {
        self.model = Some(Arc::new(ScriptedModel::new(script, Arc::clone(&self.clock))));
        self
    }

    /// Sets the store that holds the conversations: SQLite, PostgreSQL, memory, or an
    /// implementation of [`Store`](crate::ports::Store).
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
    /// call. [`FunctionTool`](crate::tools::FunctionTool) makes one from a function.
    #[must_use]
    pub fn tool(mut self, tool: impl Tool) -> Self {
        self.tools = self.tools.with(tool);
        self
    }

    /// Adds several tools, such as the [standard ones](crate::tools::standard_tools); see
    /// [`WindlassBuilder::tool`].
    #[must_use]
    pub fn tools(mut self, tools: ToolRegistry) -> Self {
        self.tools = self.tools.merge(tools);
        self
    }

    /// Allows calls that this rule covers without asking: `Read`, `mcp__*`, `Bash(npm test:*)`. For
    /// a rule that is not valid [`WindlassBuilder::start`] returns [`BuildError::InvalidRule`].
    #[must_use]
    pub fn allow(mut self, rule: &str) -> Self {
        match PermissionRule::parse(rule) {
            Ok(rule) => self.settings.rules.allow.push(rule),
            Err(problem) => self.rule_error = self.rule_error.or(Some(problem)),
        }
        self
    }

    /// Denies calls that this rule covers even in part. For a rule that is not valid
    /// [`WindlassBuilder::start`] returns [`BuildError::InvalidRule`].
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
    /// [`WindlassBuilder::enable_sub_agents`] does. See [`AgentDefinition`] for an example.
    #[must_use]
    pub fn sub_agent(mut self, name: &str, definition: AgentDefinition) -> Self {
        self.sub_agents.get_or_insert_default().push((Arc::from(name), definition));
        self
    }

    /// Lets sub-agents work in the background: a call returns at once, and the answer of the
    /// sub-agent starts a run of its own in the conversation of its parent. Follow it with
    /// [`Session::follow_next_run`](crate::Session::follow_next_run).
    #[must_use]
    pub fn background_sub_agents(mut self) -> Self {
        self.background_sub_agents = true;
        self
    }

    /// Requires the answer of a run to be data that fits this JSON Schema (structured output). For
    /// a schema that is not valid [`WindlassBuilder::start`] returns [`BuildError::InvalidSchema`].
    ///
    /// # Examples
    ///
    /// ```
    /// # use windlass::{RunOutcome, Windlass, memory::MemoryStore, scripted::Script};
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let script = r#"
    /// when any
    ///   call StructuredOutput {"celsius": 21}
    /// "#;
    /// let windlass = Windlass::builder()
    ///     .scripted_model(Script::parse(script)?)
    ///     .store(MemoryStore::new())
    ///     .output_schema(r#"{"type": "object", "properties": {"celsius": {"type": "integer"}}}"#)
    ///     .start()
    ///     .await?;
    /// let run = windlass.session("conversation:1").send("How warm is it?").await?;
    /// let RunOutcome::Finished(end) = run.wait_for_end().await? else { panic!("not finished") };
    /// assert_eq!(end.structured_output.ok_or("no answer")?.text(), r#"{"celsius": 21}"#);
    /// # Ok(())
    /// # }
    /// ```
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

    /// Connects tools with the sub-agents in the background: `TaskOutput` shows what one has done, and
    /// `TaskStop` ends it.
    #[must_use]
    pub fn agent_tasks(mut self, tasks: AgentTasks) -> Self {
        self.agent_tasks = Some(tasks);
        self
    }

    /// Adds hooks, and enables the hook points that they [name](crate::ports::Hooks::points). Called
    /// several times, all hooks are called; deny overrides ask, and ask overrides allow. See
    /// [`Hooks`](crate::ports::Hooks) for an example.
    #[must_use]
    pub fn hooks(mut self, hooks: impl Hooks) -> Self {
        self.settings.hooks = self.settings.hooks.union(hooks.points());
        self.hooks.push(Arc::new(hooks));
        self
    }

    /// Adds hooks that run commands, call web services or ask a model, and enables the hook points they are configured for. Raises
    /// the hook timeout so that the slowest command fits.
    ///
    /// # Examples
    ///
    /// ```
    /// # use std::sync::Arc;
    /// # use windlass::{SystemClock, Windlass, tools::{CommandHooks, HookConfig}};
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let config = HookConfig::parse(
    ///     r#"{"PreToolUse": [{"matcher": "Bash", "hooks": [{"type": "command", "command": "./check"}]}]}"#,
    /// )?;
    /// let clock = Arc::new(SystemClock::start());
    /// let builder = Windlass::builder().command_hooks(CommandHooks::new(config, ".", clock));
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn command_hooks(mut self, hooks: CommandHooks) -> Self {
        let longest = hooks.max_timeout_ms().saturating_add(HOOK_MARGIN_MS);
        self.settings.limits.hook_ms = self.settings.limits.hook_ms.max(longest);
        self.has_command_hooks = true;
        #[cfg(feature = "providers")]
        let hooks = {
            let http = crate::hook_http::HookHttpClient::new(Arc::clone(&self.clock));
            hooks.with_http(Arc::new(http))
        };
        self.hooks(hooks)
    }

    /// Allows every call that no rule denies.
    #[must_use]
    pub fn allow_by_default(mut self) -> Self {
        self.settings.rules.default_decision = DefaultDecision::Allow;
        self
    }

    /// Denies calls that would require approval, because no human is available to approve them. The
    /// model is told so and continues; without this the run waits (see
    /// [`RunOutcome::Parked`](crate::RunOutcome::Parked)).
    #[must_use]
    pub fn deny_when_unattended(mut self) -> Self {
        self.settings.rules.human = HumanAvailability::Absent;
        self
    }

    /// The names of the tools that were added so far.
    #[cfg(feature = "providers")]
    pub(crate) fn tool_names(&self) -> Vec<String> {
        self.tools.specs().into_iter().map(|tool| tool.name.to_string()).collect()
    }

    /// Changes any setting: the system prompt, limits, budgets, time limits, the context window.
    ///
    /// # Examples
    ///
    /// ```
    /// use windlass::Windlass;
    ///
    /// let builder = Windlass::builder().settings(|settings| {
    ///     settings.limits.tool_rounds = 10;
    ///     settings.budget.run.usd_micros = Some(500_000); // half a dollar
    /// });
    /// ```
    #[must_use]
    pub fn settings(mut self, change: impl FnOnce(&mut Settings)) -> Self {
        change(&mut self.settings);
        self
    }

    /// Sets the lease: how long a process that sends no heartbeats keeps its conversations. See
    /// [`LeaseTimes`].
    #[must_use]
    pub fn lease(mut self, times: LeaseTimes) -> Self {
        self.lease = times;
        self
    }

    /// Sets how long raw responses and trace rows are kept, and for which tenants no raw responses
    /// are kept. See [`RetentionPolicy`].
    #[must_use]
    pub fn retention(mut self, keeping: RetentionPolicy) -> Self {
        self.retention = keeping;
        self
    }

    /// Sets how many tools this process executes at once, in all of its conversations together; 64
    /// by default. For a number that is not from 1 to 1024 [`WindlassBuilder::start`] returns
    /// [`BuildError::InvalidSettings`].
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

    /// Replaces the system clock, for tests: an implementation of [`Clock`](crate::ports::Clock).
    #[must_use]
    pub fn clock(mut self, clock: impl Clock) -> Self {
        self.clock = Arc::new(clock);
        self
    }
}
