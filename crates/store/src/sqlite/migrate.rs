//! Schema versions of a file. It is brought to the newest one in a single transaction, so a crash leaves
//! the old schema or the new one.

use std::time::Duration;

use rusqlite::{Connection, TransactionBehavior};
use windlass_runtime::ports::StoreError;

use super::error::explain;
use super::open::{APPLICATION_ID, patiently};
use crate::migrations::Migrations;
use crate::valid::invalid;

/// Every schema change of the file.
pub(super) const MIGRATIONS: Migrations = Migrations::new(&[include_str!("schema/100_tables.sql")]);

#[cfg(test)]
#[path = "migrate_tests.rs"]
mod migrate_tests;

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
        Owner::Windlass => MIGRATIONS.pending(place, found).map(drop),
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

/// Brings the file to the newest version. The outer result is SQLite's and may be tried again; the
/// inner one says that the file is not for this version of Windlass.
pub(super) fn migrate(
    connection: &mut Connection,
    place: &str,
    migrations: Migrations,
) -> rusqlite::Result<Result<(), StoreError>> {
    if version(connection)? == migrations.newest() {
        return Ok(Ok(()));
    }
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    // Asked again under the lock: another process may have been faster, or newer.
    let pending = match migrations.pending(place, version(&transaction)?) {
        Ok(pending) => pending,
        Err(refused) => return Ok(Err(refused)),
    };
    for step in pending {
        transaction.execute_batch(step)?;
    }
    transaction.pragma_update(None, "application_id", APPLICATION_ID)?;
    transaction.pragma_update(None, "user_version", migrations.newest())?;
    transaction.commit().map(Ok)
}
