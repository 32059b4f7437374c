//! What a campaign counts.

use crate::fault::{Fault, Kind};

/// The counts of a campaign.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Tally {
    pub(crate) kills: u64,
    pub(crate) runs: u64,
    pub(crate) completed: u64,
    pub(crate) surfaced: u64,
    pub(crate) needless: u64,
    pub(crate) lost: u64,
    pub(crate) duplicated: u64,
    pub(crate) stale_writes: u64,
    /// Runs with a fault in them.
    pub(crate) faulty: u64,
    pub(crate) blows: Blows,
}

/// How processes suffered.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Blows {
    /// Killed at a random instant.
    pub(crate) instants: u64,
    /// Died at a write boundary.
    pub(crate) boundaries: u64,
    /// Killed while another process watched.
    pub(crate) watched: u64,
    /// Of all three, those that were taking over, resuming or being answered.
    pub(crate) in_recovery: u64,
    /// Frozen.
    pub(crate) frozen: u64,
    /// Of those, the ones that lost their lane meanwhile.
    pub(crate) taken_over: u64,
}

/// How a run came out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Verdict {
    pub(crate) end: RunEnd,
    pub(crate) faults: Vec<Fault>,
    pub(crate) blows: Blows,
}

/// How a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RunEnd {
    /// Nobody was asked.
    Completed,
    /// A human was asked, answered, and it ended.
    Surfaced,
    /// It never ended.
    Never,
}

impl Tally {
    pub(crate) fn add(&mut self, verdict: &Verdict) {
        self.runs += 1;
        match verdict.end {
            RunEnd::Completed => self.completed += 1,
            RunEnd::Surfaced => self.surfaced += 1,
            RunEnd::Never => {}
        }
        self.faulty += u64::from(!verdict.faults.is_empty());
        self.blows.add(verdict.blows);
        verdict.faults.iter().for_each(|fault| self.count(fault));
    }

    pub(crate) fn count(&mut self, fault: &Fault) {
        match fault.kind {
            Kind::Needless => self.needless += 1,
            Kind::Lost => self.lost += 1,
            Kind::Duplicated => self.duplicated += 1,
            Kind::StaleWrite => self.stale_writes += 1,
        }
    }

    /// Whether every promise was kept, and there was something to keep.
    pub(crate) fn is_clean(&self) -> bool {
        let faults = self.needless + self.lost + self.duplicated + self.stale_writes;
        faults == 0 && self.runs > 0 && self.completed + self.surfaced == self.runs
    }
}

impl Blows {
    fn add(&mut self, more: Self) {
        self.instants += more.instants;
        self.boundaries += more.boundaries;
        self.watched += more.watched;
        self.in_recovery += more.in_recovery;
        self.frozen += more.frozen;
        self.taken_over += more.taken_over;
    }
}
