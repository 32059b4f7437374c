//! `spawn_child_runs`: several tasks at once.

use schemars::JsonSchema;
use serde::Deserialize;
use windlass_core::child::Task;
use windlass_core::outcome::ToolError;

use super::MAX_TASKS;
use super::handing::{Handing, Hands};
use super::known::Known;
use crate::input::Input;

/// `spawn_child_runs`: hands out several tasks and waits for all answers.
pub type SpawnChildRuns = Handing<Tasks>;

/// Several tasks.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Tasks {
    #[schemars(length(min = 1, max = 4))]
    tasks: Vec<One>,
}

#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct One {
    /// The task, complete in itself
    #[schemars(length(min = 1))]
    prompt: String,
    /// Which agent does it; one like you if left out
    agent: Option<String>,
}

impl Input for Tasks {
    fn problem(&self) -> Option<String> {
        let count = self.tasks.len();
        let fits = (1..=MAX_TASKS).contains(&count);
        (!fits)
            .then(|| format!("hand out between 1 and {MAX_TASKS} tasks with one call, not {count}"))
    }
}

impl Hands for Tasks {
    const NAME: &'static str = "spawn_child_runs";
    const ABOUT: &'static str = "Hands out up to four tasks at once. Each is done in a conversation of its own; the call \
         returns when all have answered, with the answers in the order of the tasks.";

    fn tasks(&self, known: &Known) -> Result<Vec<Task>, ToolError> {
        self.tasks.iter().map(|one| known.task(&one.prompt, one.agent.as_deref())).collect()
    }

    fn summary(&self) -> String {
        let texts: Vec<&str> = self.tasks.iter().map(|one| one.prompt.as_str()).collect();
        texts.join(" / ")
    }
}
