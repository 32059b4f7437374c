//! Drives a lane for its process, as a worker would: claims it when it has commands, when its timer
//! is due, or when it was abandoned.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use windlass_core::stop::RunState;
use windlass_runtime::Session;
use windlass_runtime::ports::{LaneInfo, Store, StoreError};

use super::owner;
use crate::world::clock::sleep_virtual;
use crate::world::event::ReaderPace;
use crate::world::observation_log::ProcessId;
use crate::world::shared::SharedWorld;
use crate::world::store::ProcessStore;

/// Time between two polls.
const POLL_MS: u64 = 230;

/// Polls of an unchanged lane of our own before it counts as abandoned.
const PATIENCE: u64 = 6;

/// Number of runs that are polled.
const RUNS: usize = 64;

pub(super) struct LaneDriver {
    session: Session,
    store: Arc<ProcessStore>,
    shared: Arc<SharedWorld>,
    process: ProcessId,
    head: AtomicU64,
    looks: AtomicU64,
}

impl LaneDriver {
    pub(super) fn new(
        session: Session,
        store: &Arc<ProcessStore>,
        shared: &Arc<SharedWorld>,
        process: ProcessId,
    ) -> Self {
        let (store, shared) = (Arc::clone(store), Arc::clone(shared));
        Self { session, store, shared, process, head: AtomicU64::new(0), looks: AtomicU64::new(0) }
    }

    pub(super) async fn watch(self) {
        loop {
            sleep_virtual(POLL_MS).await;
            if self.is_needed().await.unwrap_or(false) {
                self.drive_lane().await;
            }
        }
    }

    /// Whether this process owns the lane and something has happened on it lately.
    fn drives(&self, info: &LaneInfo) -> bool {
        let mine = self.shared.observations.holder(&info.lane) == Some(self.process);
        let before = self.head.swap(info.head, Ordering::SeqCst);
        let looks = if before == info.head { self.looks.fetch_add(1, Ordering::SeqCst) } else { 0 };
        if before != info.head {
            self.looks.store(0, Ordering::SeqCst);
        }
        mine && info.owner.is_some() && looks < PATIENCE
    }

    async fn is_needed(&self) -> Result<bool, StoreError> {
        let lane = self.session.lane();
        let Some(info) = self.store.lane_info(lane.clone()).await? else { return Ok(false) };
        if self.drives(&info) {
            return Ok(false);
        }
        if !self.store.read_inbox(lane.clone(), 1).await?.is_empty() || info.wake_at.is_some() {
            return Ok(true);
        }
        let runs = self.store.list_runs(Some(lane.clone()), RUNS).await?;
        Ok(runs.iter().any(|run| run.state == RunState::Running))
    }

    async fn drive_lane(&self) {
        if let Ok(stream) = self.session.resume().await {
            owner::hold(&self.shared, self.session.lane(), stream, ReaderPace::Eager).await;
        }
    }
}
