//! How workers find work: the affinity of lanes, runnable lanes, and lanes abandoned by dead
//! owners.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use windlass_core::log::ids::{LaneId, RunId, UnixMillis};
use windlass_core::settings::conversation_settings::ResumePolicy;

use super::store::WorkerId;

/// The heartbeat count of a worker, as another worker observed it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ObservedHeartbeat {
    /// The worker that sent the heartbeats.
    pub worker: WorkerId,
    /// The number of heartbeats it had sent.
    pub heartbeats: u64,
}

/// The affinity of a lane: the tenant it belongs to, and the workers that may drive it. An empty
/// field means "any".
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct Affinity {
    /// The tenant, for fair scheduling among the tenants of a worker.
    pub tenant: Arc<str>,
    /// The registered agent (tools and prompt) that drives the lane.
    pub agent: Arc<str>,
    /// The id of the workspace that its tools need.
    pub workspace: Arc<str>,
    /// The folder in which the conversation was started, for display.
    pub folder: Arc<str>,
}

/// A workspace that a worker can work in.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ServedWorkspace {
    /// The id that conversations refer to.
    pub id: Arc<str>,
    /// The name of the machine.
    pub host: Arc<str>,
    /// The folder on that machine.
    pub path: Arc<str>,
}

/// A worker that announced its workspaces.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WorkerInfo {
    /// The id of the worker.
    pub worker: WorkerId,
    /// Milliseconds since its last heartbeat, by the store's clock.
    pub silent_ms: u64,
    /// The workspaces it serves, besides conversations that need none.
    pub workspaces: Vec<ServedWorkspace>,
}

/// One reconcile pass over the lanes of dead owners.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReconcileRequest {
    /// The dead owners, each with the heartbeat count at which it stopped.
    pub dead: Vec<ObservedHeartbeat>,
    /// What happens to runs that can be resumed.
    pub resume: ResumeOverride,
    /// The largest number of lanes that are reconciled.
    pub limit: usize,
}

/// What happens to a run that its dead owner abandoned and that can be resumed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum ResumeOverride {
    /// The resume policy in the settings of the run applies.
    #[default]
    AsRecorded,
    /// The next worker resumes the run.
    Immediately,
    /// The run waits until it is resumed explicitly.
    OnRequest,
}

impl ResumeOverride {
    /// Returns whether a run with the resume policy `own` waits to be resumed by a human.
    #[must_use]
    pub fn is_offered(self, own: ResumePolicy) -> bool {
        match self {
            Self::AsRecorded => own == ResumePolicy::Manual,
            Self::Immediately => false,
            Self::OnRequest => true,
        }
    }
}

/// A lane that a dead owner abandoned.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AbandonedLane {
    /// The abandoned lane.
    pub lane: LaneId,
    /// The run that was active and is `timed_out` now.
    pub timed_out: Option<RunId>,
    /// Whether its last checkpoint is one from which a run can continue.
    pub resume_available: bool,
}

/// A query for runnable lanes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClaimQuery {
    /// The time that counts as now.
    pub now: UnixMillis,
    /// The largest number of lanes that are claimed.
    pub limit: usize,
    /// The lanes that match, in addition to those without affinity.
    pub scope: WorkerScope,
    /// Lanes that are left to other workers.
    pub exclude: Vec<LaneId>,
}

/// What a process can drive.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct WorkerScope {
    /// The agents that are registered with the process.
    pub agents: Vec<Arc<str>>,
    /// The ids of the workspaces it can reach.
    pub workspaces: Vec<Arc<str>>,
}
