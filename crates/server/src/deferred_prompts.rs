//! Prompts that are delivered later. Until then they are documents; the id of their run is the key,
//! so that delivering one twice is one prompt.

use serde::{Deserialize, Serialize};
use windlass::core::log::ids::{LaneId, RunId, UnixMillis};
use windlass::core::message::content_block::ContentBlock;
use windlass::core::projection::RunDescription;
use windlass::core::settings::run_settings::RunSettings;
use windlass::core::stop::RunState;
use windlass::ports::{DocumentFilter, RunInfo, StoreError};
use windlass::{DriveError, PromptDelivery, Windlass};

use crate::documents::{self, DocumentBody, Stored};
use crate::time::now;

/// Prompts that are delivered in one pass.
const MAX_DELIVERED: usize = 64;

/// A prompt that waits for its time.
#[derive(Debug, Clone, Serialize, Deserialize, PartialEq)]
pub(crate) struct DeferredPrompt {
    pub(crate) lane: String,
    pub(crate) blocks: Vec<ContentBlock>,
    pub(crate) settings: Option<RunSettings>,
    /// When it was accepted.
    pub(crate) at_ms: u64,
}

impl DocumentBody for DeferredPrompt {
    const KIND: &'static str = "deferred_prompt";
}

impl DeferredPrompt {
    /// The run of the prompt, as lists show it.
    pub(crate) fn run_info(stored: &Stored<Self>) -> RunInfo {
        RunInfo {
            run: RunId::from(&*stored.key),
            lane: LaneId::from(stored.body.lane.as_str()),
            tenant: stored.tenant.clone(),
            state: RunState::Queued,
            cause: None,
            text: None,
            at: UnixMillis(stored.body.at_ms),
            resume_available: false,
            cancel_requested: false,
            description: RunDescription::from_prompt(&stored.body.blocks),
            usd_micros: None,
        }
    }
}

/// Delivers the prompts that are due; returns how many.
pub(crate) async fn deliver_due(windlass: &Windlass) -> Result<usize, DriveError> {
    let store = windlass.store();
    let filter = DocumentFilter::DueUntil(now());
    let due: Vec<Stored<DeferredPrompt>> =
        documents::list_page(store, None, filter, "", MAX_DELIVERED).await?;
    let mut delivered = 0;
    for prompt in due {
        match deliver(windlass, &prompt).await {
            // Another server may have delivered it at the same moment: it is one prompt.
            Ok(()) => delivered += usize::from(prompt.delete(store).await?),
            // It waits until the tenant has room.
            Err(DriveError::Store(StoreError::LimitReached { .. })) => {}
            // Its conversation was deleted.
            Err(DriveError::Store(StoreError::LaneNotFound { .. })) => {
                prompt.delete(store).await?;
            }
            Err(error) => return Err(error),
        }
    }
    Ok(delivered)
}

async fn deliver(windlass: &Windlass, prompt: &Stored<DeferredPrompt>) -> Result<(), DriveError> {
    let session = windlass.session(prompt.body.lane.as_str());
    let run = RunId::from(&*prompt.key);
    let settings = prompt.body.settings.clone().map(Box::new);
    let (tenant, blocks) = (&prompt.tenant, prompt.body.blocks.clone());
    let queue = PromptDelivery::Queue { settings };
    Box::pin(windlass.accept_prompt_of(tenant, &session, &run, blocks, queue)).await.map(drop)
}

/// Returns the deferred prompt of a run.
pub(crate) async fn find_deferred(
    windlass: &Windlass,
    run: &str,
) -> Result<Option<Stored<DeferredPrompt>>, StoreError> {
    documents::find_document(windlass.store(), run).await
}
