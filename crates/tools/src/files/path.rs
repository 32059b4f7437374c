//! Which file a call means.

use std::fs;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

/// The path from the root, without `.` and `..`. A relative one begins in the workspace.
pub(super) fn absolute(workspace: &Path, path: &Path) -> PathBuf {
    let mut absolute = PathBuf::new();
    for part in workspace.join(path).components() {
        match part {
            Component::ParentDir => drop(absolute.pop()),
            Component::CurDir => {}
            Component::Prefix(_) | Component::RootDir | Component::Normal(_) => {
                absolute.push(part);
            }
        }
    }
    absolute
}

/// What a call about this path touches: the path as written and, behind links, the file itself.
/// With both, calls that name one file in two ways are known to meet.
pub(super) fn keys(path: &Path) -> Vec<Arc<str>> {
    let written = key(path);
    let real = fs::canonicalize(path).map(|real| key(&real));
    match real {
        Ok(real) if real != written => vec![written, real],
        Ok(_) | Err(_) => vec![written],
    }
}

fn key(path: &Path) -> Arc<str> {
    Arc::from(path.to_string_lossy())
}

/// Whether the path lies where files are not files.
pub(super) fn is_kernels(path: &Path) -> bool {
    ["/proc", "/sys", "/dev"].iter().any(|place| path.starts_with(place))
}
