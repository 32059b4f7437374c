//! Catalog of sub-agents that a task may name; validation of tasks.

use std::sync::Arc;

use windlass_core::call::outcome::ToolError;
use windlass_core::run::child_runs::ChildTask;

use crate::tool_definition::tool_input::invalid_input_error;

/// Maximum number of characters of one task.
const MAX_PROMPT_CHARS: usize = 100_000;

/// The name that other agents use for a sub-agent like the parent.
pub const GENERAL_PURPOSE_AGENT: &str = "general-purpose";

/// The agents that a task may name, each with a description.
#[derive(Debug, Clone, Default)]
pub(super) struct AgentCatalog(Vec<(Arc<str>, Arc<str>)>);

impl AgentCatalog {
    pub(super) fn add(&mut self, name: &str, about: &str) {
        self.0.push((Arc::from(name), Arc::from(about)));
    }

    pub(super) fn description(&self, what: &str) -> Arc<str> {
        let line = |(name, about): &(Arc<str>, Arc<str>)| format!("\n- {name}: {about}");
        let known: String = self.0.iter().map(line).collect();
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
        match self.0.iter().find(|(name, _)| **name == *agent) {
            Some((name, _)) => Ok(name.clone()),
            None if agent.is_empty() || agent == GENERAL_PURPOSE_AGENT => Ok(Arc::from("")),
            None => {
                let names = self.0.iter().map(|(name, _)| &**name);
                let names: Vec<&str> = [GENERAL_PURPOSE_AGENT].into_iter().chain(names).collect();
                let names = names.join(", ");
                Err(invalid_input_error(&format!("no agent {agent}; available: {names}")))
            }
        }
    }
}
