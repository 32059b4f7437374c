//! Following links as the kernel does, also for files that do not exist yet.

use std::ffi::OsString;
use std::fs;
use std::path::{Component, Path, PathBuf};

use crate::limits::{MAX_LINKS, MAX_PATH_BYTES};

/// Where a path leads.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Real {
    /// There, without links, `.` and `..`.
    At(PathBuf),
    /// Round in a circle, or on and on.
    Nowhere,
}

/// Follows an absolute path part by part. `..` after a link leaves the folder the link leads to,
/// not the one it lies in.
pub(super) fn real(path: &Path) -> Real {
    follow(path, |_| {})
}

/// Whether the way goes through a link of the kernel that leads each process elsewhere:
/// `/proc/self/cwd` is another folder for us than for a command.
pub(super) fn depends_on_process(path: &Path) -> bool {
    let mut depends = false;
    follow(path, |link| depends |= link.starts_with("/proc"));
    depends
}

/// Follows a path, and tells of every link on the way.
fn follow(path: &Path, mut tell: impl FnMut(&Path)) -> Real {
    if path.as_os_str().len() > MAX_PATH_BYTES {
        return Real::Nowhere;
    }
    let mut at = PathBuf::from("/");
    let mut ahead = parts(path);
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
                    return Real::Nowhere;
                }
                if target.is_absolute() {
                    at = PathBuf::from("/");
                }
                ahead.extend(parts(&target));
            }
            // Not a link, or not there: then it is where its name says.
            Err(_) => at.push(part),
        }
    }
    Real::At(at)
}

/// The parts of a path, the last one first.
fn parts(path: &Path) -> Vec<OsString> {
    let part = |part: Component<'_>| match part {
        Component::ParentDir => Some(OsString::from("..")),
        Component::Normal(name) => Some(name.to_owned()),
        Component::Prefix(_) | Component::RootDir | Component::CurDir => None,
    };
    path.components().rev().filter_map(part).collect()
}
