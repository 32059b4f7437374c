//! The registry of the agents of a process, and how an agent is restricted when it works as a
//! sub-agent: its budget, tools and permissions never exceed those of its parent.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use windlass_core::budget::spending::{CapAction, SharedBudget, SpendingCaps};
use windlass_core::guard::completion_gate::CompletionGate;
use windlass_core::message::prompt_texts;
use windlass_core::permission::{DefaultDecision, PermissionMode, PermissionRule, Permissions};
use windlass_core::run::child_runs::{ChildTask, ParentLink, child_lane, worktree_branch};
use windlass_core::settings::conversation_settings::Settings;
use windlass_core::settings::run_settings::RunSettings;

use crate::agent::Agent;
use crate::fair_semaphore::MAX_PARALLEL_TOOLS;
use crate::ports::{Affinity, ServedWorkspace, WorkerScope};
use crate::retention::RetentionPolicy;
use crate::workspace::Workspace;
use crate::worktree_places::WorktreePlaces;

#[cfg(test)]
#[path = "agent_registry_tests.rs"]
mod agent_registry_tests;

/// The agents of a process: a default agent, and agents by name.
#[derive(Clone)]
pub struct AgentRegistry {
    default_agent: Agent,
    named_agents: BTreeMap<Arc<str>, Agent>,
    workspace: Option<Workspace>,
    retention: Arc<RetentionPolicy>,
    tools_at_once: usize,
    /// Agents that work in a git worktree of their own, and where it is.
    worktrees: BTreeMap<Arc<str>, WorktreePlaces>,
}

impl From<Agent> for AgentRegistry {
    fn from(default_agent: Agent) -> Self {
        Self {
            default_agent,
            named_agents: BTreeMap::new(),
            workspace: None,
            retention: Arc::default(),
            tools_at_once: MAX_PARALLEL_TOOLS,
            worktrees: BTreeMap::new(),
        }
    }
}

impl AgentRegistry {
    /// Adds an agent for tasks that name it.
    #[must_use]
    pub fn with(mut self, name: &str, mut agent: Agent) -> Self {
        let name: Arc<str> = Arc::from(name);
        let settings = Settings { agent: name.clone(), ..(*agent.settings).clone() };
        agent.settings = Arc::new(settings);
        self.named_agents.insert(name, agent);
        self
    }

    /// Makes an agent work in a git worktree of its own when it is started as a sub-agent.
    #[must_use]
    pub fn with_worktree(mut self, name: &str, places: WorktreePlaces) -> Self {
        self.worktrees.insert(Arc::from(name), places);
        self
    }

    /// Sets the workspace of the tools. Conversations started here are driven only by processes
    /// that have the same workspace, unless none of the tools needs one. Conversations that belong
    /// to no workspace are driven without the tools that need one.
    #[must_use]
    pub fn with_workspace(mut self, workspace: Workspace) -> Self {
        self.workspace = Some(workspace);
        self
    }

    /// Sets how long raw responses and trace rows are kept.
    #[must_use]
    pub fn with_retention(mut self, keeping: RetentionPolicy) -> Self {
        self.retention = Arc::new(keeping);
        self
    }

    /// Sets how many tools the process executes at once.
    #[must_use]
    pub fn with_tools_at_once(mut self, tools_at_once: usize) -> Self {
        self.tools_at_once = tools_at_once;
        self
    }

    pub(crate) fn tools_at_once(&self) -> usize {
        self.tools_at_once
    }

    pub(crate) fn retention(&self) -> &Arc<RetentionPolicy> {
        &self.retention
    }

    /// The affinity of a conversation that is started here.
    pub(crate) fn new_lane_affinity(&self) -> Affinity {
        let agent = self.default_agent.settings.agent.clone();
        let place = self.required_workspace();
        let workspace = place.map_or_else(|| Arc::from(""), |place| place.id().clone());
        let folder = self.workspace.as_ref().map(|place| place.path().to_string_lossy());
        let folder = Arc::from(folder.as_deref().unwrap_or_default());
        Affinity { tenant: Arc::from(""), agent, workspace, folder }
    }

    /// Which conversations can be driven here.
    pub(crate) fn worker_scope(&self) -> WorkerScope {
        let own = self.default_agent.settings.agent.clone();
        let agents = self.named_agents.keys().cloned().chain([own]).collect();
        let workspaces = self.required_workspace().map_or_else(Vec::new, Workspace::ids);
        WorkerScope { agents, workspaces }
    }

    /// The workspaces that this process announces.
    pub(crate) fn served_workspaces(&self) -> Vec<ServedWorkspace> {
        self.required_workspace().map_or_else(Vec::new, Workspace::served_workspaces)
    }

    /// The workspace, if at least one of the tools works in it.
    fn required_workspace(&self) -> Option<&Workspace> {
        let needs_one = self.default_agent.ports.tools.needs_workspace();
        self.workspace.as_ref().filter(|_| needs_one)
    }

    /// Adapts the agent to a conversation with this workspace affinity.
    pub(crate) fn adapt_to_workspace(&self, mut agent: Agent, affinity: &str) -> Agent {
        if affinity.is_empty() && self.workspace.is_some() && agent.ports.tools.needs_workspace() {
            agent.ports.tools = agent.ports.tools.without_workspace();
            let tools = agent.ports.tools.specs();
            agent.settings = Arc::new(Settings { tools, ..(*agent.settings).clone() });
        }
        agent
    }

