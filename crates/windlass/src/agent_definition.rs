//! Definition of a sub-agent: its description, system prompt, tools and settings.

use std::collections::BTreeSet;
use std::sync::Arc;

use windlass_core::settings::conversation_settings::Settings;
use windlass_runtime::ToolRegistry;
use windlass_runtime::ports::Hooks;
use windlass_tools::GitWorktrees;

/// The definition of a sub-agent, registered with
/// [`WindlassBuilder::sub_agent`](crate::WindlassBuilder::sub_agent). Whatever it leaves unset is
/// inherited from the parent; a sub-agent never has more rights or a larger budget than its parent.
///
/// # Examples
///
/// ```
/// use windlass::{AgentDefinition, RunOutcome, Windlass, memory::MemoryStore, scripted::Script};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// // The parent delegates with the tool `Agent`; the last rule answers as the sub-agent.
/// let script = r#"
/// when user is "What rhymes with June?" and results 0
///   call Agent {"description": "find a rhyme", "prompt": "June", "subagent_type": "poet"}
/// when user is "What rhymes with June?"
///   say "The poet says: ${result}"
/// when any
///   say "moon"
/// "#;
/// let poet = AgentDefinition::new("Finds rhymes.").system_prompt("You are a poet.").tools(&[]);
/// let windlass = Windlass::builder()
///     .scripted_model(Script::parse(script)?)
///     .store(MemoryStore::new())
///     .sub_agent("poet", poet)
///     .allow("Agent")
///     .start()
///     .await?;
/// let run = windlass.session("conversation:1").send("What rhymes with June?").await?;
/// let RunOutcome::Finished(end) = run.wait_for_end().await? else { panic!("not finished") };
/// assert!(end.text.contains("moon"));
/// # Ok(())
/// # }
/// ```
pub struct AgentDefinition {
    pub(crate) description: Arc<str>,
    system_prompt: Option<Arc<str>>,
    tools: Option<BTreeSet<String>>,
    settings_change: Option<SettingsChange>,
    pub(crate) is_background: bool,
    pub(crate) hooks: Vec<Arc<dyn Hooks>>,
    pub(crate) worktrees: Option<GitWorktrees>,
}

type SettingsChange = Box<dyn FnOnce(&mut Settings) + Send>;

impl AgentDefinition {
    /// Creates a definition. `about` describes what the sub-agent is for, and is shown to the model
    /// that chooses a sub-agent.
    #[must_use]
    pub fn new(about: &str) -> Self {
        Self {
            description: Arc::from(about),
            system_prompt: None,
            tools: None,
            settings_change: None,
            is_background: false,
            hooks: Vec::new(),
            worktrees: None,
        }
    }

    /// Sets the system prompt; the parent's is used if this is not called.
    #[must_use]
    pub fn system_prompt(mut self, prompt: &str) -> Self {
        self.system_prompt = Some(Arc::from(prompt));
        self
    }

    /// Limits the sub-agent to the parent's tools of these names; it has all of the parent's tools
    /// if this is not called.
    #[must_use]
    pub fn tools(mut self, names: &[&str]) -> Self {
        self.tools = Some(names.iter().map(|name| (*name).to_owned()).collect());
        self
    }

    /// Makes the sub-agent work in the background unless the call says otherwise, if
    /// [`WindlassBuilder::background_sub_agents`](crate::WindlassBuilder::background_sub_agents)
    /// allows it.
    #[must_use]
    pub fn in_background(mut self) -> Self {
        self.is_background = true;
        self
    }

    /// Gives each sub-agent a git worktree of its own, which its tools have in place of the workspace:
    /// a copy of the last commit, whose changes are committed to a branch when the sub-agent ends. Let
    /// the tools know of the worktrees with
    /// [`ToolContext::with_worktrees`](crate::tools::ToolContext::with_worktrees). Tools that were not
    /// made with such a context, those of MCP servers included, still work in the workspace.
    #[must_use]
    pub fn in_worktree(mut self, worktrees: GitWorktrees) -> Self {
        self.worktrees = Some(worktrees);
        self
    }

    /// Changes any other setting. `change` gets the parent's settings without output schema and
    /// completion gate, which are not inherited.
    #[must_use]
    pub fn settings(mut self, change: impl FnOnce(&mut Settings) + Send + 'static) -> Self {
        self.settings_change = Some(Box::new(change));
        self
    }

    /// Adds hooks that run for this sub-agent only, besides those of the parent.
    #[must_use]
    pub fn hooks(mut self, hooks: impl Hooks) -> Self {
        self.hooks.push(Arc::new(hooks));
        self
    }

    pub(crate) fn select_tools(&self, all: &ToolRegistry) -> ToolRegistry {
        match &self.tools {
            Some(names) => all.filter(|name| names.contains(name)),
            None => all.clone(),
        }
    }

    pub(crate) fn build_settings(self, own: &Settings) -> Settings {
        let mut settings = Settings { output: None, ..own.clone() };
        settings.gate = windlass_core::guard::completion_gate::CompletionGate::default();
        if let Some(system) = self.system_prompt {
            settings.system = system;
        }
        if let Some(change) = self.settings_change {
            change(&mut settings);
        }
        for hooks in &self.hooks {
            settings.hooks = settings.hooks.union(hooks.points());
        }
        settings
    }
}
