//! `Agent`: one task for one child.

use schemars::JsonSchema;
use serde::Deserialize;
use windlass_core::child::Task;
use windlass_core::outcome::ToolError;

use super::handing::{Handing, Hands};
use super::known::Known;
use crate::input::Input;

/// `Agent`: hands a task to a child and waits for its answer.
pub type Agent = Handing<OneTask>;

/// One task, and who does it.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OneTask {
    /// The task in three to five words
    description: String,
    /// The task, complete in itself: the child sees nothing of this conversation
    #[schemars(length(min = 1))]
    prompt: String,
    /// Which agent does it; one like you if left out
    subagent_type: Option<String>,
    /// Taken for the sake of other callers: an agent's own definition says which model it asks
    #[serde(rename = "model")]
    _model: Option<String>,
    /// Taken for the sake of other callers: a child tries as hard as you do
    #[serde(rename = "effort")]
    _effort: Option<String>,
    /// Only false: the call waits for the answer
    run_in_background: Option<bool>,
}

impl Input for OneTask {
    fn problem(&self) -> Option<String> {
        let why = "a child cannot be left in the background; leave run_in_background out and the \
                   call waits for its answer";
        (self.run_in_background == Some(true)).then(|| why.to_owned())
    }
}

impl Hands for OneTask {
    const NAME: &'static str = "Agent";
    const ABOUT: &'static str = "Hands a task to another agent, which works in a conversation of its own and returns its \
         final answer. Several calls in one turn work side by side.";

    fn tasks(&self, known: &Known) -> Result<Vec<Task>, ToolError> {
        Ok(vec![known.task(&self.prompt, self.subagent_type.as_deref())?])
    }

    fn summary(&self) -> String {
        self.description.clone()
    }
}
