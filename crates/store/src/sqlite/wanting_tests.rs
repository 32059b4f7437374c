//! What a worker asks again and again must not grow with the lanes that wait for nothing.

use rusqlite::Connection;

use super::super::migrate::{MIGRATIONS, migrate};
use super::{MAILED, OWNERS, WANTING};

/// How SQLite goes about it, one line per step.
fn plan(statement: &str) -> Vec<String> {
    let mut connection = Connection::open_in_memory().unwrap();
    migrate(&mut connection, "memory", MIGRATIONS).unwrap().unwrap();
    let mut explain = connection.prepare(&format!("EXPLAIN QUERY PLAN {statement}")).unwrap();
    let given = vec![""; explain.parameter_count()];
    let steps = explain.query_map(rusqlite::params_from_iter(given), |row| row.get(3)).unwrap();
    steps.collect::<Result<_, _>>().unwrap()
}

/// Steps that walk a table of lanes or mail. The index of mail that nobody has read holds nothing
/// of those that are parked.
fn walks(statement: &str) -> Vec<String> {
    let is_walk = |step: &String| {
        let walks = step.starts_with("SCAN lane") || step.starts_with("SCAN mail");
        walks && step != "SCAN mail USING INDEX mail_waiting"
    };
    plan(statement).into_iter().filter(is_walk).collect()
}

// spec: FAULT-59
#[test]
fn looking_for_work_walks_no_lane_that_is_parked() {
    for statement in [OWNERS, WANTING, MAILED] {
        assert_eq!(walks(statement), [] as [&str; 0], "{:#?}", plan(statement));
    }
    assert_eq!(walks("SELECT id FROM lane WHERE head = 1"), ["SCAN lane"]);
}

#[test]
fn mail_that_was_read_is_not_walked_either() {
    let probes = plan(MAILED);
    let probe = "USING INDEX mail_waiting (lane_no=?)";
    assert!(probes.iter().any(|step| step.ends_with(probe)), "{probes:?}");
}
