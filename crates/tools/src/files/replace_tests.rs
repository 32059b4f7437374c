use std::fs;

use tempfile::TempDir;

use super::replace::replace;
use super::target::before;
use super::zones::Zones;

/// What stood there when the change was made up must stand there when the names change.
#[test]
fn a_file_that_changed_at_the_last_moment_is_not_replaced() {
    let folder = TempDir::new().unwrap();
    let file = folder.path().join("a");
    let zones = Zones::bare(folder.path(), None);
    let place = zones.place("a").unwrap();
    fs::write(&file, "old").unwrap();
    let seen = before(&place).unwrap();
    fs::write(&file, "newer").unwrap();
    let error = replace(&place, seen.as_ref(), b"mine").unwrap_err();
    assert_eq!(&*error.code, "file_changed");
    assert_eq!(fs::read_to_string(&file).unwrap(), "newer");
    // One that was not there and is by now is not ours to replace either.
    let error = replace(&place, None, b"mine").unwrap_err();
    assert_eq!(&*error.code, "file_changed");
    assert_eq!(fs::read_to_string(&file).unwrap(), "newer");
    let left: Vec<_> = fs::read_dir(folder.path()).unwrap().collect();
    assert_eq!(left.len(), 1, "{left:?}");
    let seen = before(&place).unwrap();
    replace(&place, seen.as_ref(), b"mine").unwrap();
    assert_eq!(fs::read_to_string(&file).unwrap(), "mine");
}
