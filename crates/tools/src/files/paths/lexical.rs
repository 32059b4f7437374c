//! Lexical paths and resource keys.

use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use super::path_zones::PathZones;
use super::symlinks::{LinkResolution, resolve_links};

/// Returns the absolute path without `.` and `..`. A relative path begins in the workspace.
pub(crate) fn lexical_absolute(workspace: &Path, path: &Path) -> PathBuf {
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

/// Returns the resource keys of a call about `path`, relative to the workspace.
pub(crate) fn resource_keys(zones: &PathZones, path: &str) -> Vec<Arc<str>> {
    resource_keys_at(&lexical_absolute(zones.root(), Path::new(path)))
}

/// Returns the resource keys of a call about this path: the path as written and, behind links, the
/// real file. With both, calls that name one file in two ways are known to conflict.
pub(crate) fn resource_keys_at(path: &Path) -> Vec<Arc<str>> {
    let written = path_key(path);
    match resolve_links(path) {
        LinkResolution::Path(real) if real != path => vec![written, path_key(&real)],
        LinkResolution::Path(_) | LinkResolution::Unresolvable => vec![written],
    }
}

fn path_key(path: &Path) -> Arc<str> {
    Arc::from(path.to_string_lossy())
}

/// Returns whether the path lies in a kernel file system, whose entries are not regular files.
pub(crate) fn is_kernel_path(path: &Path) -> bool {
    ["/proc", "/sys", "/dev"].iter().any(|location| path.starts_with(location))
}
