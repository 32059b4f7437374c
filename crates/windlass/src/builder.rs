//! Puts a Windlass together from parts.

use std::path::Path;
use std::sync::Arc;

use windlass_core::bounds::BadSettings;
use windlass_core::permission::{BadRule, Human, Otherwise, RootRefused, Rule};
use windlass_core::settings::{Listening, Model as ModelSettings, Settings};
use windlass_providers::Models;
use windlass_providers::names::Error as NameError;
use windlass_providers::scripted::{Script, ScriptedModel};
use windlass_runtime::identity::process_rights;
use windlass_runtime::keeping::Keeping;
use windlass_runtime::lease::LeaseTimes;
use windlass_runtime::ports::{Clock, Hooks, Model, Store, StoreError, Tool};
use windlass_runtime::turns::{MOST_TOOLS_AT_ONCE, TOOLS_AT_ONCE};
use windlass_runtime::workspace::Workspace;
use windlass_runtime::{Agent, Agents, HookChain, Host, SystemClock, Toolbox};
use windlass_tools::{BadSchema, CommandHooks, HookConfig, SpawnChildRuns, StructuredOutput};

use crate::Windlass;
use crate::definition::Definition;

/// How much longer than its slowest hook a hook point may take.
const HOOK_MARGIN_MS: u64 = 5_000;

/// The parts so far.
pub struct Builder {
    clock: Arc<dyn Clock>,
    model: Option<Arc<dyn Model>>,
    store: Option<Arc<dyn Store>>,
    tools: Toolbox,
    settings: Settings,
    lease: LeaseTimes,
    keeping: Keeping,
    tools_at_once: usize,
    workspace: Option<Workspace>,
    hooks: Vec<Arc<dyn Hooks>>,
    runs_commands: bool,
    bad_rule: Option<BadRule>,
    bad_name: Option<NameError>,
    bad_schema: Option<BadSchema>,
    children: Option<Vec<(Arc<str>, Definition)>>,
}

