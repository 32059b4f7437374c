//! The budget of a task, as the model is told it. The provider counts down what it sees in the
//! messages of a request: thoughts, calls, results and output. What a compaction takes out it can no
//! longer see, so from then on it is told what was left when the messages still were there.
//!
//! Not here: caps. This budget is advice to the model and stops nothing.

use crate::reply::Usage;

/// What a run has used of its task's budget.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct TaskLedger {
    /// Tokens of generations that are over; `None` as long as the first one lasts.
    carried: Option<u64>,
    /// Tokens since the generation began.
    here: u64,
    /// Tokens of the context after the last reply.
    context: Option<u64>,
}

impl TaskLedger {
    /// Counts a reply: its output, and what was added to the context for it.
    pub(crate) fn replied(&mut self, usage: &Usage) {
        let output = usage.output_tokens;
        let input = usage.total().saturating_sub(output);
        let added = self.context.map_or(0, |before| input.saturating_sub(before));
        self.here = self.here.saturating_add(added).saturating_add(output);
        self.context = Some(input.saturating_add(output));
    }

    /// The generation ends with a context of about so many tokens: what came after the last reply is
    /// counted too.
    pub(crate) fn generation_over(&mut self, context: u64) {
        let added = self.context.map_or(0, |before| context.saturating_sub(before));
        let used = self.here.saturating_add(added);
        self.carried = Some(self.carried.unwrap_or(0).saturating_add(used));
        self.here = 0;
        self.context = None;
    }

    /// What the model is told of `total`: nothing as long as it sees for itself, then what was left
    /// when the generation began.
    #[must_use]
    pub fn left(&self, total: u64) -> Option<u64> {
        self.carried.map(|used| total.saturating_sub(used))
    }
}
