//! Opens the database; one that is not ours, too new, too old or read-only is reported and left
//! unchanged.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::timeout;
use windlass_runtime::ports::StoreError;

use super::backoff::ReconnectBackoff;
use super::config::ServerConfig;
use super::connection::PgConnection;
use super::error::{PgError, is_starting, unreachable_error};
use super::server_address::StatementMode;
use super::{schema_migration, server_check};

/// The connections that are opened at the start.
pub(super) struct OpenConnections {
    pub(super) append_connection: PgConnection,
    pub(super) heartbeat_connection: PgConnection,
}

/// Opens the database with retries: a server may be starting, restarting or full for a moment. A
/// server that reports that it is starting is given the retry timeout of any other operation.
pub(super) async fn open_database(home: &Arc<ServerConfig>) -> Result<OpenConnections, StoreError> {
    match open_within(home, home.settings.open_timeout).await {
        Err(error) if is_starting(&error) => open_within(home, home.settings.retry_timeout).await,
        outcome => outcome,
    }
}

async fn open_within(
    home: &Arc<ServerConfig>,
    patience: Duration,
) -> Result<OpenConnections, StoreError> {
    let mut last = unreachable_error(home.location(), "it was never tried".to_owned()).into_error();
    let trying = async {
        let mut pauses = ReconnectBackoff::new();
        loop {
            match try_open(home).await {
                Ok(opened) => return Ok(opened),
                Err(PgError::ConnectionLost(error) | PgError::Retry(error)) => last = error,
                Err(other) => return Err(other.into_error()),
            }
            pauses.wait_next().await;
        }
    };
    match timeout(patience, trying).await {
        Ok(opened) => opened,
        Err(_) => Err(last),
    }
}

async fn try_open(home: &Arc<ServerConfig>) -> Result<OpenConnections, PgError> {
    let mut append_connection = PgConnection::connect_without_settings(home).await?;
    let mut heartbeat_connection = PgConnection::connect_without_settings(home).await?;
    // Two connections that a pooler maps to one session would see each other's prepared statements,
    // so nothing is prepared until this is known.
    home.disable_prepared_statements();
    server_check::check_server(&mut append_connection).await?;
    let is_pooled =
        server_check::is_pooled(&mut append_connection, &mut heartbeat_connection).await?;
    if home.address.statements == StatementMode::Prepared && !is_pooled {
        home.enable_prepared_statements();
    }
    schema_migration::migrate_schema(&mut append_connection).await?;
    append_connection.apply_session_settings().await?;
    heartbeat_connection.apply_session_settings().await?;
    Ok(OpenConnections { append_connection, heartbeat_connection })
}
