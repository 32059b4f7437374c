//! The agents of a process by name, and what becomes of one that works as a child: it spends what it
//! was given, has no tools its parent has not, and may do nothing its parent may not.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use windlass_core::budget::{Allowance, AtCap, Caps};
use windlass_core::child::{Parent, Task};
use windlass_core::gate::Gate;
use windlass_core::permission::{Mode, Otherwise, Permissions, Rule};
use windlass_core::run_settings::RunSettings;
use windlass_core::settings::Settings;

use crate::agent::Agent;
use crate::keeping::Keeping;
use crate::ports::{Reach, ServedWorkspace, Whose};
use crate::turns::TOOLS_AT_ONCE;
use crate::workspace::Workspace;

#[cfg(test)]
#[path = "agents_tests.rs"]
mod agents_tests;

/// The agents of a process.
#[derive(Clone)]
pub struct Agents {
    own: Agent,
    named: BTreeMap<Arc<str>, Agent>,
    workspace: Option<Workspace>,
    keeping: Arc<Keeping>,
    tools_at_once: usize,
}

impl From<Agent> for Agents {
    fn from(own: Agent) -> Self {
        Self {
            own,
            named: BTreeMap::new(),
            workspace: None,
            keeping: Arc::default(),
            tools_at_once: TOOLS_AT_ONCE,
        }
    }
}

impl Agents {
    /// The same agents and one more, for tasks that name it.
    #[must_use]
    pub fn with(mut self, name: &str, mut agent: Agent) -> Self {
        let name: Arc<str> = Arc::from(name);
        let settings = Settings { agent: name.clone(), ..(*agent.settings).clone() };
        agent.settings = Arc::new(settings);
        self.named.insert(name, agent);
        self
    }

    /// The same agents, whose tools work in a folder. Conversations begun here are driven only by
    /// processes that have the same workspace, unless none of the tools needs one. Conversations
    /// that belong to no workspace are driven without the tools that need one.
    #[must_use]
    pub fn working_in(mut self, workspace: Workspace) -> Self {
        self.workspace = Some(workspace);
        self
    }

    /// The same agents; what they leave is kept for this long.
    #[must_use]
    pub fn keeping(mut self, keeping: Keeping) -> Self {
        self.keeping = Arc::new(keeping);
        self
    }

    /// The same agents; their process executes so many tools at once.
    #[must_use]
    pub fn with_tools_at_once(mut self, tools_at_once: usize) -> Self {
        self.tools_at_once = tools_at_once;
        self
    }

    pub(crate) fn tools_at_once(&self) -> usize {
        self.tools_at_once
    }

    pub(crate) fn kept(&self) -> &Arc<Keeping> {
        &self.keeping
    }

    /// Whose a conversation is that begins here.
    pub(crate) fn whose(&self) -> Whose {
        let agent = self.own.settings.agent.clone();
        let place = self.needed_workspace();
        let affinity = place.map_or_else(|| Arc::from(""), |place| place.id().clone());
        let folder = self.workspace.as_ref().map(|place| place.path().to_string_lossy());
        let folder = Arc::from(folder.as_deref().unwrap_or_default());
        Whose { tenant: Arc::from(""), agent, affinity, folder }
    }

    /// Which conversations can be driven here.
    pub(crate) fn reach(&self) -> Reach {
        let own = self.own.settings.agent.clone();
        let agents = self.named.keys().cloned().chain([own]).collect();
        let affinities = self.needed_workspace().map_or_else(Vec::new, Workspace::ids);
        Reach { agents, affinities }
    }

    /// What this process says that it serves.
    pub(crate) fn served(&self) -> Vec<ServedWorkspace> {
        self.needed_workspace().map_or_else(Vec::new, Workspace::served)
    }

    /// The workspace, if any of the tools works in it.
    fn needed_workspace(&self) -> Option<&Workspace> {
        let needs_one = self.own.ports.tools.needs_workspace();
        self.workspace.as_ref().filter(|_| needs_one)
    }

    /// The agent as it drives a conversation with this affinity.
    pub(crate) fn fitted(&self, mut agent: Agent, affinity: &str) -> Agent {
        if affinity.is_empty() && self.workspace.is_some() && agent.ports.tools.needs_workspace() {
            agent.ports.tools = agent.ports.tools.without_workspace();
            let tools = agent.ports.tools.specs();
            agent.settings = Arc::new(Settings { tools, ..(*agent.settings).clone() });
        }
        agent
    }

