//! What a run waits for that no process works on: a worker, one with its workspace, or a person.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use crate::words::shell_word;
use windlass::core::ids::LaneId;
use windlass::core::stop::RunState;
use windlass::ports::{LaneInfo, RunInfo, ServedWorkspace, Store, StoreError, Whose, WorkerInfo};
use windlass_runtime::identity::is_gone;

/// A worker that was silent for longer counts as dead.
const ALIVE_MS: u64 = 15_000;

/// The workers that are there.
pub(crate) struct Workers {
    all: Vec<WorkerInfo>,
}

impl Workers {
    /// Asks the store.
    pub(crate) async fn read(store: &dyn Store) -> Result<Self, StoreError> {
        Ok(Self { all: store.workers().await? })
    }

    fn alive(&self) -> impl Iterator<Item = &WorkerInfo> {
        let is_alive =
            |worker: &&WorkerInfo| worker.silent_ms < ALIVE_MS && !is_gone(&worker.worker);
        self.all.iter().filter(is_alive)
    }

    /// How many there are.
    pub(crate) fn count(&self) -> usize {
        self.alive().count()
    }

    fn serve(&self, affinity: &str) -> bool {
        affinity.is_empty()
            || self.alive().any(|worker| worker.workspaces.iter().any(|it| *it.id == *affinity))
    }

    /// Whether a process with this name is known to be gone or silent.
    fn is_dead(&self, owner: &str) -> bool {
        let known = self.all.iter().find(|worker| *worker.worker == *owner);
        is_gone(owner) || known.is_some_and(|worker| worker.silent_ms >= ALIVE_MS)
    }

    /// Workspaces that living workers have in different places under one id.
    pub(crate) fn ambiguous(&self) -> Vec<(Arc<str>, Vec<String>)> {
        let mut places: BTreeMap<Arc<str>, Vec<String>> = BTreeMap::new();
        for ServedWorkspace { id, host, path } in self.alive().flat_map(|it| &it.workspaces) {
            let known = places.entry(id.clone()).or_default();
            let place = format!("{host}:{path}");
            // The same path on two machines is what a shared volume looks like.
            let same = known.iter().any(|other| other.ends_with(&format!(":{path}")));
            if !same {
                known.push(place);
            }
        }
        places.into_iter().filter(|(_, places)| places.len() > 1).collect()
    }

    /// What the run waits for, if no process works on it and none is about to.
    pub(crate) fn needed_by(&self, run: &RunInfo, lane: Option<&LaneInfo>) -> Option<Need> {
        let has_begun = match run.state {
            RunState::Queued => false,
            RunState::Running | RunState::WaitingOnProvider => true,
            RunState::TimedOut if run.cause.is_none() => true,
            RunState::TimedOut
            | RunState::WaitingOnHuman
            | RunState::Completed
            | RunState::Failed
            | RunState::Cancelled => return None,
        };
        let lane = lane?;
        if lane.owner.as_deref().is_some_and(|owner| !self.is_dead(owner)) {
            return None;
        }
        // Its profile leaves interrupted runs to people.
        if run.state == RunState::TimedOut && lane.wake_at.is_none() {
            return Some(Need::Resume(run.lane.clone()));
        }
        let has_workers = self.count() > 0;
        match (has_begun, self.serve(&lane.whose.affinity)) {
            (_, true) if has_workers => None,
            (_, false) if has_workers || !is_here(lane) => {
                Some(Need::Workspace(lane.whose.clone()))
            }
            (true, _) => Some(Need::Resume(run.lane.clone())),
            (false, _) => Some(Need::Worker(run.lane.clone(), lane.whose.clone())),
        }
    }
}

/// Whether this machine has the folder that the tools of a conversation need.
fn is_here(lane: &LaneInfo) -> bool {
    let Whose { affinity, folder, .. } = &lane.whose;
    affinity.is_empty() || Path::new(&**folder).is_dir()
}

/// The one thing that makes a run go on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Need {
    /// A person who resumes it: its process is gone.
    Resume(LaneId),
    /// A worker, and none is running at all.
    Worker(LaneId, Whose),
    /// A worker with its workspace.
    Workspace(Whose),
}

impl std::fmt::Display for Need {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Resume(lane) => write!(
                f,
                "interrupted, its process is gone; continue it with `windlass resume {}`",
                shell_word(lane)
            ),
            Self::Worker(lane, Whose { folder, affinity, .. }) => {
                let workspace = match affinity.is_empty() {
                    true => String::new(),
                    false => format!(" --workspace {}", shell_word(folder)),
                };
                write!(
                    f,
                    "waiting for a worker, and none is running; start one with `windlass \
                     worker{workspace}`, or run it here with `windlass resume {}`",
                    shell_word(lane)
                )
            }
            Self::Workspace(Whose { folder, affinity, .. }) => write!(
                f,
                "waiting for a worker with the workspace {folder} (id {affinity}), and none is \
                 running; start one where that folder is: `windlass worker --workspace DIR`"
            ),
        }
    }
}
