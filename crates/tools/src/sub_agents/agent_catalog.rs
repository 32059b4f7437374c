//! Catalog of sub-agents that a task may name; validation of tasks.

use std::sync::Arc;

use windlass_core::call::outcome::ToolError;
use windlass_core::run::child_runs::ChildTask;

use crate::tool_definition::tool_input::invalid_input_error;

/// Maximum number of characters of one task.
const MAX_PROMPT_CHARS: usize = 100_000;

/// The name that other agents use for a sub-agent like the parent.
pub const GENERAL_PURPOSE_AGENT: &str = "general-purpose";

/// The agents that a task may name.
#[derive(Debug, Clone, Default)]
pub(super) struct AgentCatalog {
    agents: Vec<KnownAgent>,
    /// Whether a sub-agent may work in the background: someone must be there for its result.
    has_background: bool,
}

/// An agent that a task may name.
#[derive(Debug, Clone)]
struct KnownAgent {
    name: Arc<str>,
    about: Arc<str>,
    /// Whether it works in the background, where that is possible.
    is_background: bool,
}

impl AgentCatalog {
    pub(super) fn add(&mut self, name: &str, about: &str) {
        let (name, about) = (Arc::from(name), Arc::from(about));
        self.agents.push(KnownAgent { name, about, is_background: false });
    }

    /// Lets sub-agents work in the background.
    pub(super) fn allow_background(&mut self) {
        self.has_background = true;
    }

    /// Makes an agent work in the background, where that is possible.
    pub(super) fn set_background(&mut self, name: &str) {
        let agents = self.agents.iter_mut().filter(|agent| *agent.name == *name);
        agents.for_each(|agent| agent.is_background = true);
    }

    /// Returns whether a task for this agent works in the background, given what the call asks for.
    pub(super) fn is_in_background(
        &self,
        agent: Option<&str>,
        requested: Option<bool>,
    ) -> Result<bool, ToolError> {
        match (self.has_background, requested) {
            (true, Some(requested)) => Ok(requested),
            (true, None) => {
                let named = self.agents.iter().find(|known| Some(&*known.name) == agent);
                Ok(named.is_some_and(|known| known.is_background))
            }
            (false, Some(true)) => Err(invalid_input_error(
                "sub-agents cannot run in the background here; omit run_in_background, and the call waits for the answer",
            )),
            (false, Some(false) | None) => Ok(false),
        }
    }

    pub(super) fn description(&self, what: &str) -> Arc<str> {
        let line = |agent: &KnownAgent| format!("\n- {}: {}", agent.name, agent.about);
        let known: String = self.agents.iter().map(line).collect();
        Arc::from(format!("{what}\nAgents:\n- {GENERAL_PURPOSE_AGENT}: an agent like you{known}"))
    }

    /// Validates a task and returns it.
    pub(super) fn build_task(
        &self,
        prompt: &str,
        agent: Option<&str>,
    ) -> Result<ChildTask, ToolError> {
        if prompt.trim().is_empty() {
            return Err(invalid_input_error("the prompt is empty; describe the task"));
        }
        let chars = prompt.chars().count();
        if chars > MAX_PROMPT_CHARS {
            return Err(invalid_input_error(&format!(
                "the prompt has {chars} characters; the limit is {MAX_PROMPT_CHARS}; put the material into a file and refer to it"
            )));
        }
        Ok(ChildTask::new(&self.resolve_agent(agent)?, prompt))
    }

    fn resolve_agent(&self, agent: Option<&str>) -> Result<Arc<str>, ToolError> {
        let agent = agent.unwrap_or_default();
        match self.agents.iter().find(|known| *known.name == *agent) {
            Some(known) => Ok(known.name.clone()),
            None if agent.is_empty() || agent == GENERAL_PURPOSE_AGENT => Ok(Arc::from("")),
            None => {
                let names = self.agents.iter().map(|known| &*known.name);
                let names: Vec<&str> = [GENERAL_PURPOSE_AGENT].into_iter().chain(names).collect();
                let names = names.join(", ");
                Err(invalid_input_error(&format!("no agent {agent}; available: {names}")))
            }
        }
    }
}
