//! Configuration shared by all connections of a store: the server's address and the timeouts.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use tokio_postgres_rustls::MakeRustlsConnect;

use super::server_address::{ServerAddress, StatementMode};

/// Settings of a PostgreSQL store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PostgresSettings {
    /// How long an operation is retried while the server is down, restarting or frozen.
    pub retry_timeout: Duration,
    /// How long opening is retried while the server does not accept connections yet.
    pub open_timeout: Duration,
    /// Statement timeout, after which a connection counts as lost.
    pub statement_timeout: Duration,
}

impl Default for PostgresSettings {
    fn default() -> Self {
        Self {
            retry_timeout: Duration::from_secs(25),
            open_timeout: Duration::from_secs(5),
            statement_timeout: Duration::from_secs(8),
        }
    }
}

pub(super) struct ServerConfig {
    pub(super) address: ServerAddress,
    pub(super) tls: MakeRustlsConnect,
    pub(super) settings: PostgresSettings,
    is_unprepared: AtomicBool,
    commits: AtomicU64,
}

impl ServerConfig {
    pub(super) fn new(
        address: ServerAddress,
        tls: MakeRustlsConnect,
        settings: PostgresSettings,
    ) -> Self {
        let is_unprepared = AtomicBool::new(address.statements == StatementMode::Unprepared);
        Self { address, tls, settings, is_unprepared, commits: AtomicU64::new(0) }
    }

    pub(super) fn location(&self) -> &str {
        &self.address.location
    }

    pub(super) fn statement_mode(&self) -> StatementMode {
        match self.is_unprepared.load(Ordering::Relaxed) {
            true => StatementMode::Unprepared,
            false => StatementMode::Prepared,
        }
    }

    /// Stops preparing statements on the server.
    pub(super) fn disable_prepared_statements(&self) {
        self.is_unprepared.store(true, Ordering::Relaxed);
    }

    /// Prepares statements from here on, because no pooler shares the connections.
    pub(super) fn enable_prepared_statements(&self) {
        self.is_unprepared.store(false, Ordering::Relaxed);
    }

    pub(super) fn count_commit(&self) {
        self.commits.fetch_add(1, Ordering::Relaxed);
    }

    pub(super) fn commits(&self) -> u64 {
        self.commits.load(Ordering::Relaxed)
    }
}
