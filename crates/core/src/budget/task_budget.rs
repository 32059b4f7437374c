//! The task budget that the model is told about. The provider counts down what it sees in the
//! messages of a request: thinking, calls, results and output. What a compaction removes it can no
//! longer see, so from then on it is told what was left when the messages were still there.
//!
//! Not here: caps. This budget is advice to the model and stops nothing.

use crate::message::reply::TokenUsage;

/// What a run has used of its task budget.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct TaskBudgetLedger {
    /// Tokens of prompt generations that ended; `None` during the first generation.
    earlier_tokens: Option<u64>,
    /// Tokens since the current generation began.
    generation_tokens: u64,
    /// Tokens of the context after the last reply.
    context: Option<u64>,
}

impl TaskBudgetLedger {
    /// Counts a reply: its output, and what was added to the context for it.
    pub(crate) fn count_reply(&mut self, usage: &TokenUsage) {
        let output = usage.output_tokens;
        let input = usage.total_tokens().saturating_sub(output);
        let added = self.context.map_or(0, |before| input.saturating_sub(before));
        self.generation_tokens =
            self.generation_tokens.saturating_add(added).saturating_add(output);
        self.context = Some(input.saturating_add(output));
    }

    /// Ends the generation with a context of about `context` tokens: what was added after the last
    /// reply is counted too.
    pub(crate) fn end_generation(&mut self, context: u64) {
        let added = self.context.map_or(0, |before| context.saturating_sub(before));
        let used = self.generation_tokens.saturating_add(added);
        self.earlier_tokens = Some(self.earlier_tokens.unwrap_or(0).saturating_add(used));
        self.generation_tokens = 0;
        self.context = None;
    }

    /// Returns what the model is told of the `total` budget: nothing during the first generation,
    /// then what was left when the current generation began.
    #[must_use]
    pub fn remaining(&self, total: u64) -> Option<u64> {
        self.earlier_tokens.map(|used| total.saturating_sub(used))
    }
}
