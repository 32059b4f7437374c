//! `Agent`: one task for one child.

use schemars::JsonSchema;
use serde::Deserialize;
use windlass_core::child::Task;
use windlass_core::outcome::ToolError;
use windlass_core::settings::Effort;

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
    /// How hard the child is to try: low, medium, high, xhigh or max; as its agent does if left out
    effort: Option<String>,
    /// Only false: the call waits for the answer
    run_in_background: Option<bool>,
}

/// What is wrong with a word for an effort.
pub(super) fn unknown_effort(word: &str) -> Option<String> {
    let is_unknown = Effort::named(word).is_none();
    is_unknown.then(|| format!("the effort is {word}; write low, medium, high, xhigh or max"))
}

impl Input for OneTask {
    fn problem(&self) -> Option<String> {
        if let Some(problem) = self.effort.as_deref().and_then(unknown_effort) {
            return Some(problem);
        }
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
        let effort = self.effort.as_deref().and_then(Effort::named);
        let task = known.task(&self.prompt, self.subagent_type.as_deref())?;
        Ok(vec![Task { effort, ..task }])
    }

    fn summary(&self) -> String {
        self.description.clone()
    }
}
