//! Statistics of long conversations with a hostile model.

use std::fmt;

/// Statistics of one conversation, or of many.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct HostileFigures {
    /// Number of conversations.
    pub runs: u64,
    /// Number of rounds of tool calls.
    pub rounds: u64,
    /// Number of compactions.
    pub compactions: u64,
    /// How often old blocks were shortened or removed.
    pub prunes: u64,
    /// Number of questions to a human.
    pub humans: u64,
    /// Most tokens beyond a cap, where the usage was reported honestly.
    pub overshoot: u64,
    /// Rules and instructions that were found word for word after compactions.
    pub kept: u64,
    /// Rules and instructions that were searched.
    pub looked_for: u64,
    /// Violated checks.
    pub failures: Vec<String>,
}

impl HostileFigures {
    /// Adds the statistics of another conversation.
    pub fn add(&mut self, other: Self) {
        self.runs += other.runs;
        self.rounds += other.rounds;
        self.compactions += other.compactions;
        self.prunes += other.prunes;
        self.humans += other.humans;
        self.overshoot = self.overshoot.max(other.overshoot);
        self.kept += other.kept;
        self.looked_for += other.looked_for;
        self.failures.extend(other.failures);
    }
}

impl fmt::Display for HostileFigures {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "hostile: {} runs, {} rounds, {} compactions, {} questions, worst overshoot {} tokens \
             of one reserved call, rules kept {}/{}, {} failures",
            self.runs,
            self.rounds,
            self.compactions,
            self.humans,
            self.overshoot,
            self.kept,
            self.looked_for,
            self.failures.len()
        )
    }
}
