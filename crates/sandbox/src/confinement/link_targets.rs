//! Paths of a policy that are links: the link is held in its place, and what it leads to is treated
//! as the path itself.

use std::fs;
use std::path::{Path, PathBuf};

/// Maximum number of links that are followed, as in the kernel.
const MAX_LINKS: usize = 40;

/// Returns the paths, and what those of them that are links lead to, link by link.
pub(super) fn with_link_targets(paths: &[PathBuf]) -> Vec<PathBuf> {
    let mut all = paths.to_vec();
    for path in paths {
        let mut next = link_target(path);
        for _ in 0..MAX_LINKS {
            let Some(target) = next.filter(|target| !all.contains(target)) else { break };
            next = link_target(&target);
            all.push(target);
        }
    }
    all
}

fn link_target(path: &Path) -> Option<PathBuf> {
    let target = path.parent()?.join(fs::read_link(path).ok()?);
    // The last part stays as it is: it may be a link again, or not exist.
    let name = target.file_name()?;
    Some(target.parent()?.canonicalize().ok()?.join(name))
}
