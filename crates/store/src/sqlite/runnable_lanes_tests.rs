//! Statements that a worker polls must not become slower with the number of idle lanes.

use rusqlite::Connection;

use super::super::heartbeats::OWNERS_SQL;
use super::super::schema_migration::{MIGRATIONS, migrate_schema};
use super::{LANES_WITH_MESSAGES_SQL, RUNNABLE_LANES_SQL};

/// Returns SQLite's query plan, one line per step.
fn query_plan(statement: &str) -> Vec<String> {
    let mut connection = Connection::open_in_memory().unwrap();
    migrate_schema(&mut connection, "memory", MIGRATIONS).unwrap().unwrap();
    let mut explain = connection.prepare(&format!("EXPLAIN QUERY PLAN {statement}")).unwrap();
    let given = vec![""; explain.parameter_count()];
    let steps = explain.query_map(rusqlite::params_from_iter(given), |row| row.get(3)).unwrap();
    steps.collect::<Result<_, _>>().unwrap()
}

/// Returns the steps that scan a table of lanes or messages. The index of unread messages contains
/// nothing of parked lanes.
fn table_scans(statement: &str) -> Vec<String> {
    let is_walk = |step: &String| {
        let walks = step.starts_with("SCAN lane") || step.starts_with("SCAN inbox");
        walks && step != "SCAN inbox USING INDEX inbox_unread"
    };
    query_plan(statement).into_iter().filter(is_walk).collect()
}

// spec: FAULT-59
#[test]
fn looking_for_work_walks_no_lane_that_is_parked() {
    for statement in [OWNERS_SQL, RUNNABLE_LANES_SQL, LANES_WITH_MESSAGES_SQL] {
        assert_eq!(table_scans(statement), [] as [&str; 0], "{:#?}", query_plan(statement));
    }
    assert_eq!(table_scans("SELECT id FROM lane WHERE head = 1"), ["SCAN lane"]);
}

#[test]
fn messages_that_were_read_are_not_walked_either() {
    let probes = query_plan(LANES_WITH_MESSAGES_SQL);
    let probe = "USING INDEX inbox_unread (lane_no=?)";
    assert!(probes.iter().any(|step| step.ends_with(probe)), "{probes:?}");
}
