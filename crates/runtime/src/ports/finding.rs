//! How processes find work: whose a lane is, which lanes want to be driven, and what dead owners left.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use windlass_core::ids::{LaneId, Millis, RunId};
use windlass_core::settings::ResumePolicy;

use super::store::WorkerId;

/// A worker's beat as somebody saw it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SeenBeat {
    /// Whose.
    pub worker: WorkerId,
    /// How many it had sent.
    pub beats: u64,
}

/// Whose a lane is, and who may drive it. An empty name is anybody's.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct Whose {
    /// Who shares a fair part of the workers with the other tenants.
    pub tenant: Arc<str>,
    /// Which registered set of tools and prompt drives it.
    pub agent: Arc<str>,
    /// The id of the workspace that its tools need.
    pub affinity: Arc<str>,
    /// The folder it was begun in, for people to read.
    pub folder: Arc<str>,
}

/// A workspace that a worker can work in.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ServedWorkspace {
    /// The id that conversations ask for.
    pub id: Arc<str>,
    /// The machine.
    pub host: Arc<str>,
    /// The folder on that machine.
    pub path: Arc<str>,
}

/// A worker that said what it serves.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WorkerInfo {
    /// Its name.
    pub worker: WorkerId,
    /// How long ago its last beat was, by the store's clock.
    pub silent_ms: u64,
    /// What it serves besides conversations that need no workspace.
    pub workspaces: Vec<ServedWorkspace>,
}

/// One pass over what dead owners left.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reconcile {
    /// The dead, each seen to stand still at this beat.
    pub dead: Vec<SeenBeat>,
    /// What becomes of runs that can be resumed.
    pub resume: Resume,
    /// How many lanes are settled at most.
    pub most: usize,
}

/// What becomes of a run that its owner left and that can be resumed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Resume {
    /// As the settings say that the run began with.
    #[default]
    AsRecorded,
    /// Whoever works takes it up at once.
    AtOnce,
    /// It waits for somebody to say so.
    Offered,
}

impl Resume {
    /// Whether a run with this policy of its own waits for a person.
    #[must_use]
    pub fn is_offered(self, own: ResumePolicy) -> bool {
        match self {
            Self::AsRecorded => own == ResumePolicy::Manual,
            Self::AtOnce => false,
            Self::Offered => true,
        }
    }
}

/// A lane that a dead owner left.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Left {
    /// Which.
    pub lane: LaneId,
    /// The run that was at work and is `timed_out` now.
    pub timed_out: Option<RunId>,
    /// Whether its last checkpoint is one that a run goes on from.
    pub resume_available: bool,
}

/// A look for lanes that want to be driven.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Look {
    /// Which moment counts as now.
    pub now: Millis,
    /// How many lanes are wanted at most.
    pub most: usize,
    /// Which lanes count, besides those that are anybody's.
    pub reach: Reach,
    /// Lanes that are left to others.
    pub except: Vec<LaneId>,
}

/// What a process can drive.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Reach {
    /// The agents that are registered with it.
    pub agents: Vec<Arc<str>>,
    /// The workspaces it can reach.
    pub affinities: Vec<Arc<str>>,
}
