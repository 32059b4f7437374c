//! Files that an older version made: what is in them stays what it was.

use rusqlite::Connection;
use tempfile::TempDir;
use windlass_core::project::{CheckpointKind, CheckpointRow, Row};
use windlass_runtime::ports::{Append, Store};
use windlass_store::SqliteStore;

use crate::kit::{file, folder, open, step};

const SCHEMAS: [&str; 4] = [
    include_str!("../../src/sqlite/schema/0001_lanes.sql"),
    include_str!("../../src/sqlite/schema/0002_wanting.sql"),
    include_str!("../../src/sqlite/schema/0003_left.sql"),
    include_str!("../../src/sqlite/schema/0004_trace.sql"),
];

/// A file as the version with so many schemas left it.
fn made_with(folder: &TempDir, schemas: usize) -> Connection {
    let raw = Connection::open(file(folder)).unwrap();
    SCHEMAS[..schemas].iter().for_each(|schema| raw.execute_batch(schema).unwrap());
    raw.pragma_update(None, "application_id", application_id()).unwrap();
    raw.pragma_update(None, "user_version", i64::try_from(schemas).unwrap()).unwrap();
    raw
}

// spec: FAULT-13
#[tokio::test]
async fn a_migration_that_breaks_off_leaves_the_old_schema() {
    let folder = folder();
    let raw = made_with(&folder, 1);
    // The second half of the next migration cannot be done.
    raw.execute_batch("CREATE INDEX lane_owned ON lane (owner)").unwrap();
    let indexes = "SELECT count(*) FROM sqlite_schema WHERE name = 'lane_due'";
    let count = |raw: &Connection| raw.query_row(indexes, [], |row| row.get::<_, i64>(0)).unwrap();
    SqliteStore::open(file(&folder)).unwrap_err();
    assert_eq!(count(&raw), 0, "half a migration was left behind");
    let version = |raw: &Connection| -> i64 {
        raw.pragma_query_value(None, "user_version", |row| row.get(0)).unwrap()
    };
    assert_eq!(version(&raw), 1);
    raw.execute_batch("DROP INDEX lane_owned").unwrap();
    drop(SqliteStore::open(file(&folder)).unwrap());
    assert_eq!((count(&raw), version(&raw)), (1, newest_schema()));
}

#[tokio::test]
async fn traces_of_an_older_file_stay_as_they_are() {
    let folder = folder();
    let raw = made_with(&folder, 3);
    raw.execute_batch(
        "INSERT INTO agent_loop_trace (id, job_id, iter, tool_calls) VALUES (7, 'r', 1, '[]');
         INSERT INTO agent_loop_iteration (trace_id, transition) VALUES (7, 'prompt');",
    )
    .unwrap();
    drop(SqliteStore::open(file(&folder)).unwrap());
    let both = "SELECT id || job_id || transition FROM agent_loop_trace
                JOIN agent_loop_iteration ON trace_id = id";
    let found: String = raw.query_row(both, [], |row| row.get(0)).unwrap();
    assert_eq!(found, "7rprompt");
    raw.execute(
        "INSERT INTO agent_loop_trace (job_id, iter, tool_calls) VALUES ('r', 2, '[]')",
        [],
    )
    .unwrap();
    assert_eq!(raw.last_insert_rowid(), 8);
}

#[tokio::test]
async fn checkpoints_of_an_older_file_stand_beside_new_ones() {
    let folder = folder();
    let raw = made_with(&folder, 4);
    raw.execute_batch(
        "INSERT INTO lane (no, id, epoch, owner, head) VALUES (1, 'a', 7, 'w', 1);
         INSERT INTO entry (lane_no, seq, epoch, at, body) VALUES (1, 1, 7, 0, '1');
         INSERT INTO run VALUES (1, 'r', 1, 'running', 1, NULL, NULL, NULL, 0, 1, 0, 0, 0, 0, 0, 0, 0);
         INSERT INTO checkpoint VALUES (1, 1, 'r', 'input', 1, 1, 1, NULL, NULL);",
    )
    .unwrap();
    let store = open(&folder);
    let row = CheckpointRow {
        run: "r".into(),
        seq: 2,
        kind: CheckpointKind::HumanPause,
        iteration: 1,
        message_cursor: 3,
        persisted_messages: 2,
        prompt_hash: None,
        completed_calls: Vec::new(),
    };
    let rows = vec![Row::Checkpoint(row)];
    store.append(Append { rows, ..step("a", 7, 1, "2") }).await.unwrap();
    let kinds =
        "SELECT group_concat(seq || run_id || kind || coalesce(persisted_messages, '')) FROM
                 (SELECT * FROM checkpoint ORDER BY seq)";
    let found: String = raw.query_row(kinds, [], |row| row.get(0)).unwrap();
    assert_eq!(found, "1rinput,2rhuman_pause2");
}

/// The mark by which a file is known as ours.
fn application_id() -> i32 {
    pragma_of_a_new_file("application_id").try_into().unwrap()
}

/// The version that a new file has.
pub(crate) fn newest_schema() -> i64 {
    pragma_of_a_new_file("user_version")
}

fn pragma_of_a_new_file(name: &str) -> i64 {
    let folder = folder();
    drop(open(&folder));
    let ours = Connection::open(file(&folder)).unwrap();
    ours.pragma_query_value(None, name, |row| row.get(0)).unwrap()
}
