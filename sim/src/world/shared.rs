//! The shared parts of a world: its disk, its clock, its observation log.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use tokio::sync::mpsc;
use windlass_core::log::ids::{LaneId, RunId};
use windlass_core::run::question::Question;
use windlass_store::MemoryStore;

use super::clock::WallClock;
use super::observation_log::ObservationLog;
use super::world_plan::WorldPlan;

/// A safeguard that is removed on purpose, to see whether the checker notices.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum RemovedSafeguard {
    /// No safeguard is removed.
    #[default]
    Nothing,
    /// The store accepts appends of owners that lost the lane.
    Fence,
    /// A once-only call starts before its record is safe from a power cut.
    Envelope,
    /// Two workers with the same epoch both count as the owner.
    Name,
}

/// A question that a reader saw.
pub(crate) struct SeenQuestion {
    pub(crate) lane: LaneId,
    pub(crate) question: Question,
}

pub(crate) struct SharedWorld {
    pub(crate) plan: WorldPlan,
    pub(crate) broken: RemovedSafeguard,
    pub(crate) observations: ObservationLog,
    pub(crate) wall: WallClock,
    pub(crate) disk: MemoryStore,
    pub(crate) desk: mpsc::UnboundedSender<SeenQuestion>,
    calm: AtomicBool,
    operations: AtomicU64,
}

/// Store operations after which a world counts as an endless loop.
const MOST_OPERATIONS: u64 = 50_000;

impl SharedWorld {
    pub(crate) fn new(
        plan: WorldPlan,
        broken: RemovedSafeguard,
    ) -> (Arc<Self>, mpsc::UnboundedReceiver<SeenQuestion>) {
        let (desk, questions) = mpsc::unbounded_channel();
        let shared = Self {
            plan,
            broken,
            observations: ObservationLog::default(),
            wall: WallClock::new(),
            disk: MemoryStore::with_commit_history(),
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

    /// Counts an operation; a world in an endless loop stops here, and its checker reports it.
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
        self.observations.fault(self.wall.elapsed_ms(), what);
    }

    pub(crate) fn lanes(&self) -> impl Iterator<Item = LaneId> + use<> {
        (0..self.plan.lanes).map(lane_id)
    }
}

/// Returns the lane of this number.
pub(crate) fn lane_id(lane: usize) -> LaneId {
    LaneId::from(format!("conversation:L{lane}"))
}

/// Returns the id of a run of a lane.
pub(crate) fn run_id(lane: usize, run: u32) -> RunId {
    RunId::from(format!("{lane:08x}-{run:04x}{RUN_TAIL}"))
}

/// How the id of every run of a world ends: a UUID has no room for more, but a world reads its lane
/// back.
const RUN_TAIL: &str = "-8aaa-8aaa-aaaaaaaaaaaa";

/// Returns the lane that a text is about: every run, prompt, reply and result of a world names its
/// lane, by its name or by a run.
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
