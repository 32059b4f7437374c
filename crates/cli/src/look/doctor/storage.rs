//! The store and the disk it lies on. A store that is not there is not made.

use std::path::{Path, PathBuf};

use rustix::fs::{Access, access, statvfs};
use windlass::postgres::PostgresStore;

use super::{Check, leftovers, words};
use crate::setup;

/// Below this nothing can be trusted to be written.
const NO_SPACE: u64 = 50 << 20;

/// Below this somebody should look.
const LITTLE_SPACE: u64 = 1 << 30;

/// Whether the store opens, is sound, and what is left in it.
pub(super) async fn check(place: &Path) -> Vec<Check> {
    if !place.exists() {
        return vec![not_there(place)];
    }
    let store = match setup::open_file(place) {
        Ok(store) => store,
        Err(error) => return vec![Check::broken("store", error.to_string())],
    };
    let size = place.metadata().map_or(0, |found| found.len());
    let mut checks = vec![Check::ok("store", words::opens(place, store.schema(), size))];
    match store.check().await {
        Ok(()) => checks.push(Check::ok("integrity", words::SOUND)),
        Err(error) => checks.push(Check::broken("integrity", error.to_string())),
    }
    match leftovers::check(&store).await {
        Ok(found) => checks.extend(found),
        Err(error) => checks.push(Check::broken("runs", error.to_string())),
    }
    checks
}

/// The same for a store on a server.
pub(super) async fn server(url: &str) -> Vec<Check> {
    let shown = crate::words::without_password(url);
    let store = match PostgresStore::open(url).await {
        Ok(store) => store,
        Err(error) => {
            return vec![Check::broken("store", words::unreachable(&shown, &error.to_string()))];
        }
    };
    let mut checks = vec![Check::ok("store", words::answers(&shown))];
    match leftovers::check(&store).await {
        Ok(found) => checks.extend(found),
        Err(error) => checks.push(Check::broken("runs", error.to_string())),
    }
    checks
}

/// The first run makes it, if its folder can be written.
fn not_there(place: &Path) -> Check {
    let folder = standing_folder(place);
    match folder.is_dir() && access(&folder, Access::WRITE_OK | Access::EXEC_OK).is_ok() {
        true => Check::ok("store", words::will_be_made(place)),
        false => Check::broken("store", words::cannot_be_made(place, &folder)),
    }
}

/// The nearest folder that exists.
fn standing_folder(place: &Path) -> PathBuf {
    let mut folders = place.ancestors().skip(1).filter(|folder| !folder.as_os_str().is_empty());
    let found = folders.find(|folder| folder.exists());
    found.map_or_else(|| PathBuf::from("."), Path::to_path_buf)
}

/// Whether there is room to write.
pub(super) fn disk(place: &Path) -> Check {
    let folder = standing_folder(place);
    match statvfs(&folder) {
        Err(error) => Check::note("disk", words::disk_unknown(&folder, &error.to_string())),
        Ok(found) => match found.f_bavail.saturating_mul(found.f_frsize) {
            free if free < NO_SPACE => Check::broken("disk", words::no_space(&folder, free)),
            free if free < LITTLE_SPACE => Check::note("disk", words::little_space(&folder, free)),
            free => Check::ok("disk", words::space(&folder, free)),
        },
    }
}
