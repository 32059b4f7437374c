use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use rusqlite::{Connection, TransactionBehavior};
use windlass_runtime::ports::StoreError;

use super::{APPLICATION_ID, MIGRATIONS, check_schema, migrate_schema, schema_version};
use crate::migrations::Migrations;
use crate::sqlite::open::retry_while_busy;

const FIRST: Migrations = Migrations::new(&["CREATE TABLE lane (no INTEGER)"]);
const WITH_A_SECOND: Migrations = Migrations::new(&[
    "CREATE TABLE lane (no INTEGER)",
    "ALTER TABLE lane ADD COLUMN folder TEXT; CREATE TABLE later (no INTEGER)",
]);

fn columns(connection: &Connection) -> i64 {
    let query = "SELECT count(*) FROM pragma_table_info('lane')";
    connection.query_row(query, [], |row| row.get(0)).unwrap()
}

#[test]
fn a_file_of_an_older_version_gets_the_later_changes_and_keeps_its_rows() {
    let mut file = Connection::open_in_memory().unwrap();
    migrate_schema(&mut file, "file", FIRST).unwrap().unwrap();
    assert_eq!((schema_version(&file).unwrap(), columns(&file)), (FIRST.newest(), 1));
    file.execute("INSERT INTO lane VALUES (7)", []).unwrap();
    for _ in 0..2 {
        migrate_schema(&mut file, "file", WITH_A_SECOND).unwrap().unwrap();
        assert_eq!((schema_version(&file).unwrap(), columns(&file)), (WITH_A_SECOND.newest(), 2));
    }
    let kept: i64 = file.query_row("SELECT no FROM lane", [], |row| row.get(0)).unwrap();
    assert_eq!(kept, 7);
}

// spec: FAULT-13
#[test]
fn a_migration_that_breaks_off_leaves_the_old_schema() {
    let mut file = Connection::open_in_memory().unwrap();
    migrate_schema(&mut file, "file", FIRST).unwrap().unwrap();
    // The second half of the next migration cannot succeed.
    file.execute_batch("CREATE TABLE later (no INTEGER)").unwrap();
    migrate_schema(&mut file, "file", WITH_A_SECOND).unwrap_err();
    assert_eq!((schema_version(&file).unwrap(), columns(&file)), (FIRST.newest(), 1));
    file.execute_batch("DROP TABLE later").unwrap();
    migrate_schema(&mut file, "file", WITH_A_SECOND).unwrap().unwrap();
    assert_eq!((schema_version(&file).unwrap(), columns(&file)), (WITH_A_SECOND.newest(), 2));
}

/// Between `check_schema` and `migrate_schema` a newer Windlass may migrate the file to its own
/// version, which must stay unchanged.
#[test]
fn a_newer_version_is_never_written_down() {
    let mut file = Connection::open_in_memory().unwrap();
    migrate_schema(&mut file, "file", WITH_A_SECOND).unwrap().unwrap();
    let refused = migrate_schema(&mut file, "file", FIRST).unwrap().unwrap_err();
    assert!(matches!(refused, StoreError::NewerSchema { .. }), "{refused}");
    assert_eq!(schema_version(&file).unwrap(), WITH_A_SECOND.newest());
}

/// Two processes create the tables at the same moment: the second read the version before the first
/// had the lock, and gets the lock when the first is done.
#[test]
fn the_version_is_asked_again_under_the_lock() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("w.db");
    let mut first = Connection::open(&path).unwrap();
    first.pragma_update(None, "journal_mode", "WAL").unwrap();
    let making = first.transaction_with_behavior(TransactionBehavior::Immediate).unwrap();
    let mut second = Connection::open(&path).unwrap();
    // The first attempt reads the version and finds the file locked; the version counts in the
    // second attempt, after the other process is done.
    assert!(migrate_schema(&mut second, "file", MIGRATIONS).is_err(), "the lock is held");
    let waiting = std::thread::spawn(move || {
        let again = || migrate_schema(&mut second, "file", MIGRATIONS);
        retry_while_busy(Duration::from_secs(30), again).map(|migrated| migrated.map(|()| second))
    });
    for step in MIGRATIONS.pending("file", 0).unwrap() {
        making.execute_batch(step).unwrap();
    }
    making.pragma_update(None, "application_id", APPLICATION_ID).unwrap();
    making.pragma_update(None, "user_version", MIGRATIONS.newest()).unwrap();
    making.commit().unwrap();
    let second = waiting.join().unwrap().unwrap().unwrap();
    let lanes: i64 = second.query_row("SELECT count(*) FROM lane", [], |row| row.get(0)).unwrap();
    assert_eq!(lanes, 0);
}

/// A process opens the file while another creates the tables: it sees all of them or none, never a
/// database of another program.
#[test]
fn a_file_is_checked_in_one_snapshot() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("w.db");
    let mut writer = Connection::open(&path).unwrap();
    writer.pragma_update(None, "journal_mode", "WAL").unwrap();
    let reader = Connection::open(&path).unwrap();
    let done = Arc::new(AtomicBool::new(false));
    let stop = Arc::clone(&done);
    let toggling = std::thread::spawn(move || {
        while !stop.load(Ordering::Relaxed) {
            for (sql, id, version) in [
                ("CREATE TABLE lane (id)", APPLICATION_ID, MIGRATIONS.newest()),
                ("DROP TABLE lane", 0, 0),
            ] {
                let change = writer.transaction_with_behavior(TransactionBehavior::Immediate);
                let change = change.unwrap();
                change.execute_batch(sql).unwrap();
                change.pragma_update(None, "application_id", id).unwrap();
                change.pragma_update(None, "user_version", version).unwrap();
                change.commit().unwrap();
            }
        }
    });
    let results: Vec<_> =
        (0..500).map(|_| check_schema(&reader, "file", Duration::from_secs(30))).collect();
    done.store(true, Ordering::Relaxed);
    toggling.join().unwrap();
    assert_eq!(results.into_iter().find(Result::is_err), None);
}
