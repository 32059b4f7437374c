use std::time::Duration;

use rusqlite::{Connection, TransactionBehavior};

use super::{APPLICATION_ID, MIGRATIONS, migrate, newest};
use crate::sqlite::open::patiently;

/// Two processes make the tables at the same moment: the second read the version before the first had
/// the lock, and gets the lock when the first is done.
#[test]
fn the_version_is_asked_again_under_the_lock() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("w.db");
    let mut first = Connection::open(&path).unwrap();
    first.pragma_update(None, "journal_mode", "WAL").unwrap();
    let making = first.transaction_with_behavior(TransactionBehavior::Immediate).unwrap();
    let mut second = Connection::open(&path).unwrap();
    // The first try reads the version and finds the file locked; it is the state that is left for the
    // second try in which the version counts.
    assert!(migrate(&mut second).is_err(), "the lock is held");
    let waiting = std::thread::spawn(move || {
        patiently(Duration::from_secs(30), || migrate(&mut second)).map(|()| second)
    });
    for migration in MIGRATIONS {
        making.execute_batch(migration).unwrap();
    }
    making.pragma_update(None, "application_id", APPLICATION_ID).unwrap();
    making.pragma_update(None, "user_version", newest()).unwrap();
    making.commit().unwrap();
    let second = waiting.join().unwrap().unwrap();
    let lanes: i64 = second.query_row("SELECT count(*) FROM lane", [], |row| row.get(0)).unwrap();
    assert_eq!(lanes, 0);
}
