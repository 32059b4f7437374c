//! What long conversations came to.

use std::fmt;

/// Figures of one conversation, or of many.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Figures {
    /// Conversations.
    pub runs: u64,
    /// Rounds of calls.
    pub rounds: u64,
    /// Compactions.
    pub compactions: u64,
    /// Times old blocks were cut or taken out.
    pub prunes: u64,
    /// Questions put before a human.
    pub humans: u64,
    /// Most tokens beyond a cap, where the bill was honest.
    pub overshoot: u64,
    /// Rules and instructions looked for after compactions, and found word for word.
    pub kept: u64,
    /// Rules and instructions looked for.
    pub looked_for: u64,
    /// What was not as it must be.
    pub failures: Vec<String>,
}

impl Figures {
    /// Takes in the figures of another.
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

impl fmt::Display for Figures {
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
