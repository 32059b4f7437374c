//! Counters of a campaign.

use crate::observe::violation::{Violation, ViolationKind};

/// The counters of a campaign.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct CampaignTally {
    pub(crate) kills: u64,
    pub(crate) runs: u64,
    pub(crate) completed: u64,
    pub(crate) surfaced: u64,
    pub(crate) needless: u64,
    pub(crate) lost: u64,
    pub(crate) duplicated: u64,
    pub(crate) stale_writes: u64,
    /// Runs with a violation.
    pub(crate) faulty: u64,
    pub(crate) fault_counts: FaultCounts,
}

/// Counters of the faults applied to processes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct FaultCounts {
    /// Processes killed at a random instant.
    pub(crate) instants: u64,
    /// Processes that died at a write boundary.
    pub(crate) boundaries: u64,
    /// Processes killed while another process watched.
    pub(crate) watched: u64,
    /// Of all three, those that were taking over, resuming or being answered.
    pub(crate) in_recovery: u64,
    /// Processes that were frozen.
    pub(crate) frozen: u64,
    /// Of the frozen processes, those that lost their lane meanwhile.
    pub(crate) taken_over: u64,
}

/// The result of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ConversationResult {
    pub(crate) end: ConversationEnd,
    pub(crate) faults: Vec<Violation>,
    pub(crate) fault_counts: FaultCounts,
}

/// How a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ConversationEnd {
    /// No question was asked.
    Completed,
    /// A human was asked and answered, and the run ended.
    Surfaced,
    /// The run never ended.
    Never,
}

impl CampaignTally {
    pub(crate) fn add(&mut self, verdict: &ConversationResult) {
        self.runs += 1;
        match verdict.end {
            ConversationEnd::Completed => self.completed += 1,
            ConversationEnd::Surfaced => self.surfaced += 1,
            ConversationEnd::Never => {}
        }
        self.faulty += u64::from(!verdict.faults.is_empty());
        self.fault_counts.add(verdict.fault_counts);
        verdict.faults.iter().for_each(|fault| self.count_violation(fault));
    }

    pub(crate) fn count_violation(&mut self, fault: &Violation) {
        match fault.kind {
            ViolationKind::NeedlessQuestion => self.needless += 1,
            ViolationKind::LostData => self.lost += 1,
            ViolationKind::DuplicatedEffect => self.duplicated += 1,
            ViolationKind::StaleWrite => self.stale_writes += 1,
        }
    }

    /// Returns whether every promise was kept, and there were runs to check.
    pub(crate) fn is_clean(&self) -> bool {
        let faults = self.needless + self.lost + self.duplicated + self.stale_writes;
        faults == 0 && self.runs > 0 && self.completed + self.surfaced == self.runs
    }
}

impl FaultCounts {
    fn add(&mut self, more: Self) {
        self.instants += more.instants;
        self.boundaries += more.boundaries;
        self.watched += more.watched;
        self.in_recovery += more.in_recovery;
        self.frozen += more.frozen;
        self.taken_over += more.taken_over;
    }
}
