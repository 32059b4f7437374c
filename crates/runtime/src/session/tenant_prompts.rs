//! Prompts of tenants, accepted within their limits.

use std::sync::Arc;

use windlass_core::log::ids::RunId;
use windlass_core::log::inbox::InboxCommand;
use windlass_core::message::content_block::ContentBlock;
use windlass_core::settings::run_settings::RunSettings;

use super::{Session, check_run_id};
use crate::ports::{Affinity, OutboxMessage, StoreError};

impl Session {
    /// Enqueues a prompt of a tenant under a run id that the caller generated, like
    /// [`Session::enqueue_as`], within the limits of the tenant. A new conversation belongs to the
    /// tenant.
    ///
    /// # Errors
    ///
    /// Returns [`StoreError::LimitReached`] if the tenant has reached a limit,
    /// [`StoreError::LaneNotFound`] if the conversation belongs to another tenant,
    /// [`StoreError::Invalid`] if the id is not a UUID, and another [`StoreError`] if the store
    /// fails.
    pub async fn enqueue_for_tenant(
        &self,
        tenant: &str,
        run: &RunId,
        blocks: Vec<ContentBlock>,
        settings: Option<RunSettings>,
    ) -> Result<(), StoreError> {
        check_run_id(run)?;
        let idempotency_key = Arc::from(format!("prompt:{run}"));
        let settings = settings.map(Arc::new);
        let body = InboxCommand::Prompt { run: run.clone(), blocks, settings };
        let message = OutboxMessage { idempotency_key, body };
        let store = &self.host.agent().ports.store;
        store.enqueue_prompt(self.lane.clone(), self.affinity_of(tenant), message).await?;
        self.host.notify_lane(&self.lane);
        Ok(())
    }

    /// Registers the conversation for a tenant, if it is new.
    ///
    /// # Errors
    ///
    /// Returns a [`StoreError`] if the store fails.
    pub async fn register_for_tenant(&self, tenant: &str) -> Result<(), StoreError> {
        let store = &self.host.agent().ports.store;
        store.register_lane(self.lane.clone(), self.affinity_of(tenant)).await
    }

    fn affinity_of(&self, tenant: &str) -> Affinity {
        Affinity { tenant: Arc::from(tenant), ..self.host.agents().new_lane_affinity() }
    }
}
