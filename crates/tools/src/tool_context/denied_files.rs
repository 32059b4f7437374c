//! The files that rules deny to read, as the sandbox hides them: those that exist when a command
//! starts.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use windlass_core::permission::{
    CallSubject, PathAccess, PathUse, PathZone, PermissionRule, Permissions, RuleFolders,
};

/// Maximum number of entries that are compared with the rules.
const MAX_ENTRIES: usize = 100_000;

/// Maximum number of files and folders that are hidden.
const MAX_DENIED: usize = 1_000;

/// Returns the files and folders beneath `roots` that a rule denies to read, without what is beneath
/// another one of them. Links are no way in: what they lead to is hidden by its own path.
///
/// # Errors
///
/// Fails if there are too many of them: then a command could read what was not looked at.
pub(super) fn find_denied_files(
    rules: &Permissions,
    roots: &[PathBuf],
) -> io::Result<Vec<PathBuf>> {
    let is_scoped = |rule: &&PermissionRule| !rule.is_unscoped() && rule.covers_tool("Read");
    let scoped: Vec<_> = rules.disallowed.iter().chain(&rules.deny).filter(is_scoped).collect();
    if scoped.is_empty() {
        return Ok(Vec::new());
    }
    let folders = RuleFolders { root: &rules.root, home: &rules.home };
    let is_denied = |path: &Path| {
        let path = Arc::from(path.to_string_lossy());
        let used = PathUse { path, access: PathAccess::Read, zone: PathZone::Workspace };
        let subject = CallSubject::Paths(vec![used]);
        scoped.iter().any(|rule| rule.may_concern("Read", &subject, folders))
    };
    let (mut denied, mut pending, mut seen) = (Vec::new(), roots.to_vec(), 0);
    while let Some(folder) = pending.pop() {
        for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
            let path = entry.path();
            let kind = entry.file_type()?;
            seen += 1;
            match () {
                () if kind.is_symlink() => {}
                () if is_denied(&path) => denied.push(path),
                () if kind.is_dir() => pending.push(path),
                () => {}
            }
            if seen > MAX_ENTRIES || denied.len() > MAX_DENIED {
                return Err(io::Error::other(
                    "the workspace has too many files to hide those that a rule denies to read; \
                     deny a whole folder, or use sandbox.deny_read",
                ));
            }
        }
    }
    Ok(denied)
}
