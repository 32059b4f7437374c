//! Sockets in the file system that processes outside listen on. A read-only mount does not keep a
//! program from connecting to one, so they are hidden like files that must not be read.

use std::fs;
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};

use crate::{NetworkAccess, Policy};

/// Maximum sockets that are hidden.
const MAX_SOCKETS: usize = 500;

/// Returns the sockets that a process with this policy must not reach: those that exist now, in the
/// network namespace of this process, and that the policy does not name.
pub(super) fn unreachable_sockets(policy: &Policy) -> Vec<PathBuf> {
    if policy.network == NetworkAccess::Full {
        return Vec::new();
    }
    let table = fs::read_to_string("/proc/self/net/unix").unwrap_or_default();
    let is_allowed = |path: &Path| policy.read.iter().any(|allowed| allowed == path);
    let is_socket = |path: &PathBuf| {
        fs::symlink_metadata(path).is_ok_and(|found| found.file_type().is_socket())
    };
    let mut sockets: Vec<PathBuf> = table
        .lines()
        .filter_map(socket_path)
        .filter_map(|path| path.canonicalize().ok())
        .filter(|path| is_socket(path) && !is_allowed(path))
        .collect();
    sockets.sort();
    sockets.dedup();
    sockets.truncate(MAX_SOCKETS);
    sockets
}

/// Returns the path at the end of a line; abstract sockets begin with `@` and have none.
fn socket_path(line: &str) -> Option<&Path> {
    let at = line.find(" /")?;
    line.get(at.saturating_add(1)..).map(Path::new)
}
