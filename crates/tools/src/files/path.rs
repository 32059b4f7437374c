//! Which file a call means.

use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use super::resolve::{Real, real};
use super::zones::Zones;

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

/// What a call about `path` touches, if it begins in the workspace.
pub(crate) fn keys_of(zones: &Zones, path: &str) -> Vec<Arc<str>> {
    keys(&absolute(zones.root(), Path::new(path)))
}

/// What a call about this path touches: the path as written and, behind links, the file itself.
/// With both, calls that name one file in two ways are known to meet.
pub(super) fn keys(path: &Path) -> Vec<Arc<str>> {
    let written = key(path);
    match real(path) {
        Real::At(real) if real != path => vec![written, key(&real)],
        Real::At(_) | Real::Nowhere => vec![written],
    }
}

fn key(path: &Path) -> Arc<str> {
    Arc::from(path.to_string_lossy())
}

/// Whether the path lies where files are not files.
pub(super) fn is_kernels(path: &Path) -> bool {
    ["/proc", "/sys", "/dev"].iter().any(|place| path.starts_with(place))
}
