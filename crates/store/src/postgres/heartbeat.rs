//! The heartbeat connection: reserved for heartbeats, so that a busy process can still show that it
//! is alive.

use std::sync::Arc;

use tokio::sync::Mutex;
use tokio::time::timeout;
use windlass_runtime::ports::{StoreError, WorkerId};

use super::backoff::ReconnectBackoff;
use super::claim;
use super::config::ServerConfig;
use super::connection::PgConnection;
use super::error::{PgError, unreachable_error};

pub(super) struct HeartbeatConnection {
    config: Arc<ServerConfig>,
    connection: Mutex<Option<PgConnection>>,
}

impl HeartbeatConnection {
    pub(super) fn new(config: Arc<ServerConfig>, link: PgConnection) -> Self {
        Self { config, connection: Mutex::new(Some(link)) }
    }

    /// Sends a heartbeat until it is acknowledged or the retry timeout elapses. A heartbeat that
    /// lands twice is harmless: both show that the worker is alive.
    pub(super) async fn send_heartbeat(&self, worker: &WorkerId) -> Result<(), StoreError> {
        let mut last =
            unreachable_error(self.config.location(), "it was never tried".to_owned()).into_error();
        let beating = async {
            let mut link = self.connection.lock().await;
            let mut pauses = ReconnectBackoff::new();
            loop {
                match self.try_send(&mut link, worker).await {
                    Ok(()) => return Ok(()),
                    Err(PgError::ConnectionLost(error) | PgError::Retry(error)) => last = error,
                    Err(other) => return Err(other.into_error()),
                }
                *link = None;
                pauses.wait_next().await;
            }
        };
        match timeout(self.config.settings.retry_timeout, beating).await {
            Ok(answer) => answer,
            Err(_) => Err(last),
        }
    }

    async fn try_send(
        &self,
        kept: &mut Option<PgConnection>,
        worker: &WorkerId,
    ) -> Result<(), PgError> {
        let link = match kept {
            Some(link) => link,
            none => none.insert(PgConnection::connect(&self.config).await?),
        };
        claim::record_heartbeat(link, worker).await
    }
}
