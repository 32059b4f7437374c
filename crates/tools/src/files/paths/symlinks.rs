//! Resolves symlinks as the kernel does, also for files that do not exist yet.

use std::ffi::OsString;
use std::fs;
use std::path::{Component, Path, PathBuf};

use crate::limits::{MAX_LINKS, MAX_PATH_BYTES};

/// The result of resolving a path.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum LinkResolution {
    /// The real path, without links, `.` and `..`.
    Path(PathBuf),
    /// The links form a cycle, or there are too many.
    Unresolvable,
}

/// Resolves an absolute path component by component. `..` after a link leaves the folder the link
/// leads to, not the one that contains the link.
pub(crate) fn resolve_links(path: &Path) -> LinkResolution {
    follow(path, |_| {})
}

/// Returns whether the path goes through a kernel link that differs by process: `/proc/self/cwd` is
/// another folder for us than for a command.
pub(crate) fn depends_on_process(path: &Path) -> bool {
    let mut depends = false;
    follow(path, |link| depends |= link.starts_with("/proc"));
    depends
}

/// Resolves a path, and reports every link on the way.
fn follow(path: &Path, mut tell: impl FnMut(&Path)) -> LinkResolution {
    if path.as_os_str().len() > MAX_PATH_BYTES {
        return LinkResolution::Unresolvable;
    }
    let mut at = PathBuf::from("/");
    let mut ahead = reversed_parts(path);
    let mut links = 0;
    while let Some(part) = ahead.pop() {
        if part == ".." {
            at.pop();
            continue;
        }
        match fs::read_link(at.join(&part)) {
            Ok(target) => {
                tell(&at.join(&part));
                links += 1;
                if links > MAX_LINKS || target.as_os_str().len() > MAX_PATH_BYTES {
                    return LinkResolution::Unresolvable;
                }
                if target.is_absolute() {
                    at = PathBuf::from("/");
                }
                ahead.extend(reversed_parts(&target));
            }
            // Not a link, or missing: then it is where its name says.
            Err(_) => at.push(part),
        }
    }
    LinkResolution::Path(at)
}

/// Returns the components of a path, the last one first.
fn reversed_parts(path: &Path) -> Vec<OsString> {
    let part = |part: Component<'_>| match part {
        Component::ParentDir => Some(OsString::from("..")),
        Component::Normal(name) => Some(name.to_owned()),
        Component::Prefix(_) | Component::RootDir | Component::CurDir => None,
    };
    path.components().rev().filter_map(part).collect()
}
