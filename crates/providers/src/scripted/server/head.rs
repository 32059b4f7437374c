//! What an answer carries besides its content.

use super::super::answer::{Answer, Step, Usage};

/// About one answer.
#[derive(Debug, Clone, Copy)]
pub(super) struct Head {
    /// Which answer of this server it is; ids are made of it.
    pub(super) number: u64,
    /// When, in seconds since 1970.
    pub(super) created: u64,
    pub(super) usage: Usage,
    /// How much of the output was thinking.
    pub(super) thinking_tokens: u64,
}

impl Head {
    pub(super) fn new(number: u64, created: u64, answer: &Answer) -> Self {
        let thought = answer.steps.iter().map(thought_chars).sum::<usize>();
        let thinking_tokens = ((thought.div_ceil(4)) as u64).min(answer.usage.output);
        Self { number, created, usage: answer.usage, thinking_tokens }
    }

    /// An id such as `msg_000000000000000000000007`.
    pub(super) fn id(&self, prefix: &str) -> String {
        let number = self.number;
        format!("{prefix}{number:024}")
    }

    /// An id for the part of an answer with this place.
    pub(super) fn part_id(&self, prefix: &str, place: usize) -> String {
        let number = self.number;
        format!("{prefix}{number:020}{place:04}")
    }

    /// All input, from the cache or not, as OpenAI counts it.
    pub(super) fn all_input(&self) -> u64 {
        let Usage { input, cache_read, cache_write, .. } = self.usage;
        input.saturating_add(cache_read).saturating_add(cache_write)
    }

    /// All input and output.
    pub(super) fn total(&self) -> u64 {
        self.all_input().saturating_add(self.usage.output)
    }
}

fn thought_chars(step: &Step) -> usize {
    match step {
        Step::Think(text) => text.chars().count(),
        _ => 0,
    }
}
