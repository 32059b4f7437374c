//! Which workers are alive, and what a run waits for that no process drives: a worker, one with its
//! workspace, or a human.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use super::open_questions::OpenQuestion;
use crate::messages::shell_word;
use windlass::core::log::ids::LaneId;
use windlass::core::stop::RunState;
use windlass::ports::{
    Affinity, LaneInfo, RunInfo, ServedWorkspace, Store, StoreError, WorkerInfo,
};
use windlass_runtime::worker_identity::has_process_ended;

/// A worker that was silent for longer counts as dead.
const SILENCE_TIMEOUT_MS: u64 = 15_000;

/// The registered workers.
pub(crate) struct WorkerList {
    workers: Vec<WorkerInfo>,
}

impl WorkerList {
    /// Reads the workers from the store.
    pub(crate) async fn read(store: &dyn Store) -> Result<Self, StoreError> {
        Ok(Self { workers: store.list_workers().await? })
    }

    fn live_workers(&self) -> impl Iterator<Item = &WorkerInfo> {
        self.workers.iter().filter(|worker| is_alive(worker))
    }

    /// The number of live workers.
    pub(crate) fn live_count(&self) -> usize {
        self.live_workers().count()
    }

    fn serves_workspace(&self, affinity: &str) -> bool {
        affinity.is_empty()
            || self
                .live_workers()
                .any(|worker| worker.workspaces.iter().any(|it| *it.id == *affinity))
    }

    /// Returns whether a process with this name is known to be gone or silent.
    fn is_dead(&self, owner: &str) -> bool {
        let known = self.workers.iter().find(|worker| *worker.worker == *owner);
        has_process_ended(owner)
            || known.is_some_and(|worker| worker.silent_ms >= SILENCE_TIMEOUT_MS)
    }

    /// Workspace ids that live workers have at different paths.
    pub(crate) fn ambiguous_workspaces(&self) -> Vec<(Arc<str>, Vec<String>)> {
        let mut places: BTreeMap<Arc<str>, Vec<String>> = BTreeMap::new();
        for ServedWorkspace { id, host, path } in self.live_workers().flat_map(|it| &it.workspaces)
        {
            let known = places.entry(id.clone()).or_default();
            let location = format!("{host}:{path}");
            // The same path on two machines is probably a shared volume.
            let same = known.iter().any(|other| other.ends_with(&format!(":{path}")));
            if !same {
                known.push(location);
            }
        }
        places.into_iter().filter(|(_, places)| places.len() > 1).collect()
    }

    /// What the run waits for, if no process drives it and none is about to.
    pub(crate) fn waiting_reason(&self, run: &RunInfo, lane: Option<&LaneInfo>) -> Option<Need> {
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
        // The profile leaves interrupted runs to people.
        if run.state == RunState::TimedOut && lane.wake_at.is_none() {
            return Some(Need::Resume(run.lane.clone()));
        }
        let has_workers = self.live_count() > 0;
        match (has_begun, self.serves_workspace(&lane.affinity.workspace)) {
            (_, true) if has_workers => None,
            (_, false) if has_workers || !is_here(lane) => {
                Some(Need::Workspace(lane.affinity.clone()))
            }
            (true, _) => Some(Need::Resume(run.lane.clone())),
            (false, _) => Some(Need::Worker(run.lane.clone(), lane.affinity.clone())),
        }
    }
}

/// Returns whether a worker sends heartbeats, as far as can be seen from here.
pub(crate) fn is_alive(worker: &WorkerInfo) -> bool {
    worker.silent_ms < SILENCE_TIMEOUT_MS && !has_process_ended(&worker.worker)
}

/// Returns whether this machine has the folder that the tools of a conversation need.
fn is_here(lane: &LaneInfo) -> bool {
    let Affinity { workspace, folder, .. } = &lane.affinity;
    workspace.is_empty() || Path::new(&**folder).is_dir()
}

/// What is needed before a run continues.
#[derive(Debug, Clone)]
pub(crate) enum Need {
    /// A person who resumes the run: its process is gone.
    Resume(LaneId),
    /// Any worker: none is running at all.
    Worker(LaneId, Affinity),
    /// A worker that has the workspace of the run.
    Workspace(Affinity),
    /// Answers to the sub-agents for whose results the run waits.
    Answer(Vec<OpenQuestion>),
    /// Answers to the run that is active in the conversation.
    AnswerToEarlierRun(Vec<OpenQuestion>),
    /// The end of the run that is active in the conversation, which no process drives.
    EarlierRun(LaneId),
}

impl std::fmt::Display for Need {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Resume(lane) => write!(
                f,
                "interrupted, its process is gone; continue it with `windlass resume {}`",
                shell_word(lane)
            ),
            Self::Worker(lane, Affinity { folder, workspace, .. }) => {
                let workspace = match workspace.is_empty() {
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
            Self::Workspace(Affinity { folder, workspace, .. }) => match host_of(workspace, folder)
            {
                Some(host) => write!(
                    f,
                    "waiting for a worker on the host {host} with the workspace {folder}, and none \
                     is running; start one there: `windlass worker --workspace {}`; workers on any \
                     host serve a folder that was trusted with `windlass trust` before the prompt",
                    shell_word(folder)
                ),
                None => write!(
                    f,
                    "waiting for a worker with the workspace {folder} (id {workspace}), and none is \
                 running; start one where that folder is: `windlass worker --workspace DIR`"
                ),
            },
            Self::Answer(questions) => {
                write!(f, "waiting for a sub-agent, which needs an answer; {}", Answers(questions))
            }
            Self::AnswerToEarlierRun(questions) => {
                write!(f, "queued behind a run that needs an answer; {}", Answers(questions))
            }
            Self::EarlierRun(lane) => write!(
                f,
                "queued behind a run that has not ended and that no process is driving; see \
                 `windlass explain {}`",
                shell_word(lane)
            ),
        }
    }
}

/// The host that the id of a workspace names; the id of a trusted folder names none.
fn host_of<'a>(workspace: &'a str, folder: &str) -> Option<&'a str> {
    workspace.strip_suffix(folder)?.strip_suffix(':').filter(|host| !host.is_empty())
}

/// How the first of some questions is answered, and how many more there are.
struct Answers<'a>(&'a [OpenQuestion]);

impl std::fmt::Display for Answers<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Some(first) = self.0.first() else { return Ok(()) };
        write!(f, "answer question {} with {}", first.question.id, first.how_to_answer())?;
        match self.0.len().saturating_sub(1) {
            0 => Ok(()),
            more => write!(f, " ({more} more)"),
        }
    }
}
