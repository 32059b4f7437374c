//! Opens the database; one that is not ours, too new, too old or read-only is reported and left
//! unchanged. The server is checked first: too old, read-only, of another encoding, or behind a
//! transaction pooler.

use std::sync::{Arc, LazyLock};
use std::time::Duration;

use tokio::time::timeout;
use windlass_runtime::ports::StoreError;

use super::backoff::RetryState;
use super::config::ServerConfig;
use super::connection::{PgConnection, TypedSql};
use super::error::{PgError, is_starting};
use super::schema_migration;
use super::server_address::StatementMode;
use crate::validation::invalid_argument;

/// The connections that are opened at the start.
pub(super) struct OpenConnections {
    pub(super) append_connection: PgConnection,
    pub(super) heartbeat_connection: PgConnection,
}

/// Opens the database with retries: a server may be starting, restarting or full for a moment. A
/// server that reports that it is starting is given the retry timeout of any other operation.
pub(super) async fn open_database(
    config: &Arc<ServerConfig>,
) -> Result<OpenConnections, StoreError> {
    match open_within(config, config.settings.open_timeout).await {
        Err(error) if is_starting(&error) => {
            open_within(config, config.settings.retry_timeout).await
        }
        outcome => outcome,
    }
}

async fn open_within(
    config: &Arc<ServerConfig>,
    busy_timeout: Duration,
) -> Result<OpenConnections, StoreError> {
    let mut retries = RetryState::new(config.location(), u32::MAX);
    let opening = async {
        loop {
            match try_open(config).await {
                Ok(opened) => return Ok(opened),
                Err(error) => retries.record_failure(error)?,
            }
            retries.wait().await;
        }
    };
    match timeout(busy_timeout, opening).await {
        Ok(outcome) => outcome.map_err(PgError::into_error),
        Err(_) => Err(retries.last_error().clone()),
    }
}

async fn try_open(config: &Arc<ServerConfig>) -> Result<OpenConnections, PgError> {
    let mut append_connection = PgConnection::connect_without_settings(config).await?;
    let mut heartbeat_connection = PgConnection::connect_without_settings(config).await?;
    // Two connections that a pooler maps to one session would see each other's prepared statements,
    // so nothing is prepared until this is known.
    config.disable_prepared_statements();
    check_server(&mut append_connection).await?;
    let is_pooled = is_pooled(&mut append_connection, &mut heartbeat_connection).await?;
    if config.address.statements == StatementMode::Prepared && !is_pooled {
        config.enable_prepared_statements();
    }
    schema_migration::migrate_schema(&mut append_connection).await?;
    append_connection.apply_session_settings().await?;
    heartbeat_connection.apply_session_settings().await?;
    Ok(OpenConnections { append_connection, heartbeat_connection })
}

/// The oldest PostgreSQL that is supported.
const MIN_POSTGRES_VERSION: i64 = 15;

static DESCRIBE_SERVER: LazyLock<TypedSql> = LazyLock::new(|| {
    let text = "SELECT current_setting('server_version_num')::text, version()::text,
                       current_setting('server_encoding')::text,
                       current_setting('transaction_read_only')::text";
    TypedSql::new(text, &[])
});

static BACKEND_PID: LazyLock<TypedSql> =
    LazyLock::new(|| TypedSql::new("SELECT pg_backend_pid()::bigint", &[]));

/// Rejects a server on which later operations would fail.
async fn check_server(connection: &mut PgConnection) -> Result<(), PgError> {
    let location = connection.location().to_owned();
    let rows = connection.query(&DESCRIBE_SERVER, &[]).await?;
    let Some(row) = rows.first() else { return Ok(()) };
    let text = |column| row.try_get::<_, String>(column).unwrap_or_default();
    let judged = check_description(&location, &text(0), &text(1), &text(2), &text(3));
    judged.map_err(PgError::Rejected)
}

/// Checks the server's description. The version counts only for PostgreSQL itself: compatible
/// engines have version numbers of their own.
pub(super) fn check_description(
    location: &str,
    number: &str,
    version: &str,
    encoding: &str,
    read_only: &str,
) -> Result<(), StoreError> {
    let major = number.parse::<i64>().unwrap_or(0) / 10_000;
    let counts_differently = version.contains("Cockroach") || version.contains("-YB-");
    if major < MIN_POSTGRES_VERSION && !counts_differently {
        return Err(invalid_argument(format!(
            "{location} runs PostgreSQL {major}; version {MIN_POSTGRES_VERSION} or newer is required"
        )));
    }
    if !encoding.eq_ignore_ascii_case("utf8") && !encoding.eq_ignore_ascii_case("utf-8") {
        return Err(invalid_argument(format!(
            "{location} uses encoding {encoding}; create a database with ENCODING 'UTF8'"
        )));
    }
    match read_only {
        "on" => Err(StoreError::ReadOnly { location: location.to_owned() }),
        _ => Ok(()),
    }
}

/// Returns whether two connections share one session: then a pooler assigns transactions, and what
/// is prepared on one connection may or may not exist on the other.
async fn is_pooled(one: &mut PgConnection, two: &mut PgConnection) -> Result<bool, PgError> {
    Ok(backend_pid(one).await? == backend_pid(two).await?)
}

async fn backend_pid(connection: &mut PgConnection) -> Result<i64, PgError> {
    let rows = connection.query(&BACKEND_PID, &[]).await?;
    Ok(rows.first().and_then(|row| row.try_get(0).ok()).unwrap_or_default())
}
