//! One connection, used by one operation at a time, with prepared statements. Dropping it closes it
//! at once: the result of a statement that is still running on the server is not awaited.

use std::collections::HashMap;
use std::future::Future;
use std::sync::Arc;

use tokio::task::JoinHandle;
use tokio::time::timeout;
use tokio_postgres::types::{ToSql, Type};
use tokio_postgres::{Client, Error, Row, Statement};

use super::config::ServerConfig;
use super::error::{PgError, classify_error, no_answer_error};
use super::server_address::StatementMode;

#[cfg(test)]
#[path = "connection_tests.rs"]
mod connection_tests;

/// A statement parameter.
pub(super) type SqlValue<'v> = &'v (dyn ToSql + Sync);

/// Settings of every session. Commits must be durable even on a server that is configured
/// otherwise. And plans are made once, when tables may still be empty: every statement has its
/// index, and a plan that scans a whole table, or a whole index, instead would be kept while the
/// table grows.
const SESSION_SETTINGS: [&str; 5] = [
    "SELECT set_config('synchronous_commit', 'on', false)
     WHERE current_setting('synchronous_commit') = 'off'",
    "SET plan_cache_mode = force_generic_plan",
    "SET enable_seqscan = off",
    "SET random_page_cost = 0.1",
    "SET jit = off",
];

/// A statement with the types of its parameters.
#[derive(Debug)]
pub(super) struct TypedSql {
    pub(super) text: String,
    pub(super) types: Vec<Type>,
}

impl TypedSql {
    pub(super) fn new(text: &str, types: &[Type]) -> Self {
        Self { text: text.to_owned(), types: types.to_vec() }
    }
}

pub(super) struct PgConnection {
    config: Arc<ServerConfig>,
    client: Client,
    driver: JoinHandle<()>,
    /// Prepared statements by the address of their text, which lives as long as the program.
    prepared: HashMap<usize, Statement>,
}

impl PgConnection {
    /// Connects and applies the session settings.
    pub(super) async fn connect(config: &Arc<ServerConfig>) -> Result<Self, PgError> {
        let connection = Self::connect_without_settings(config).await?;
        connection.apply_session_settings().await?;
        Ok(connection)
    }

    /// Connects with the server's default settings.
    pub(super) async fn connect_without_settings(
        config: &Arc<ServerConfig>,
    ) -> Result<Self, PgError> {
        let connecting = config.address.config.connect(config.tls.clone());
        let (client, connection) = with_timeout(config, connecting).await?;
        let driver = tokio::spawn(async move {
            // Errors are reported to the caller that waits for a result.
            _ = connection.await;
        });
        Ok(Self { config: Arc::clone(config), client, driver, prepared: HashMap::new() })
    }

    /// Applies the session settings, which also bound what the server does after the caller stopped
    /// waiting. Behind a transaction pooler such settings would affect other clients, so none are
    /// set.
    pub(super) async fn apply_session_settings(&self) -> Result<(), PgError> {
        if self.config.statement_mode() == StatementMode::Unprepared {
            return Ok(());
        }
        let ms = self.config.settings.statement_timeout.as_millis();
        let bounds =
            format!("SET statement_timeout = {ms}; SET idle_in_transaction_session_timeout = {ms}");
        match self.execute_batch(&[&bounds, SESSION_SETTINGS.join("; ").as_str()].join("; ")).await
        {
            Err(PgError::Server(_)) => self.apply_settings_one_by_one(&bounds).await,
            other => other,
        }
    }

    /// Applies each setting that the engine knows; an engine without a setting does not need it.
    async fn apply_settings_one_by_one(&self, bounds: &str) -> Result<(), PgError> {
        self.execute_batch(bounds).await?;
        for wish in SESSION_SETTINGS {
            match self.execute_batch(wish).await {
                Err(lost @ PgError::ConnectionLost(_)) => return Err(lost),
                _ => continue,
            }
        }
        Ok(())
    }

    /// Runs a statement once, in one round trip.
    pub(super) async fn query(
        &mut self,
        sql: &'static TypedSql,
        values: &[SqlValue<'_>],
    ) -> Result<Vec<Row>, PgError> {
        match self.config.statement_mode() {
            StatementMode::Prepared => {
                let statement = self.prepared_statement(sql).await?;
                with_timeout(&self.config, self.client.query(&statement, values)).await
            }
            StatementMode::Unprepared => {
                let typed: Vec<_> = values.iter().copied().zip(sql.types.iter().cloned()).collect();
                with_timeout(&self.config, self.client.query_typed(&sql.text, &typed)).await
            }
        }
    }

    /// Executes statements without parameters and results.
    pub(super) async fn execute_batch(&self, text: &str) -> Result<(), PgError> {
        with_timeout(&self.config, self.client.batch_execute(text)).await
    }

    pub(super) fn is_closed(&self) -> bool {
        self.client.is_closed()
    }

    pub(super) fn location(&self) -> &str {
        self.config.location()
    }

    async fn prepared_statement(&mut self, sql: &'static TypedSql) -> Result<Statement, PgError> {
        let name = std::ptr::from_ref(sql).addr();
        if let Some(known) = self.prepared.get(&name) {
            return Ok(known.clone());
        }
        let preparing = self.client.prepare_typed(&sql.text, &sql.types);
        let statement = with_timeout(&self.config, preparing).await?;
        self.prepared.insert(name, statement.clone());
        Ok(statement)
    }
}

impl Drop for PgConnection {
    fn drop(&mut self) {
        self.driver.abort();
    }
}

/// Waits for a result until the statement timeout: a frozen server keeps its connections open.
async fn with_timeout<T>(
    config: &ServerConfig,
    asking: impl Future<Output = Result<T, Error>>,
) -> Result<T, PgError> {
    match timeout(config.settings.statement_timeout, asking).await {
        Ok(answer) => answer.map_err(|error| classify_error(config.location(), &error)),
        Err(_) => {
            Err(no_answer_error(config.location(), config.settings.statement_timeout.as_millis()))
        }
    }
}
