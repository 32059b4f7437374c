//! What the path zones mean for a sandbox: real paths that can be written, that are protected in
//! there, and that cannot be read.

use std::fs;
use std::path::{Path, PathBuf};

use super::git_config::git_folders;
use super::path_zones::PathZones;
use super::protected_paths::{PRIVATE_AT_HOME, PROTECTED_ANYWHERE, PROTECTED_AT_HOME};

/// Names at the top of a workspace that cannot be created either: programs read them when somebody
/// opens the folder. More of them would clutter every listing.
const PROTECTED_IF_ABSENT: [&str; 7] =
    [".claude", ".mcp.json", ".windlass", ".vscode", ".idea", ".cursor", ".envrc"];

/// Maximum number of modules and worktrees of a repository that are looked at.
const MAX_GIT_ENTRIES: usize = 200;

/// Paths for the policy of a sandbox.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SandboxPaths {
    /// Folders that can be written: the workspace, folders added to it, and the git folders of
    /// linked worktrees.
    pub write: Vec<PathBuf>,
    /// Paths that can be read and not written, in folders that can be written. Some of them do not
    /// exist and cannot be created.
    pub protect: Vec<PathBuf>,
    /// Paths that cannot be read: keys, and our own configuration and state.
    pub deny_read: Vec<PathBuf>,
}

impl PathZones {
    /// Returns the paths for the policy of a sandbox, as they are at this moment.
    #[must_use]
    pub fn sandbox_paths(&self) -> SandboxPaths {
        // A workspace that is the whole machine gives nothing to write: everything else would be.
        let roots: Vec<_> = self.roots().iter().filter(|root| root.parent().is_some()).collect();
        let write = roots.iter().copied().cloned().collect();
        let mut paths = SandboxPaths { write, ..SandboxPaths::default() };
        for root in roots {
            protect_names(root, &mut paths);
            protect_git(root, &mut paths);
        }
        if let Some(home) = self.home() {
            let names = PROTECTED_AT_HOME.iter().flat_map(|name| expand(home, name));
            paths.protect.extend(names);
            paths.deny_read.extend(PRIVATE_AT_HOME.iter().flat_map(|name| expand(home, name)));
        }
        paths.protect.extend(self.protected().kept_paths().iter().cloned());
        paths.deny_read.extend(self.protected().own_paths().iter().cloned());
        let is_inside = |path: &PathBuf| paths.write.iter().any(|root| path.starts_with(root));
        paths.protect.retain(is_inside);
        for list in [&mut paths.write, &mut paths.protect, &mut paths.deny_read] {
            list.sort();
            list.dedup();
        }
        paths
    }
}

fn protect_names(root: &Path, paths: &mut SandboxPaths) {
    let names = PROTECTED_ANYWHERE.iter().filter(|name| **name != [".git"]);
    let found = names.flat_map(|name| expand(root, name));
    let absent = PROTECTED_IF_ABSENT.iter().map(|name| root.join(name));
    paths.protect.extend(found.chain(absent));
}

/// Protects what decides what git runs; the rest of its folder is written by every commit.
fn protect_git(root: &Path, paths: &mut SandboxPaths) {
    let own = root.join(".git");
    if !own.is_dir() {
        // A file that names the folder, or nothing: neither may become a repository of its own.
        paths.protect.push(own.clone());
    }
    let folders = git_folders(root).into_iter().filter(|folder| folder.join("HEAD").is_file());
    for folder in folders.filter_map(|folder| folder.canonicalize().ok()) {
        if folder == *root {
            // A bare repository: all of it is protected by what it consists of.
            paths
                .protect
                .extend(["config", "hooks", "HEAD", "commondir"].map(|name| folder.join(name)));
            continue;
        }
        paths.write.push(folder.clone());
        protect_git_folder(&folder, paths);
        for within in ["modules", "worktrees"] {
            let entries = fs::read_dir(folder.join(within)).into_iter().flatten().flatten();
            for entry in entries.take(MAX_GIT_ENTRIES) {
                protect_git_folder(&entry.path(), paths);
            }
        }
    }
}

fn protect_git_folder(folder: &Path, paths: &mut SandboxPaths) {
    paths.protect.push(folder.join("hooks"));
    if folder.join("HEAD").is_file() {
        // It would name another folder with another configuration, also where there is none yet.
        paths.protect.push(folder.join("commondir"));
    }
    let files = ["config", "config.worktree", "commondir", "gitdir", "info/attributes", "windlass"];
    let existing = files.iter().map(|name| folder.join(name)).filter(|path| path.exists());
    paths.protect.extend(existing);
}

/// Returns the existing paths that a listed name stands for: a `*` begins or ends the last part.
fn expand(folder: &Path, name: &[&str]) -> Vec<PathBuf> {
    let Some((last, parents)) = name.split_last() else { return Vec::new() };
    let folder = parents.iter().fold(folder.to_owned(), |path, part| path.join(part));
    let fits = |found: &str| match (last.strip_suffix('*'), last.strip_prefix('*')) {
        (Some(start), _) => found.starts_with(start),
        (None, Some(end)) => found.ends_with(end),
        (None, None) => found == *last,
    };
    if !last.contains('*') {
        let path = folder.join(last);
        return path.symlink_metadata().is_ok().then_some(path).into_iter().collect();
    }
    let entries = fs::read_dir(&folder).into_iter().flatten().flatten();
    let entries = entries.filter(|entry| entry.file_name().to_str().is_some_and(fits));
    entries.map(|entry| entry.path()).collect()
}
