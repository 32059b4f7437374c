//! Where the git worktrees of sub-agents are. A sub-agent that works in one has it as the root of its
//! rules, which is recorded; its path follows from the sub-agent's lane.

use std::path::{Path, PathBuf};

use windlass_core::log::ids::LaneId;
use windlass_core::run::child_runs::sub_agent_id;

/// The folder of the worktrees of one workspace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WorktreePlaces {
    folder: PathBuf,
    inner: PathBuf,
}

impl WorktreePlaces {
    /// Returns the places in `folder`. `inner` is the path of the workspace in its repository, empty if
    /// the workspace is all of it.
    #[must_use]
    pub fn new(folder: impl Into<PathBuf>, inner: impl Into<PathBuf>) -> Self {
        Self { folder: folder.into(), inner: inner.into() }
    }

    /// Returns the folder that all worktrees are in.
    #[must_use]
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Returns the worktree of the sub-agent on a lane.
    #[must_use]
    pub fn checkout_of(&self, lane: &LaneId) -> PathBuf {
        self.folder.join(sub_agent_id(lane))
    }

    /// Returns the folder in the worktree that takes the place of the workspace.
    #[must_use]
    pub fn workspace_of(&self, lane: &LaneId) -> PathBuf {
        // Joining an empty path would add a slash.
        self.checkout_of(lane).components().chain(self.inner.components()).collect()
    }
}
