//! What a run waits for that no process works on: a worker, one with its workspace, or a person.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::words::shell_word;
use windlass::core::ids::LaneId;
use windlass::core::stop::RunState;
use windlass::ports::{LaneInfo, RunInfo, ServedWorkspace, Store, StoreError, WorkerInfo};
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

    /// What the run waits for, if it waits for somebody to work on it.
    pub(crate) fn needed_by(&self, run: &RunInfo, lane: Option<&LaneInfo>) -> Option<String> {
        let is_left = match run.state {
            RunState::Queued | RunState::Running | RunState::WaitingOnProvider => true,
            RunState::TimedOut => run.cause.is_none(),
            RunState::WaitingOnHuman
            | RunState::Completed
            | RunState::Failed
            | RunState::Cancelled => false,
        };
        let lane = lane.filter(|_| is_left)?;
        if lane.owner.as_deref().is_some_and(|owner| !self.is_dead(owner)) {
            return None;
        }
        if run.state == RunState::TimedOut && lane.wake_at.is_none() {
            return Some(for_a_person(&run.lane));
        }
        if !self.serve(&lane.whose.affinity) {
            return Some(for_workspace(lane));
        }
        (self.count() == 0).then(|| for_a_worker(&run.lane))
    }
}

fn for_a_person(lane: &LaneId) -> String {
    let word = shell_word(lane);
    format!("waiting for a person: its process died; continue it with `windlass resume {word}`")
}

fn for_a_worker(lane: &LaneId) -> String {
    let word = shell_word(lane);
    format!(
        "waiting for a worker, and none is running; start one with `windlass worker`, or continue \
         it here with `windlass resume {word}`"
    )
}

fn for_workspace(lane: &LaneInfo) -> String {
    let (folder, id) = (&lane.whose.folder, &lane.whose.affinity);
    format!(
        "waiting for a worker with the workspace {folder} (id {id}), and none is running; start one \
         where that folder is: `windlass worker --workspace DIR`"
    )
}
