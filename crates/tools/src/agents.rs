//! Handing work to children. The core begins a conversation for each task and the call waits for
//! what they bring back; the tools only say what a good task is.

mod agent;
mod spawn;

#[cfg(test)]
#[path = "agents/agents_tests.rs"]
mod agents_tests;

pub use agent::Agent;
pub use spawn::SpawnChildRuns;

use std::sync::Arc;

use windlass_core::child::Task;
use windlass_core::facts::{AnsweredBy, Facts, Interrupt, Repeat, Verify};
use windlass_core::order::Touches;
use windlass_core::outcome::{Outcome, ToolError};

use crate::input::{self, invalid};

/// Children that may be begun with one call.
pub const MAX_TASKS: usize = 4;

/// Characters of one task.
const MAX_PROMPT_CHARS: usize = 100_000;

/// What people used to other agents call one like the parent.
const LIKE_THE_PARENT: &str = "general-purpose";

/// The agents a task may name, each with a line that says what it is for.
#[derive(Debug, Clone, Default)]
pub(crate) struct Known(Vec<(Arc<str>, Arc<str>)>);

impl Known {
    fn with(mut self, name: &str, about: &str) -> Self {
        self.0.push((Arc::from(name), Arc::from(about)));
        self
    }

    fn description(&self, what: &str) -> Arc<str> {
        let line = |(name, about): &(Arc<str>, Arc<str>)| format!("\n- {name}: {about}");
        let known: String = self.0.iter().map(line).collect();
        Arc::from(format!("{what}\nAgents:\n- {LIKE_THE_PARENT}: one like you{known}"))
    }

    /// The task, if it is one.
    fn task(&self, prompt: &str, agent: Option<&str>) -> Result<Task, ToolError> {
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
        Ok(Task { agent: self.name(agent)?, prompt: Arc::from(prompt) })
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

/// A call that waits for children changes nothing by itself, so it stands in nobody's way.
fn facts(children: Vec<Task>, summary: &str) -> Facts {
    Facts {
        touches: Touches::Reads(Vec::new()),
        repeat: Repeat::OnceOnly,
        interrupt: Interrupt::Interruptible,
        verify: Verify::CannotTell,
        answered_by: AnsweredBy::Children,
        summary: Some(input::summary(summary)),
        children,
        ..Facts::default()
    }
}

/// Never brought where the facts are honoured: the answer is the children's.
fn nobody_began() -> Outcome {
    Outcome::Failed(ToolError::new(
        "no_child",
        "no child was begun for this call",
        "do the work yourself",
    ))
}
