//! Git worktrees of sub-agents: one for each sub-agent that is isolated, on a branch of its own.
//!
//! A worktree begins as a copy of the last commit. When the sub-agent ends, what it changed is
//! committed to its branch and the worktree is removed; without changes the branch is removed, too. So
//! nothing is lost, and only branches stay. What a crash leaves is finished later the same way.
//!
//! Not here: where a worktree is (the runtime) and that tools work in it (the tool context).

mod git;
mod worktree_hooks;

use std::fs;
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tokio::sync::Mutex;
use windlass_core::log::ids::LaneId;
use windlass_core::run::child_runs::worktree_branch;
use windlass_runtime::WorktreePlaces;
use windlass_runtime::ports::Clock;

use git::Git;
pub use worktree_hooks::WorktreeHooks;

/// Maximum number of notes about worktrees that are read when leftovers are looked for.
const MAX_LEFTOVERS: usize = 1_000;

/// Maximum bytes of such a note.
const MAX_NOTE_BYTES: u64 = 4_096;

/// The git worktrees of the sub-agents in one workspace. Clones are the same.
#[derive(Clone)]
pub struct GitWorktrees {
    git: Git,
    workspace: PathBuf,
    places: WorktreePlaces,
    /// Why none may be made.
    refusal: Option<Arc<str>>,
    /// Git's own locks do not wait.
    turn: Arc<Mutex<()>>,
}

/// A worktree that exists, as its note describes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LeftoverWorktree {
    /// The sub-agent that works or worked in it.
    pub lane: LaneId,
    /// Seconds since the note was written.
    pub age_seconds: u64,
    base: String,
}

impl GitWorktrees {
    /// Returns the worktrees of a workspace, kept in `folder`.
    #[must_use]
    pub fn new(workspace: &Path, folder: &Path, clock: Arc<dyn Clock>) -> Self {
        let top = workspace.ancestors().find(|folder| folder.join(".git").exists());
        let inner = top.and_then(|top| workspace.strip_prefix(top).ok()).unwrap_or(Path::new(""));
        Self {
            git: Git::new(clock),
            workspace: workspace.to_owned(),
            places: WorktreePlaces::new(folder, inner),
            refusal: None,
            turn: Arc::default(),
        }
    }

    /// Makes none, for this reason: the sub-agents do not start.
    #[must_use]
    pub fn refusing(mut self, reason: &str) -> Self {
        self.refusal = Some(Arc::from(reason));
        self
    }

    /// Returns where the worktrees are.
    #[must_use]
    pub fn places(&self) -> &WorktreePlaces {
        &self.places
    }

    /// Makes the worktree of a sub-agent, or finds the one that an interrupted start has made.
    ///
    /// # Errors
    ///
    /// Returns a sentence for the model if it cannot be made.
    pub async fn create(&self, lane: &LaneId) -> Result<(), String> {
        if let Some(reason) = &self.refusal {
            return Err(reason.to_string());
        }
        let _turn = self.turn.lock().await;
        let head = ["rev-parse", "--verify", "--quiet", "HEAD^{commit}"];
        let base = self.git.run(&self.workspace, &head).await.map_err(|_| {
            format!("a git worktree needs a git repository with a commit, and {} is none; commit something first, or remove isolation from the agent", self.workspace.display())
        })?;
        let (checkout, branch) = (self.places.checkout_of(lane), worktree_branch(lane));
        if self.is_on_branch(&checkout, &branch).await {
            return Ok(());
        }
        let failed = |error: io::Error| format!("the worktree cannot be made: {error}");
        let mut folder = fs::DirBuilder::new();
        folder.recursive(true).mode(0o700).create(self.places.folder()).map_err(failed)?;
        // An interrupted start may have left a part; nothing has worked in it yet.
        remove_folder(&checkout).map_err(failed)?;
        drop(self.git.run(&self.workspace, &["worktree", "prune"]).await);
        drop(self.git.run(&self.workspace, &["branch", "--quiet", "-D", &branch]).await);
        fs::write(self.note_of(lane), format!("{lane}\n{base}\n")).map_err(failed)?;
        let path = checkout.to_string_lossy();
        let add = ["worktree", "add", "--quiet", "-b", &branch, &*path, &base];
        self.git
            .run(&self.workspace, &add)
            .await
            .map_err(|error| format!("the worktree cannot be made: {error}"))?;
        // A workspace without tracked files is not in the copy.
        fs::create_dir_all(self.places.workspace_of(lane)).map_err(failed)
    }

