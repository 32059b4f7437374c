//! The agents a task may name, and what makes a text a task.

use std::sync::Arc;

use windlass_core::child::Task;
use windlass_core::outcome::ToolError;

use crate::input::invalid;

/// Characters of one task.
const MAX_PROMPT_CHARS: usize = 100_000;

/// What people used to other agents call one like the parent.
pub const LIKE_THE_PARENT: &str = "general-purpose";

/// The agents a task may name, each with a line that says what it is for.
#[derive(Debug, Clone, Default)]
pub(super) struct Known(Vec<(Arc<str>, Arc<str>)>);

impl Known {
    pub(super) fn add(&mut self, name: &str, about: &str) {
        self.0.push((Arc::from(name), Arc::from(about)));
    }

    pub(super) fn description(&self, what: &str) -> Arc<str> {
        let line = |(name, about): &(Arc<str>, Arc<str>)| format!("\n- {name}: {about}");
        let known: String = self.0.iter().map(line).collect();
        Arc::from(format!("{what}\nAgents:\n- {LIKE_THE_PARENT}: one like you{known}"))
    }

    /// The task, if it is one.
    pub(super) fn task(&self, prompt: &str, agent: Option<&str>) -> Result<Task, ToolError> {
        if prompt.trim().is_empty() {
            return Err(invalid("the prompt is empty; say what the child is to do"));
        }
        let chars = prompt.chars().count();
        if chars > MAX_PROMPT_CHARS {
            return Err(invalid(&format!(
                "the prompt has {chars} characters and at most {MAX_PROMPT_CHARS} are taken; put \
                 the material into a file and name it"
            )));
        }
        Ok(Task::new(&self.name(agent)?, prompt))
    }

    fn name(&self, agent: Option<&str>) -> Result<Arc<str>, ToolError> {
        let agent = agent.unwrap_or_default();
        match self.0.iter().find(|(name, _)| **name == *agent) {
            Some((name, _)) => Ok(name.clone()),
            None if agent.is_empty() || agent == LIKE_THE_PARENT => Ok(Arc::from("")),
            None => {
                let names = self.0.iter().map(|(name, _)| &**name);
                let names: Vec<&str> = [LIKE_THE_PARENT].into_iter().chain(names).collect();
                let names = names.join(", ");
                Err(invalid(&format!("there is no agent {agent}; these are there: {names}")))
            }
        }
    }
}
