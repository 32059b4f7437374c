use std::os::unix::fs::PermissionsExt;
use std::time::Duration;

use super::{WriteQueue, WriteTurn};

/// Long enough for a turn that comes, on any machine.
const LONG: Duration = Duration::from_secs(30);
const SHORT: Duration = Duration::from_millis(20);

#[test]
fn one_at_a_time_has_the_turn_and_the_next_gets_it() {
    let folder = tempfile::tempdir().unwrap();
    let database = folder.path().join("w.db");
    let (mut first, mut second) = (WriteQueue::open(&database), WriteQueue::open(&database));
    let turn = first.wait(LONG).unwrap();
    assert!(second.try_now().is_none());
    assert!(second.wait(SHORT).is_none());
    drop(turn);
    let turn = second.wait(LONG).unwrap();
    assert!(matches!(turn, WriteTurn::Awaited { .. }));
    assert!(first.try_now().is_none());
    drop(turn);
    assert!(matches!(first.wait(LONG), Some(WriteTurn::Taken(_))));
}

#[test]
fn a_place_that_is_given_up_holds_no_one_up() {
    let folder = tempfile::tempdir().unwrap();
    let database = folder.path().join("w.db");
    let (mut first, mut second) = (WriteQueue::open(&database), WriteQueue::open(&database));
    let turn = first.wait(LONG).unwrap();
    assert!(second.wait(SHORT).is_none());
    drop(second);
    drop(turn);
    assert!(WriteQueue::open(&database).wait(LONG).is_some());
}

#[test]
fn the_lock_file_is_private_and_its_absence_is_no_error() {
    let folder = tempfile::tempdir().unwrap();
    let lock = folder.path().join("w.db-lock");
    std::fs::write(&lock, "").unwrap();
    std::fs::set_permissions(&lock, std::fs::Permissions::from_mode(0o644)).unwrap();
    drop(WriteQueue::open(&folder.path().join("w.db")));
    assert_eq!(lock.metadata().unwrap().permissions().mode() & 0o777, 0o600);
    let nowhere = folder.path().join("missing").join("w.db");
    assert!(matches!(WriteQueue::open(&nowhere).wait(SHORT), Some(WriteTurn::Unordered)));
}
