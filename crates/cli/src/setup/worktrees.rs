//! Git worktrees of isolated sub-agents: where they are, and what an earlier process left of them.

use std::path::Path;
use std::sync::Arc;

use windlass::ports::{Clock, Store};
use windlass::tools::{GitWorktrees, LeftoverWorktree, ToolContext};

use crate::config::claude::agent_spec::{AgentIsolation, AgentSpec};
use crate::config::paths;
use crate::config::trust::folder_trust::{FolderTrust, TrustState};
use crate::messages;

/// A worktree whose conversation is in no store of ours is finished after this time.
const UNKNOWN_LANE_SECONDS: u64 = 7 * 24 * 60 * 60;

/// Returns the worktrees of a workspace, if an agent needs them, and the tool context that knows them.
pub(super) fn prepare(
    agents: &[AgentSpec],
    folder: &FolderTrust,
    clock: &Arc<dyn Clock>,
    workplace: ToolContext,
) -> (Option<GitWorktrees>, ToolContext) {
    let worktrees = worktrees_for(agents, folder, clock);
    let workplace = match &worktrees {
        Some(worktrees) => workplace.with_worktrees(worktrees.places().folder()),
        None => workplace,
    };
    (worktrees, workplace)
}

/// Returns the worktrees of a workspace, if an agent needs them.
fn worktrees_for(
    agents: &[AgentSpec],
    folder: &FolderTrust,
    clock: &Arc<dyn Clock>,
) -> Option<GitWorktrees> {
    let is_isolated = |agent: &AgentSpec| agent.isolation == AgentIsolation::Worktree;
    if !agents.iter().any(is_isolated) {
        return None;
    }
    let workspace: &Path = &folder.folder;
    let worktrees =
        GitWorktrees::new(workspace, &paths::worktrees_folder(workspace)?, Arc::clone(clock));
    Some(match folder.trust {
        TrustState::Trusted => worktrees,
        TrustState::Untrusted => worktrees.refusing(messages::WORKTREES_NEED_TRUST),
    })
}

/// Finishes worktrees whose sub-agents have ended: a crash or the end of a process may have come first.
/// There are none nearly always; a process that only prints an answer would end before them.
pub(super) async fn finish_leftovers(worktrees: Option<GitWorktrees>, store: &dyn Store) {
    let Some(worktrees) = worktrees else { return };
    for leftover in worktrees.list() {
        if is_over(&leftover, store).await {
            // What cannot be finished stays, and is looked at again later.
            drop(worktrees.finish(&leftover.lane).await);
        }
    }
}

async fn is_over(leftover: &LeftoverWorktree, store: &dyn Store) -> bool {
    match store.lane_info(leftover.lane.clone()).await {
        Ok(Some(info)) if info.active_run.is_none() => {
            // A task that nobody has begun is a message.
            store.read_inbox(leftover.lane.clone(), 1).await.is_ok_and(|inbox| inbox.is_empty())
        }
        Ok(Some(_)) | Err(_) => false,
        Ok(None) => leftover.age_seconds > UNKNOWN_LANE_SECONDS,
    }
}
