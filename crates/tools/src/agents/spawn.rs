//! `spawn_child_runs`: several tasks at once.

use schemars::JsonSchema;
use serde::Deserialize;
use windlass_core::child::Task;
use windlass_core::outcome::ToolError;
use windlass_core::settings::Effort;

use super::MAX_TASKS;
use super::agent::unknown_effort;
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
    /// How hard the child is to try: low, medium, high, xhigh or max; as its agent does if left out
    effort: Option<String>,
}

impl Input for Tasks {
    fn problem(&self) -> Option<String> {
        let efforts = self.tasks.iter().filter_map(|one| one.effort.as_deref());
        if let Some(problem) = efforts.filter_map(unknown_effort).next() {
            return Some(problem);
        }
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
        let task = |one: &One| {
            let effort = one.effort.as_deref().and_then(Effort::named);
            let task = known.task(&one.prompt, one.agent.as_deref())?;
            Ok(Task { effort, ..task })
        };
        self.tasks.iter().map(task).collect()
    }

    fn summary(&self) -> String {
        let texts: Vec<&str> = self.tasks.iter().map(|one| one.prompt.as_str()).collect();
        texts.join(" / ")
    }
}
