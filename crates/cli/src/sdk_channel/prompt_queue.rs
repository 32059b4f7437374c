//! Prompts that wait for their turn. They become inbox messages when it starts, with the settings
//! that apply then.

use std::collections::VecDeque;

use super::incoming::{PromptPriority, UserPrompt};

/// Maximum number of prompts that wait.
const MAX_PROMPTS: usize = 4_096;

/// The prompts that wait, in the order in which they are handled.
#[derive(Debug, Default)]
pub(super) struct PromptQueue {
    prompts: VecDeque<UserPrompt>,
}

/// There is no room for another prompt.
#[derive(Debug, thiserror::Error)]
#[error(
    "more than {MAX_PROMPTS} prompts wait for their turn; wait for results before sending more"
)]
pub(super) struct QueueFull;

impl PromptQueue {
    /// Adds a prompt behind those of the same priority.
    pub(super) fn push(&mut self, prompt: UserPrompt) -> Result<(), QueueFull> {
        if self.prompts.len() >= MAX_PROMPTS {
            return Err(QueueFull);
        }
        let is_behind = |waiting: &UserPrompt| rank(waiting) > rank(&prompt);
        let at = self.prompts.iter().position(is_behind).unwrap_or(self.prompts.len());
        self.prompts.insert(at, prompt);
        Ok(())
    }

    /// Takes the prompt whose turn it is.
    pub(super) fn pop(&mut self) -> Option<UserPrompt> {
        self.prompts.pop_front()
    }

    /// Removes the prompt with this id; returns whether there was one.
    pub(super) fn remove(&mut self, uuid: &str) -> bool {
        let at = self.prompts.iter().position(|prompt| prompt.uuid.as_deref() == Some(uuid));
        at.and_then(|at| self.prompts.remove(at)).is_some()
    }

    /// Removes all prompts, and returns their ids.
    pub(super) fn clear(&mut self) -> Vec<String> {
        self.prompts.drain(..).filter_map(|prompt| prompt.uuid).collect()
    }

    /// The ids of the prompts.
    pub(super) fn uuids(&self) -> Vec<&str> {
        self.prompts.iter().filter_map(|prompt| prompt.uuid.as_deref()).collect()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.prompts.is_empty()
    }
}

fn rank(prompt: &UserPrompt) -> u8 {
    match prompt.priority {
        PromptPriority::Now => 0,
        PromptPriority::Next => 1,
        PromptPriority::Later => 2,
    }
}