    /// Returns the agent of top-level conversations.
    #[must_use]
    pub fn default_agent(&self) -> &Agent {
        &self.default_agent
    }

    /// Returns the names of agents that tasks may use.
    pub fn agent_names(&self) -> impl Iterator<Item = &Arc<str>> {
        self.named_agents.keys()
    }

    fn find_agent(&self, name: &str) -> Option<&Agent> {
        let own = (*self.default_agent.settings.agent == *name).then_some(&self.default_agent);
        self.named_agents.get(name).or(own)
    }

    /// Returns the agent of a child run: the one that its task names, or one like the parent.
    #[must_use]
    pub fn child_agent(
        &self,
        task: &ChildTask,
        parent: &ParentLink,
        above: &Settings,
    ) -> Option<Agent> {
        let name = if task.agent.is_empty() { &*above.agent } else { &*task.agent };
        let base = self.find_agent(name)?;
        let mut child = base.clone();
        let mut settings = (*base.settings).clone();
        if *above.agent == *name {
            // A child run of the parent's own agent also has the settings of the parent's run.
            settings = RunSettings::from_settings(above).apply_over(&settings);
            // The parent's completion gate and output schema are not the child's.
            settings.gate = CompletionGate::default();
            settings.output = None;
        } else {
            let of_run = RunSettings::from_settings(above)
                .for_agent(&settings, &self.default_agent.settings);
            settings = of_run.apply_over(&settings);
        }
        let offered: BTreeSet<&str> = above.tools.iter().map(|tool| &*tool.name).collect();
        let owed = above.output.as_ref().map(|output| &*output.tool);
        let is_childs = |tool: &str| offered.contains(tool) && owed != Some(tool);
        child.ports.tools = base.ports.tools.filter(is_childs);
        settings.tools = child.ports.tools.specs_of_run(above, is_childs);
        if let Some(effort) = task.effort {
            settings.thinking.effort = Some(effort);
        }
        let own_mode = self.default_agent.settings.rules.mode;
        let approved = own_mode == PermissionMode::Plan && is_mode_after_plan(above.rules.mode);
        if approved || settings.rules.mode == own_mode {
            // An agent without a permission mode of its own has that of the parent's run. A human
            // may have approved the parent's plan: when the parent no longer plans, neither do its
            // child runs.
            settings.rules.mode = above.rules.mode;
        }
        settings.rules = restrict_to_parent(&settings.rules, &above.rules);
        // A child run of the agent's own kind works where its parent does.
        if let Some(places) = self.worktrees.get(name).filter(|_| *above.agent != *name) {
            let lane = child_lane(&parent.lane, parent.call, parent.part);
            let folder = places.workspace_of(&lane).to_string_lossy().into_owned();
            let text = prompt_texts::worktree_instruction(&folder, &worktree_branch(&lane));
            settings.system = Arc::from(format!("{}\n\n{text}", settings.system).trim_start());
            settings.rules.root = Arc::from(folder);
        }
        settings.depth = parent.depth;
        settings.budget.run = parent.caps;
        settings.budget.conversation = SpendingCaps::default();
        settings.budget.profile = SharedBudget::default();
        // Only the parent's human may raise what the parent granted.
        settings.budget.at_cap = CapAction::Stop;
        child.settings = Arc::new(settings);
        Some(child)
    }
}

/// Returns whether an approved plan can lead to this mode.
fn is_mode_after_plan(mode: PermissionMode) -> bool {
    matches!(mode, PermissionMode::Default | PermissionMode::AcceptEdits)
}

/// The parent's permissions, with the additional restrictions of the child's own.
fn restrict_to_parent(own: &Permissions, above: &Permissions) -> Permissions {
    let both = |above: &[PermissionRule], own: &[PermissionRule]| {
        let more = own.iter().filter(|rule| !above.contains(rule));
        above.iter().chain(more).cloned().collect()
    };
    Permissions {
        disallowed: both(&above.disallowed, &own.disallowed),
        deny: both(&above.deny, &own.deny),
        ask: both(&above.ask, &own.ask),
        mode: narrower_mode(own.mode, above.mode),
        default_decision: stricter_default(own.default_decision, above.default_decision),
        ..above.clone()
    }
}

/// Returns the narrower of two modes. Two modes allow different things and neither is narrower:
/// then the result is the default mode.
fn narrower_mode(a: PermissionMode, b: PermissionMode) -> PermissionMode {
    let width = |mode: PermissionMode| match mode {
        PermissionMode::PlanNone => 0,
        PermissionMode::Plan => 1,
        PermissionMode::DontAsk => 2,
        PermissionMode::Default => 3,
        PermissionMode::Auto | PermissionMode::AcceptEdits => 4,
        PermissionMode::BypassPermissions => 5,
    };
    if a != b && width(a) == width(b) {
        return PermissionMode::Default;
    }
    if width(a) <= width(b) { a } else { b }
}

fn stricter_default(a: DefaultDecision, b: DefaultDecision) -> DefaultDecision {
    match (a, b) {
        (DefaultDecision::Deny, _) | (_, DefaultDecision::Deny) => DefaultDecision::Deny,
        (DefaultDecision::Ask, _) | (_, DefaultDecision::Ask) => DefaultDecision::Ask,
        (DefaultDecision::Allow, DefaultDecision::Allow) => DefaultDecision::Allow,
    }
}
