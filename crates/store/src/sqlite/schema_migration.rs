//! Schema migration, forward only. A file is migrated in a single transaction, so a crash leaves
//! the old schema or the new one.

use std::time::Duration;

use rusqlite::{Connection, TransactionBehavior};
use windlass_runtime::ports::StoreError;

use super::error::explain_sqlite_error;
use super::open::{APPLICATION_ID, retry_while_busy};
use crate::migrations::Migrations;
use crate::validation::invalid_argument;

#[cfg(test)]
#[path = "schema_migration_tests.rs"]
mod schema_migration_tests;

/// All schema changes of the SQLite store.
pub(super) const MIGRATIONS: Migrations = Migrations::new(&[
    include_str!("schema/101_tables.sql"),
    include_str!("schema/102_documents.sql"),
    include_str!("schema/103_fewer_pages.sql"),
]);

/// Whether a file has the newest schema.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SchemaState {
    Newest,
    Older,
}

/// Checks a file before anything is written to it.
pub(super) fn check_schema(
    connection: &Connection,
    location: &str,
    busy_timeout: Duration,
) -> Result<SchemaState, StoreError> {
    // One snapshot: another process may create the tables between two reads.
    let query = || {
        let snapshot = connection.unchecked_transaction()?;
        Ok((detect_owner(&snapshot)?, schema_version(&snapshot)?))
    };
    let seen = retry_while_busy(busy_timeout, query)
        .map_err(|error| explain_sqlite_error(location, busy_timeout, &error));
    let (owner, found) = seen?;
    match owner {
        FileOwner::OtherProgram => Err(invalid_argument(format!(
            "{location} is the database of another program; choose another file with --store"
        ))),
        FileOwner::EmptyFile => Ok(SchemaState::Older),
        FileOwner::Windlass => match MIGRATIONS.pending(location, found)?.is_empty() {
            true => Ok(SchemaState::Newest),
            false => Ok(SchemaState::Older),
        },
    }
}

enum FileOwner {
    Windlass,
    /// An empty file.
    EmptyFile,
    OtherProgram,
}

fn detect_owner(connection: &Connection) -> rusqlite::Result<FileOwner> {
    let id: i32 = connection.pragma_query_value(None, "application_id", |row| row.get(0))?;
    let tables: i64 =
        connection.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))?;
    Ok(match (id, tables, schema_version(connection)?) {
        (APPLICATION_ID, _, _) => FileOwner::Windlass,
        (0, 0, 0) => FileOwner::EmptyFile,
        _ => FileOwner::OtherProgram,
    })
}

fn schema_version(connection: &Connection) -> rusqlite::Result<i64> {
    connection.pragma_query_value(None, "user_version", |row| row.get(0))
}

/// Migrates the file to the newest version. The outer result is SQLite's and may be retried; the
/// inner one says that the file is not for this version of Windlass.
pub(super) fn migrate_schema(
    connection: &mut Connection,
    location: &str,
    migrations: Migrations,
) -> rusqlite::Result<Result<(), StoreError>> {
    if schema_version(connection)? == migrations.newest() {
        return Ok(Ok(()));
    }
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    // Read again under the lock: another process may have migrated meanwhile, or be a newer
    // version.
    let pending = match migrations.pending(location, schema_version(&transaction)?) {
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
