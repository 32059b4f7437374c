//! The data of an answer besides its content.

use crate::scripted_answer::{AnswerStep, ScriptedAnswer, ScriptedUsage};

/// The data of one answer.
#[derive(Debug, Clone, Copy)]
pub(super) struct ResponseHead {
    /// The number of the answer on this server, from which ids are made.
    pub(super) number: u64,
    /// The time, in seconds since 1970.
    pub(super) created: u64,
    pub(super) usage: ScriptedUsage,
    /// The number of output tokens that were thinking.
    pub(super) thinking_tokens: u64,
}

impl ResponseHead {
    pub(super) fn new(number: u64, created: u64, answer: &ScriptedAnswer) -> Self {
        let thought = answer.steps.iter().map(thinking_chars).sum::<usize>();
        let thinking_tokens = ((thought.div_ceil(4)) as u64).min(answer.usage.output);
        Self { number, created, usage: answer.usage, thinking_tokens }
    }

    /// An id such as `msg_000000000000000000000007`.
    pub(super) fn id_with_prefix(&self, prefix: &str) -> String {
        let number = self.number;
        format!("{prefix}{number:024}")
    }

    /// An id for the part of an answer at this index.
    pub(super) fn part_id(&self, prefix: &str, index: usize) -> String {
        let number = self.number;
        format!("{prefix}{number:020}{index:04}")
    }

    /// All input tokens, cached or not, as OpenAI counts them.
    pub(super) fn all_input_tokens(&self) -> u64 {
        let ScriptedUsage { input, cache_read, cache_write, .. } = self.usage;
        input.saturating_add(cache_read).saturating_add(cache_write)
    }

    /// All input and output tokens.
    pub(super) fn total_tokens(&self) -> u64 {
        self.all_input_tokens().saturating_add(self.usage.output)
    }
}

fn thinking_chars(step: &AnswerStep) -> usize {
    match step {
        AnswerStep::Think(text) => text.chars().count(),
        _ => 0,
    }
}