/// Why it could not be put together.
#[derive(Debug, thiserror::Error)]
pub enum BuildError {
    /// There is no model.
    #[error("no model; give the builder one with `.model(…)`")]
    NoModel,
    /// There is no store.
    #[error("no store; give the builder one with `.store(…)`")]
    NoStore,
    /// A permission rule cannot be read.
    #[error(transparent)]
    Rule(#[from] BadRule),
    /// The name of a model leads nowhere.
    #[error(transparent)]
    ModelName(#[from] NameError),
    /// The schema of the answer is none.
    #[error(transparent)]
    Schema(#[from] BadSchema),
    /// A setting that cannot be.
    #[error(transparent)]
    Settings(#[from] BadSettings),
    /// A mode that root may not use.
    #[error(transparent)]
    Root(#[from] RootRefused),
    /// The store does not answer.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl Default for Builder {
    fn default() -> Self {
        Self {
            clock: Arc::new(SystemClock::start()),
            model: None,
            store: None,
            tools: Toolbox::default(),
            settings: Settings::new(ModelSettings::named("scripted")),
            lease: LeaseTimes::default(),
            keeping: Keeping::default(),
            tools_at_once: TOOLS_AT_ONCE,
            workspace: None,
            hooks: Vec::new(),
            runs_commands: false,
            bad_rule: None,
            bad_name: None,
            bad_schema: None,
            children: None,
        }
    }
}

impl Builder {
    /// The model to ask.
    #[must_use]
    pub fn model(mut self, model: impl Model) -> Self {
        self.model = Some(Arc::new(model));
        self
    }

    /// The model to ask, shared with others.
    #[must_use]
    pub fn shared_model(mut self, model: Arc<dyn Model>) -> Self {
        self.model = Some(model);
        self
    }

    /// The model of a name such as `sonnet` or `openai:gpt-6-sol`, with its window, its price, and
    /// the cheap model of its family to sum up. A name that leads nowhere is told by
    /// [`Builder::start`].
    #[must_use]
    pub fn model_named(mut self, models: Models, name: &str) -> Self {
        match models.settings(name) {
            Ok(Settings { model, window, .. }) => {
                self.settings.model = model;
                self.settings.window.summariser = window.summariser;
            }
            Err(problem) => self.bad_name = self.bad_name.or(Some(problem)),
        }
        self.model(models)
    }

    /// The offline model that answers from a script.
    #[must_use]
    pub fn scripted(mut self, script: Script) -> Self {
        self.model = Some(Arc::new(ScriptedModel::new(script, Arc::clone(&self.clock))));
        self
    }

    /// Where conversations live.
    #[must_use]
    pub fn store(self, store: impl Store) -> Self {
        self.shared_store(Arc::new(store))
    }

    /// The same, for a store that others use too.
    #[must_use]
    pub fn shared_store(mut self, store: Arc<dyn Store>) -> Self {
        self.store = Some(store);
        self
    }

    /// A tool the model may call, if rules or a human let it.
    #[must_use]
    pub fn tool(mut self, tool: impl Tool) -> Self {
        self.tools = self.tools.with(tool);
        self
    }

    /// Tools the model may call, such as the standard ones.
    #[must_use]
    pub fn tools(mut self, tools: Toolbox) -> Self {
        self.tools = self.tools.and(tools);
        self
    }

    /// Lets calls run without asking that this rule covers: `Read`, `mcp__*`, `Bash(npm test:*)`. A
    /// rule that cannot be read is told by [`Builder::start`].
    #[must_use]
    pub fn allow(mut self, rule: &str) -> Self {
        match Rule::parse(rule) {
            Ok(rule) => self.settings.rules.allow.push(rule),
            Err(problem) => self.bad_rule = self.bad_rule.or(Some(problem)),
        }
        self
    }

    /// Never runs calls that this rule touches.
    #[must_use]
    pub fn deny(mut self, rule: &str) -> Self {
        match Rule::parse(rule) {
            Ok(rule) => self.settings.rules.deny.push(rule),
            Err(problem) => self.bad_rule = self.bad_rule.or(Some(problem)),
        }
        self
    }

    /// Lets the model hand tasks to children like itself, with the tools `Agent` and
    /// `spawn_child_runs`.
    #[must_use]
    pub fn children(mut self) -> Self {
        self.children.get_or_insert_default();
        self
    }

    /// The same, and children may be agents of this name.
    #[must_use]
    pub fn agent(mut self, name: &str, definition: Definition) -> Self {
        self.children.get_or_insert_default().push((Arc::from(name), definition));
        self
    }

    /// The answer is to be data that fits this JSON Schema. A schema that is none is told by
    /// [`Builder::start`].
    #[must_use]
    pub fn answer_fits(mut self, schema: &str) -> Self {
        match StructuredOutput::new(schema) {
            Ok(tool) => {
                self.tools = self.tools.with(tool);
                self.settings.output = Some(StructuredOutput::output());
            }
            Err(problem) => self.bad_schema = self.bad_schema.or(Some(problem)),
        }
        self
    }

    /// Somebody who listens at the hook points; which of them, the settings say. Given several
    /// times, all of them are asked, and deny beats ask beats allow.
    #[must_use]
    pub fn hooks(mut self, hooks: impl Hooks) -> Self {
        self.hooks.push(Arc::new(hooks));
        self
    }

    /// Hooks that are commands, at the points they are configured for.
    #[must_use]
    pub fn command_hooks(mut self, hooks: CommandHooks) -> Self {
        let (own, theirs) = (&mut self.settings.hooks, hooks.points());
        for (own, theirs) in [
            (&mut own.before_tool, theirs.before_tool),
            (&mut own.after_tool, theirs.after_tool),
            (&mut own.prompt, theirs.prompt),
            (&mut own.answer, theirs.answer),
            (&mut own.compaction, theirs.compaction),
        ] {
            if theirs == Listening::Hooked {
                *own = theirs;
            }
        }
        let longest = hooks.longest_ms().saturating_add(HOOK_MARGIN_MS);
        self.settings.limits.hook_ms = self.settings.limits.hook_ms.max(longest);
        self.runs_commands = true;
        self.hooks(hooks)
    }

    /// Runs whatever no rule denies.
    #[must_use]
    pub fn allow_everything_else(mut self) -> Self {
        self.settings.rules.otherwise = Otherwise::Allow;
        self
    }

    /// Denies what would have to be asked: nobody is there.
    #[must_use]
    pub fn nobody_to_ask(mut self) -> Self {
        self.settings.rules.human = Human::Absent;
        self
    }

    /// Changes any setting.
    #[must_use]
    pub fn settings(mut self, change: impl FnOnce(&mut Settings)) -> Self {
        change(&mut self.settings);
        self
    }

    /// How long a silent process keeps its conversations.
    #[must_use]
    pub fn lease(mut self, times: LeaseTimes) -> Self {
        self.lease = times;
        self
    }

    /// How long raw responses and rows of the trace are kept, and of whom no raw responses are.
    #[must_use]
    pub fn keeping(mut self, keeping: Keeping) -> Self {
        self.keeping = keeping;
        self
    }

    /// Sets how many tools this process executes at once, in all of its conversations together; 64
    /// by default. A number that is not from 1 to 1024 is told by [`Builder::start`].
    #[must_use]
    pub fn tools_at_once(mut self, tools_at_once: usize) -> Self {
        self.tools_at_once = tools_at_once;
        self
    }

    /// The folder its tools work in: conversations begun here are driven only by workers that have
    /// the same folder of the same machine. Without one they may be driven anywhere.
    #[must_use]
    pub fn workspace(self, folder: &Path) -> Self {
        self.shared_workspace(Workspace::local(folder))
    }

    /// The same for a workspace that other machines may have too: conversations begun here are driven
    /// by every worker that has a workspace of the same id.
    #[must_use]
    pub fn shared_workspace(mut self, workspace: Workspace) -> Self {
        self.workspace = Some(workspace);
        self
    }

    /// Another clock.
    #[must_use]
    pub fn clock(mut self, clock: impl Clock) -> Self {
        self.clock = Arc::new(clock);
        self
    }

    /// Starts driving.
    pub async fn start(self) -> Result<Windlass, BuildError> {
        if let Some(problem) = self.bad_rule {
            return Err(problem.into());
        }
        if let Some(problem) = self.bad_name {
            return Err(problem.into());
        }
        if let Some(problem) = self.bad_schema {
            return Err(problem.into());
        }
        self.settings.checked()?;
        self.settings.rules.mode.checked(process_rights())?;
        self.check_tool_names()?;
        self.check_tools_at_once()?;
        let mut hooks = HookChain::default();
        for one in self.hooks {
            hooks = hooks.with(one);
        }
        if self.settings.gate.command.is_some() && !self.runs_commands {
            let clock = Arc::clone(&self.clock);
            let gate = CommandHooks::new(HookConfig::default(), ".", clock);
            hooks = hooks.with(Arc::new(gate));
        }
        let parts = Parts {
            model: self.model.ok_or(BuildError::NoModel)?,
            store: self.store.ok_or(BuildError::NoStore)?,
            clock: self.clock,
            hooks: Arc::new(hooks),
        };
        let agents = match self.children {
            Some(named) => parts.family(self.tools, self.settings, named)?,
            None => parts.agent(self.tools, self.settings).into(),
        };
        let agents = match self.workspace {
            Some(workspace) => agents.working_in(workspace),
            None => agents,
        };
        let agents = agents.keeping(self.keeping).with_tools_at_once(self.tools_at_once);
        Ok(Windlass { host: Host::start(agents, self.lease).await? })
    }
}

impl Builder {
    /// The settings name tools that are there. Which the settings offer is not known before.
    fn check_tool_names(&self) -> Result<(), BadSettings> {
        let mut named = self.settings.clone();
        named.tools = self.tools.specs();
        if self.children.is_some() {
            named.tools.push(windlass_tools::Agent::default().spec());
            named.tools.push(SpawnChildRuns::default().spec());
        }
        named.check_tool_names()
    }

    fn check_tools_at_once(&self) -> Result<(), BadSettings> {
        let (value, most) = (self.tools_at_once as u64, MOST_TOOLS_AT_ONCE as u64);
        let bad =
            || BadSettings::OutOfRange { name: Arc::from("tools_at_once"), value, least: 1, most };
        if (1..=most).contains(&value) { Ok(()) } else { Err(bad()) }
    }
}

/// What all agents of a process share.
struct Parts {
    model: Arc<dyn Model>,
    store: Arc<dyn Store>,
    clock: Arc<dyn Clock>,
    hooks: Arc<dyn Hooks>,
}

impl Parts {
    fn agent(&self, tools: Toolbox, settings: Settings) -> Agent {
        let (model, store) = (Arc::clone(&self.model), Arc::clone(&self.store));
        let mut agent = Agent::new(model, store, Arc::clone(&self.clock), tools, settings);
        agent.ports.hooks = Arc::clone(&self.hooks);
        agent
    }

    fn family(
        &self,
        tools: Toolbox,
        settings: Settings,
        named: Vec<(Arc<str>, Definition)>,
    ) -> Result<Agents, RootRefused> {
        let (mut one, mut several) = (windlass_tools::Agent::default(), SpawnChildRuns::default());
        for (name, definition) in &named {
            one = one.with(name, &definition.about);
            several = several.with(name, &definition.about);
        }
        let tools = tools.with(one).with(several);
        let mut agents = Agents::from(self.agent(tools.clone(), settings.clone()));
        for (name, definition) in named {
            let (tools, settings) =
                (definition.tools_of(&tools), definition.settings_of(&settings));
            settings.rules.mode.checked(process_rights())?;
            agents = agents.with(&name, self.agent(tools, settings));
        }
        Ok(agents)
    }
}
