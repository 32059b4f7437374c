use std::fs;

use tempfile::TempDir;

use super::atomic_write::replace_atomically;
use super::write_target::read_snapshot;
use crate::files::paths::path_zones::PathZones;

/// The file must be the same when the change is prepared and when it is renamed.
#[test]
fn a_file_that_changed_at_the_last_moment_is_not_replaced() {
    let folder = TempDir::new().unwrap();
    let file = folder.path().join("a");
    let zones = PathZones::with_home(folder.path(), None);
    let resolved = zones.resolve("a").unwrap();
    fs::write(&file, "old").unwrap();
    let seen = read_snapshot(&resolved).unwrap();
    fs::write(&file, "newer").unwrap();
    let error = replace_atomically(&resolved, seen.as_ref(), b"mine").unwrap_err();
    assert_eq!(&*error.code, "file_changed");
    assert_eq!(fs::read_to_string(&file).unwrap(), "newer");
    // A file that did not exist and exists by now is not ours to replace either.
    let error = replace_atomically(&resolved, None, b"mine").unwrap_err();
    assert_eq!(&*error.code, "file_changed");
    assert_eq!(fs::read_to_string(&file).unwrap(), "newer");
    let left: Vec<_> = fs::read_dir(folder.path()).unwrap().collect();
    assert_eq!(left.len(), 1, "{left:?}");
    let seen = read_snapshot(&resolved).unwrap();
    replace_atomically(&resolved, seen.as_ref(), b"mine").unwrap();
    assert_eq!(fs::read_to_string(&file).unwrap(), "mine");
}