    /// The agent that drives conversations which are nobody's child.
    #[must_use]
    pub fn own(&self) -> &Agent {
        &self.own
    }

    /// The names that tasks may give.
    pub fn names(&self) -> impl Iterator<Item = &Arc<str>> {
        self.named.keys()
    }

    fn get(&self, name: &str) -> Option<&Agent> {
        let own = (*self.own.settings.agent == *name).then_some(&self.own);
        self.named.get(name).or(own)
    }

    /// The agent of a child: the one its task names, or one like the parent.
    #[must_use]
    pub fn child(&self, task: &Task, parent: &Parent, above: &Settings) -> Option<Agent> {
        let name = if task.agent.is_empty() { &*above.agent } else { &*task.agent };
        let base = self.get(name)?;
        let mut child = base.clone();
        let mut settings = (*base.settings).clone();
        if *above.agent == *name {
            // What the parent's run has of its own, a child like the parent has too.
            settings = RunSettings::of(above).over(&settings);
            // What the parent owes somebody is not what its child owes the parent.
            settings.gate = Gate::default();
            settings.output = None;
        } else {
            let of_run = RunSettings::of(above).for_agent(&settings, &self.own.settings);
            settings = of_run.over(&settings);
        }
        let offered: BTreeSet<&str> = above.tools.iter().map(|tool| &*tool.name).collect();
        let owed = above.output.as_ref().map(|output| &*output.tool);
        let is_childs = |tool: &str| offered.contains(tool) && owed != Some(tool);
        child.ports.tools = base.ports.tools.only(is_childs);
        settings.tools = child.ports.tools.specs_of_run(above, is_childs);
        if let Some(effort) = task.effort {
            settings.thinking.effort = Some(effort);
        }
        let own_mode = self.own.settings.rules.mode;
        let approved = own_mode == Mode::Plan && is_after_planning(above.rules.mode);
        if approved || settings.rules.mode == own_mode {
            // An agent without a mode of its own has that of the run it works for. A person may have
            // approved the plan of the parent: what it plans no more, its children do not.
            settings.rules.mode = above.rules.mode;
        }
        settings.rules = no_wider(&settings.rules, &above.rules);
        settings.depth = parent.depth;
        settings.budget.run = parent.caps;
        settings.budget.conversation = Caps::default();
        settings.budget.profile = Allowance::default();
        // Nobody but the parent's own human may raise what the parent granted.
        settings.budget.at_cap = AtCap::Stop;
        child.settings = Arc::new(settings);
        Some(child)
    }
}

/// The modes that an approved plan leads to.
fn is_after_planning(mode: Mode) -> bool {
    matches!(mode, Mode::Default | Mode::AcceptEdits)
}

/// The parent's permissions, and whatever more the child's own hold back.
fn no_wider(own: &Permissions, above: &Permissions) -> Permissions {
    let both = |above: &[Rule], own: &[Rule]| {
        let more = own.iter().filter(|rule| !above.contains(rule));
        above.iter().chain(more).cloned().collect()
    };
    Permissions {
        disallowed: both(&above.disallowed, &own.disallowed),
        deny: both(&above.deny, &own.deny),
        ask: both(&above.ask, &own.ask),
        mode: narrower(own.mode, above.mode),
        otherwise: stricter(own.otherwise, above.otherwise),
        ..above.clone()
    }
}

/// The mode that lets less through. Two of them let different things through: then neither.
fn narrower(a: Mode, b: Mode) -> Mode {
    let width = |mode: Mode| match mode {
        Mode::PlanNone => 0,
        Mode::Plan => 1,
        Mode::DontAsk => 2,
        Mode::Default => 3,
        Mode::Auto | Mode::AcceptEdits => 4,
        Mode::BypassPermissions => 5,
    };
    if a != b && width(a) == width(b) {
        return Mode::Default;
    }
    if width(a) <= width(b) { a } else { b }
}

fn stricter(a: Otherwise, b: Otherwise) -> Otherwise {
    match (a, b) {
        (Otherwise::Deny, _) | (_, Otherwise::Deny) => Otherwise::Deny,
        (Otherwise::Ask, _) | (_, Otherwise::Ask) => Otherwise::Ask,
        (Otherwise::Allow, Otherwise::Allow) => Otherwise::Allow,
    }
}
