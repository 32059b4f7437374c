//! What everybody in a world shares: its disk, its clock, its witness.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use tokio::sync::mpsc;
use windlass_core::ids::{LaneId, RunId};
use windlass_core::question::Question;
use windlass_store::MemoryStore;

use super::clock::Wall;
use super::plan::Plan;
use super::witness::Witness;

/// A safeguard taken out on purpose, to see whether the checker notices.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Break {
    /// Nothing.
    #[default]
    Nothing,
    /// The store accepts appends of owners that lost the lane.
    Fence,
    /// A once-only call starts before its record is safe from a power cut.
    Envelope,
    /// Of two who were given the same epoch, each is taken for the owner.
    Name,
}

/// A question somebody saw.
pub(crate) struct Asked {
    pub(crate) lane: LaneId,
    pub(crate) question: Question,
}

pub(crate) struct Shared {
    pub(crate) plan: Plan,
    pub(crate) broken: Break,
    pub(crate) witness: Witness,
    pub(crate) wall: Wall,
    pub(crate) disk: MemoryStore,
    pub(crate) desk: mpsc::UnboundedSender<Asked>,
    calm: AtomicBool,
    operations: AtomicU64,
}

/// Operations of the store after which a world counts as running in circles.
const MOST_OPERATIONS: u64 = 50_000;

impl Shared {
    pub(crate) fn new(plan: Plan, broken: Break) -> (Arc<Self>, mpsc::UnboundedReceiver<Asked>) {
        let (desk, questions) = mpsc::unbounded_channel();
        let shared = Self {
            plan,
            broken,
            witness: Witness::default(),
            wall: Wall::new(),
            disk: MemoryStore::simulated(),
            desk,
            calm: AtomicBool::new(false),
            operations: AtomicU64::new(0),
        };
        (Arc::new(shared), questions)
    }

    /// Ends all faults.
    pub(crate) fn calm_down(&self) {
        self.calm.store(true, Ordering::SeqCst);
    }

    pub(crate) fn is_calm(&self) -> bool {
        self.calm.load(Ordering::SeqCst)
    }

    /// Counts an operation; a world that runs in circles stops here, and its checker tells.
    pub(crate) async fn count(&self, what: &str) {
        let operations = self.operations.fetch_add(1, Ordering::SeqCst);
        if operations == MOST_OPERATIONS {
            self.fault(&format!("{operations} operations and no end, the last was {what}"));
        }
        if operations >= MOST_OPERATIONS {
            std::future::pending::<()>().await;
        }
    }

    pub(crate) fn fault(&self, what: &str) {
        self.witness.fault(self.wall.elapsed_ms(), what);
    }

    pub(crate) fn lanes(&self) -> impl Iterator<Item = LaneId> + use<> {
        (0..self.plan.lanes).map(lane_id)
    }
}

/// The lane of this number.
pub(crate) fn lane_id(lane: usize) -> LaneId {
    LaneId::from(format!("conversation:L{lane}"))
}

/// A run of a lane.
pub(crate) fn run_id(lane: usize, run: u32) -> RunId {
    RunId::from(format!("{lane:08x}-{run:04x}{RUN_TAIL}"))
}

/// How the id of every run of a world ends: a UUID must not say more, but a world reads its lane back.
const RUN_TAIL: &str = "-8aaa-8aaa-aaaaaaaaaaaa";

/// The lane a text is about: every run, prompt, reply and result of a world names its lane, by its
/// name or by a run.
pub(crate) fn lane_in(text: &str) -> Option<LaneId> {
    let by_run = || {
        let (before, _) = text.split_once(RUN_TAIL)?;
        let (lane, _) = before.get(before.len().checked_sub(13)?..)?.split_once('-')?;
        usize::from_str_radix(lane, 16).ok().map(lane_id)
    };
    by_name(text).or_else(by_run)
}

fn by_name(text: &str) -> Option<LaneId> {
    let (_, rest) = text.split_once('L').filter(|(_, rest)| rest.starts_with(char::is_numeric))?;
    let lane = rest.split('-').next()?.parse().ok()?;
    Some(lane_id(lane))
}
