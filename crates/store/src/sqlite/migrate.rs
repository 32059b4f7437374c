//! Schemas, forward only. A file is brought to the newest one in a single transaction, so a crash
//! leaves the old schema or the new one.

use std::time::Duration;

use rusqlite::{Connection, TransactionBehavior};
use windlass_runtime::ports::StoreError;

use super::error::explain;
use super::open::{APPLICATION_ID, patiently};
use crate::valid::invalid;

/// Each brings the schema of its place to the next.
const MIGRATIONS: &[&str] = &[
    include_str!("schema/0001_lanes.sql"),
    include_str!("schema/0002_wanting.sql"),
    include_str!("schema/0003_left.sql"),
    include_str!("schema/0004_trace.sql"),
    include_str!("schema/0005_checkpoint.sql"),
    include_str!("schema/0006_raw.sql"),
    include_str!("schema/0007_events.sql"),
    include_str!("schema/0008_run_description.sql"),
    include_str!("schema/0009_records.sql"),
    include_str!("schema/0010_workspaces.sql"),
    include_str!("schema/0011_iteration_model.sql"),
    include_str!("schema/0012_resume_policy.sql"),
];

#[cfg(test)]
#[path = "migrate_tests.rs"]
mod migrate_tests;

/// The version that every open file has.
pub(super) fn newest() -> i64 {
    MIGRATIONS.len().cast_signed() as i64
}

/// Looks at a file before anything is written to it.
pub(super) fn inspect(
    connection: &Connection,
    place: &str,
    patience: Duration,
) -> Result<(), StoreError> {
    let look = || Ok((owner(connection)?, version(connection)?));
    let seen = patiently(patience, look).map_err(|error| explain(place, patience, &error));
    let (owner, found) = seen?;
    match owner {
        Owner::Somebody => Err(invalid(format!(
            "{place} is the database of another program; choose another file with --store"
        ))),
        Owner::Nobody => Ok(()),
        Owner::Windlass if found > newest() => {
            Err(StoreError::FromTheFuture { place: place.to_owned(), found, known: newest() })
        }
        Owner::Windlass => Ok(()),
    }
}

enum Owner {
    Windlass,
    /// An empty file.
    Nobody,
    Somebody,
}

fn owner(connection: &Connection) -> rusqlite::Result<Owner> {
    let id: i32 = connection.pragma_query_value(None, "application_id", |row| row.get(0))?;
    let tables: i64 =
        connection.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))?;
    Ok(match (id, tables, version(connection)?) {
        (APPLICATION_ID, _, _) => Owner::Windlass,
        (0, 0, 0) => Owner::Nobody,
        _ => Owner::Somebody,
    })
}

fn version(connection: &Connection) -> rusqlite::Result<i64> {
    connection.pragma_query_value(None, "user_version", |row| row.get(0))
}

pub(super) fn migrate(connection: &mut Connection) -> rusqlite::Result<()> {
    if version(connection)? >= newest() {
        return Ok(());
    }
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    // Asked again: another process may have been faster.
    let done = usize::try_from(version(&transaction)?).unwrap_or_default();
    for migration in MIGRATIONS.iter().skip(done) {
        transaction.execute_batch(migration)?;
    }
    transaction.pragma_update(None, "application_id", APPLICATION_ID)?;
    transaction.pragma_update(None, "user_version", newest())?;
    transaction.commit()
}
