//! Orphaned processes and scratch files of tools of earlier processes.

use std::fs::Metadata;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use windlass::tools::count_orphans;

use super::DoctorCheck;
use crate::config::paths;
use crate::messages::report;

/// Above this size of scratch files the check is a note.
const LARGE_SCRATCH_BYTES: u64 = 1 << 30;

/// Maximum number of entries that are counted for the size.
const MAX_ENTRIES: usize = 100_000;

/// Checks for commands that still run although their process is gone.
pub(super) async fn check() -> DoctorCheck {
    match count_orphans().await {
        0 => DoctorCheck::ok("processes", report::doctor::NO_ORPHANS),
        count => DoctorCheck::note("processes", report::doctor::orphaned_processes(count)),
    }
}

/// Checks the size of the files that tools keep for conversations.
pub(super) fn check_scratch_space() -> Option<DoctorCheck> {
    let folder = paths::tool_state_folder(&paths::state_folder().ok()?);
    let conversations = std::fs::read_dir(&folder).ok()?.count();
    let mut looked = 0;
    let size = folder_bytes(&folder, &mut looked);
    let says = report::doctor::scratch_space(&folder, conversations, size, looked >= MAX_ENTRIES);
    Some(if size > LARGE_SCRATCH_BYTES {
        DoctorCheck::note("scratch", says)
    } else {
        DoctorCheck::ok("scratch", says)
    })
}

fn folder_bytes(folder: &Path, looked: &mut usize) -> u64 {
    let mut size: u64 = 0;
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        if *looked >= MAX_ENTRIES {
            break;
        }
        *looked += 1;
        let Ok(found) = entry.path().symlink_metadata() else { continue };
        let inside =
            if found.is_dir() { folder_bytes(&entry.path(), looked) } else { disk_bytes(&found) };
        size = size.saturating_add(inside);
    }
    size
}

/// The disk usage of a file: sparse files look larger than they are.
fn disk_bytes(found: &Metadata) -> u64 {
    found.blocks().saturating_mul(512)
}
