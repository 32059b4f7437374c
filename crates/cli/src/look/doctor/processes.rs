//! What commands of earlier processes left: some that still run, and files they printed into.

use std::fs::Metadata;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use windlass::tools::count_orphans;

use super::{Check, words};
use crate::settle::paths;

/// Above this somebody may want the room.
const MUCH: u64 = 1 << 30;

/// Entries looked at to say how much there is.
const MOST_ENTRIES: usize = 100_000;

/// Commands whose process is gone.
pub(super) async fn check() -> Check {
    match count_orphans().await {
        0 => Check::ok("processes", words::NO_ORPHANS),
        count => Check::note("processes", words::orphans(count)),
    }
}

/// What tools keep for conversations.
pub(super) fn desks() -> Option<Check> {
    let folder = paths::state().ok()?.join("desks");
    let desks = std::fs::read_dir(&folder).ok()?.count();
    let mut looked = 0;
    let size = size_of(&folder, &mut looked);
    let says = words::desks(&folder, desks, size, looked >= MOST_ENTRIES);
    Some(if size > MUCH { Check::note("scratch", says) } else { Check::ok("scratch", says) })
}

fn size_of(folder: &Path, looked: &mut usize) -> u64 {
    let mut size: u64 = 0;
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        if *looked >= MOST_ENTRIES {
            break;
        }
        *looked += 1;
        let Ok(found) = entry.path().symlink_metadata() else { continue };
        let inside = if found.is_dir() { size_of(&entry.path(), looked) } else { on_disk(&found) };
        size = size.saturating_add(inside);
    }
    size
}

/// What a file takes on the disk: tables with gaps look larger than they are.
fn on_disk(found: &Metadata) -> u64 {
    found.blocks().saturating_mul(512)
}