    /// Commits what a sub-agent has changed to its branch.
    ///
    /// # Errors
    ///
    /// Returns what git says if it cannot be committed; the worktree stays as it is.
    pub async fn commit(&self, lane: &LaneId) -> Result<(), String> {
        let _turn = self.turn.lock().await;
        self.commit_changes(lane).await
    }

    async fn commit_changes(&self, lane: &LaneId) -> Result<(), String> {
        let checkout = self.places.checkout_of(lane);
        if !self.is_on_branch(&checkout, &worktree_branch(lane)).await {
            return Err(format!("{} is not on its branch any more", checkout.display()));
        }
        self.git.run(&checkout, &["add", "--all"]).await?;
        let status = self.git.run(&checkout, &["status", "--porcelain"]).await?;
        if !status.is_empty() {
            let text = "Changes of a sub-agent";
            self.git.run(&checkout, &["commit", "--quiet", "--no-verify", "-m", text]).await?;
        }
        Ok(())
    }

    /// Ends the worktree of a sub-agent that has ended: commits its changes, and removes the folder;
    /// without changes, the branch as well. Does nothing if there is no worktree.
    ///
    /// # Errors
    ///
    /// Returns what git says if the changes cannot be committed; then the worktree stays.
    pub async fn finish(&self, lane: &LaneId) -> Result<(), String> {
        let _turn = self.turn.lock().await;
        let (checkout, branch) = (self.places.checkout_of(lane), worktree_branch(lane));
        let note = self.note_of(lane);
        if !checkout.exists() {
            drop(fs::remove_file(note));
            return Ok(());
        }
        self.commit_changes(lane).await?;
        let tip = self.git.run(&checkout, &["rev-parse", "HEAD"]).await?;
        let path = checkout.to_string_lossy();
        self.git.run(&self.workspace, &["worktree", "remove", "--force", &*path]).await?;
        if read_note(&note).is_some_and(|note| note.base == tip) {
            self.git.run(&self.workspace, &["branch", "--quiet", "-D", &branch]).await?;
        }
        drop(fs::remove_file(note));
        Ok(())
    }

    /// Returns the worktrees that exist, those of sub-agents at work included.
    #[must_use]
    pub fn list(&self) -> Vec<LeftoverWorktree> {
        let entries = fs::read_dir(self.places.folder()).into_iter().flatten().flatten();
        let notes = entries.map(|entry| entry.path());
        let notes = notes.filter(|path| path.extension().is_some_and(|end| end == "note"));
        notes.take(MAX_LEFTOVERS).filter_map(|path| read_note(&path)).collect()
    }

    fn note_of(&self, lane: &LaneId) -> PathBuf {
        self.places.checkout_of(lane).with_extension("note")
    }

    /// Whether a folder is a worktree on this branch.
    async fn is_on_branch(&self, checkout: &Path, branch: &str) -> bool {
        if !checkout.join(".git").is_file() {
            return false;
        }
        let found = self.git.run(checkout, &["symbolic-ref", "--quiet", "--short", "HEAD"]).await;
        found.is_ok_and(|found| found == branch)
    }
}

fn remove_folder(folder: &Path) -> io::Result<()> {
    match fs::remove_dir_all(folder) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

fn read_note(path: &Path) -> Option<LeftoverWorktree> {
    let found = fs::symlink_metadata(path).ok()?;
    if !found.is_file() || found.len() > MAX_NOTE_BYTES {
        return None;
    }
    let text = fs::read_to_string(path).ok()?;
    let mut lines = text.lines();
    let (lane, base) = (LaneId::from(lines.next()?), lines.next()?.to_owned());
    let age = found.modified().ok()?.elapsed().unwrap_or_default();
    Some(LeftoverWorktree { lane, age_seconds: age.as_secs(), base })
}
