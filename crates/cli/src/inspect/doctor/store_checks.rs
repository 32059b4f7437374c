//! Checks of the store and its disk. A store that does not exist is not created.

use std::path::{Path, PathBuf};

use rustix::fs::{Access, access, statvfs};
use windlass::postgres::PostgresStore;

use super::{DoctorCheck, unfinished_runs};
use crate::messages::report;
use crate::setup;

/// Below this free space, writes may fail.
const MIN_FREE_BYTES: u64 = 50 << 20;

/// Below this free space the check is a note.
const LOW_FREE_BYTES: u64 = 1 << 30;

/// Checks whether the store opens and is intact, and its unfinished runs.
pub(super) async fn check(path: &Path) -> Vec<DoctorCheck> {
    if !path.exists() {
        return vec![check_missing_file(path)];
    }
    let store = match setup::open_file(path) {
        Ok(store) => store,
        Err(error) => return vec![DoctorCheck::broken("store", error.to_string())],
    };
    let size = path.metadata().map_or(0, |found| found.len());
    let mut checks = vec![DoctorCheck::ok(
        "store",
        report::doctor::store_opened(path, store.schema_version(), size),
    )];
    match store.check().await {
        Ok(()) => checks.push(DoctorCheck::ok("integrity", report::doctor::NO_DAMAGE)),
        Err(error) => checks.push(DoctorCheck::broken("integrity", error.to_string())),
    }
    match unfinished_runs::check(&store).await {
        Ok(found) => checks.extend(found),
        Err(error) => checks.push(DoctorCheck::broken("runs", error.to_string())),
    }
    checks
}

/// Checks a store on a server: whether it responds, and its unfinished runs.
pub(super) async fn check_server(url: &str) -> Vec<DoctorCheck> {
    let text = crate::messages::redact_password(url);
    let store = match PostgresStore::open(url).await {
        Ok(store) => store,
        Err(error) => {
            return vec![DoctorCheck::broken(
                "store",
                report::doctor::server_unreachable(&text, &error.to_string()),
            )];
        }
    };
    let mut checks = vec![DoctorCheck::ok("store", report::doctor::server_responds(&text))];
    match unfinished_runs::check(&store).await {
        Ok(found) => checks.extend(found),
        Err(error) => checks.push(DoctorCheck::broken("runs", error.to_string())),
    }
    checks
}

/// Checks a store that does not exist yet: the first run creates it, if its folder is writable.
fn check_missing_file(path: &Path) -> DoctorCheck {
    let folder = nearest_existing_folder(path);
    match folder.is_dir() && access(&folder, Access::WRITE_OK | Access::EXEC_OK).is_ok() {
        true => DoctorCheck::ok("store", report::doctor::store_will_be_created(path)),
        false => {
            DoctorCheck::broken("store", report::doctor::store_cannot_be_created(path, &folder))
        }
    }
}

/// The nearest parent folder that exists.
fn nearest_existing_folder(path: &Path) -> PathBuf {
    let mut folders = path.ancestors().skip(1).filter(|folder| !folder.as_os_str().is_empty());
    let found = folders.find(|folder| folder.exists());
    found.map_or_else(|| PathBuf::from("."), Path::to_path_buf)
}

/// Checks the free space of the disk.
pub(super) fn check_disk(path: &Path) -> DoctorCheck {
    let folder = nearest_existing_folder(path);
    match statvfs(&folder) {
        Err(error) => DoctorCheck::note(
            "disk",
            report::doctor::free_space_unknown(&folder, &error.to_string()),
        ),
        Ok(found) => match found.f_bavail.saturating_mul(found.f_frsize) {
            free if free < MIN_FREE_BYTES => {
                DoctorCheck::broken("disk", report::doctor::no_space(&folder, free))
            }
            free if free < LOW_FREE_BYTES => {
                DoctorCheck::note("disk", report::doctor::low_space(&folder, free))
            }
            free => DoctorCheck::ok("disk", report::doctor::free_space(&folder, free)),
        },
    }
}
