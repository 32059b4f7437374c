//! What the model is told of the machine: date, platform, folder and the state of git. The branch and
//! the commit are read from files: running `git` would run what a repository's own configuration
//! names.

use std::path::{Path, PathBuf};

/// Maximum bytes of a file of git that is read.
const MAX_FILE_BYTES: u64 = 4 << 20;

/// Describes the machine and the folder.
pub(crate) fn describe_environment(date: &str, workspace: &Path) -> String {
    let shell = std::env::var("SHELL").ok().filter(|shell| !shell.trim().is_empty());
    let shell = shell.map(|shell| format!("\nShell: {shell}")).unwrap_or_default();
    let system = rustix::system::uname();
    let (name, release) = (system.sysname().to_string_lossy(), system.release().to_string_lossy());
    let git = match read_git_state(workspace) {
        None => "not a repository".to_owned(),
        Some(GitState { branch: Some(branch), commit: Some(commit) }) => {
            format!("branch {branch} at commit {commit}")
        }
        Some(GitState { branch: Some(branch), commit: None }) => {
            format!("branch {branch}, without a commit")
        }
        Some(GitState { branch: None, commit }) => {
            format!("no branch, at commit {}", commit.unwrap_or_default())
        }
    };
    format!(
        "The environment at the start of this session:\nDate: {date}\nPlatform: {name} {release} ({}){shell}\nFolder: {}\nGit: {git}",
        std::env::consts::ARCH,
        workspace.display(),
    )
}

/// What is checked out in a folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct GitState {
    /// The branch; `None` without one.
    pub(crate) branch: Option<String>,
    /// The beginning of the commit; `None` before the first one.
    pub(crate) commit: Option<String>,
}

/// Reads what is checked out, from the files of git; `None` outside of a repository.
pub(crate) fn read_git_state(folder: &Path) -> Option<GitState> {
    let found = folder.ancestors().map(|folder| folder.join(".git")).find(|git| git.exists())?;
    let git = match found.is_dir() {
        true => found,
        // A worktree: the file names the real folder.
        false => {
            let text = read_text(&found)?;
            let named = PathBuf::from(text.strip_prefix("gitdir:")?.trim());
            found.parent()?.join(named)
        }
    };
    let head = read_text(&git.join("HEAD"))?;
    let head = head.trim();
    let Some(name) = head.strip_prefix("ref: ") else {
        return Some(GitState { branch: None, commit: short_commit(head) });
    };
    let branch = name.strip_prefix("refs/heads/").unwrap_or(name).to_owned();
    Some(GitState { branch: Some(branch), commit: read_commit(&git, name) })
}

/// The commit of a reference, in its own file or in the one of all.
fn read_commit(git: &Path, name: &str) -> Option<String> {
    // The references of a worktree are in the folder that its repository shares.
    let shared = read_text(&git.join("commondir")).map(|text| git.join(text.trim()));
    let folders = [Some(git.to_owned()), shared];
    folders.into_iter().flatten().find_map(|folder| {
        let own = read_text(&folder.join(name)).and_then(|text| short_commit(text.trim()));
        own.or_else(|| {
            let packed = read_text(&folder.join("packed-refs"))?;
            let line = packed.lines().find(|line| line.split(' ').nth(1) == Some(name))?;
            short_commit(line)
        })
    })
}

fn short_commit(text: &str) -> Option<String> {
    let id = text.get(..10)?;
    id.chars().all(|c| c.is_ascii_hexdigit()).then(|| id.to_owned())
}

fn read_text(file: &Path) -> Option<String> {
    let is_small = std::fs::metadata(file).ok()?.len() <= MAX_FILE_BYTES;
    is_small.then(|| std::fs::read_to_string(file).ok()).flatten()
}

#[cfg(test)]
#[path = "environment_tests.rs"]
mod environment_tests;
