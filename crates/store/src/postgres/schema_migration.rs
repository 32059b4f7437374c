//! Schema migration, forward only. The version row is locked meanwhile, so that two processes that
//! start together migrate once, and a crash leaves the old schema or the new one.

use std::sync::LazyLock;

use tokio_postgres::error::SqlState;
use tokio_postgres::types::Type;

use super::connection::{PgConnection, TypedSql};
use super::error::PgError;
use crate::migrations::Migrations;
use crate::validation::invalid_argument;

/// All schema changes of the PostgreSQL store.
const MIGRATIONS: Migrations = Migrations::new(&[
    include_str!("schema/101_tables.sql"),
    include_str!("schema/102_documents.sql"),
]);

const VERSION_TABLE: &str = "CREATE TABLE IF NOT EXISTS windlass_schema (
    one BIGINT PRIMARY KEY CHECK (one = 1), version BIGINT NOT NULL)";

static INSERT_VERSION: LazyLock<TypedSql> = LazyLock::new(|| {
    let text = "INSERT INTO windlass_schema (one, version) VALUES (1, 0) ON CONFLICT DO NOTHING";
    TypedSql::new(text, &[])
});
static READ_VERSION: LazyLock<TypedSql> =
    LazyLock::new(|| TypedSql::new("SELECT version FROM windlass_schema WHERE one = 1", &[]));
static LOCK_VERSION: LazyLock<TypedSql> = LazyLock::new(|| {
    TypedSql::new("SELECT version FROM windlass_schema WHERE one = 1 FOR UPDATE", &[])
});
static UPDATE_VERSION: LazyLock<TypedSql> = LazyLock::new(|| {
    TypedSql::new("UPDATE windlass_schema SET version = $1 WHERE one = 1", &[Type::INT8])
});

/// Errors that the later of two concurrent processes gets, depending on how far the earlier one
/// was.
const ALREADY_CREATED: [SqlState; 3] =
    [SqlState::UNIQUE_VIOLATION, SqlState::DUPLICATE_TABLE, SqlState::DUPLICATE_OBJECT];

/// Migrates the database to the newest schema; one that is newer still, or of a development
/// version, is left unchanged.
pub(super) async fn migrate_schema(connection: &mut PgConnection) -> Result<(), PgError> {
    match find_version(connection).await? {
        Some(version) if version == MIGRATIONS.newest() => return Ok(()),
        Some(version) => drop(pending(connection, version)?),
        None => create_version_table(connection).await?,
    }
    connection.execute_batch("BEGIN").await?;
    let done = run_migrations(connection).await;
    connection.execute_batch(if done.is_ok() { "COMMIT" } else { "ROLLBACK" }).await?;
    done
}

async fn run_migrations(connection: &mut PgConnection) -> Result<(), PgError> {
    // Read again under the lock: another process may have migrated meanwhile.
    let version = read_version(connection, &LOCK_VERSION).await?.unwrap_or_default();
    for step in pending(connection, version)? {
        connection
            .execute_batch(step)
            .await
            .map_err(|error| foreign_tables_error(connection.location(), error))?;
    }
    connection.query(&UPDATE_VERSION, &[&MIGRATIONS.newest()]).await.map(drop)
}

fn pending(connection: &PgConnection, version: i64) -> Result<&'static [&'static str], PgError> {
    MIGRATIONS.pending(connection.location(), version).map_err(PgError::Rejected)
}

/// Returns the schema version; `None` for a new database.
async fn find_version(connection: &mut PgConnection) -> Result<Option<i64>, PgError> {
    match read_version(connection, &READ_VERSION).await {
        Err(PgError::Server(fault)) if fault.code == SqlState::UNDEFINED_TABLE => Ok(None),
        other => other,
    }
}

async fn read_version(
    connection: &mut PgConnection,
    sql: &'static TypedSql,
) -> Result<Option<i64>, PgError> {
    let rows = connection.query(sql, &[]).await?;
    Ok(rows.first().and_then(|row| row.try_get(0).ok()))
}

async fn create_version_table(connection: &mut PgConnection) -> Result<(), PgError> {
    match connection.execute_batch(VERSION_TABLE).await {
        // Two processes may create it at the same moment: `IF NOT EXISTS` checks and then creates.
        Err(PgError::Server(fault)) if ALREADY_CREATED.contains(&fault.code) => (),
        other => other?,
    }
    connection.query(&INSERT_VERSION, &[]).await.map(drop)
}

fn foreign_tables_error(location: &str, error: PgError) -> PgError {
    match error {
        PgError::Server(fault) if fault.code == SqlState::DUPLICATE_TABLE => {
            PgError::Rejected(invalid_argument(format!(
                "{location} contains tables of another program; use a separate database for windlass"
            )))
        }
        other => other,
    }
}
