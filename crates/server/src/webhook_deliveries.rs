//! Delivers messages to webhooks. A change of a run is in the store with the entry that made it; from
//! there it becomes one message per webhook, which is sent until it arrives or too many attempts
//! failed. Any server does each step; a step that two of them do has the effect of one.

use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use ring::hmac;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use sha2::{Digest, Sha256};
use windlass::core::log::ids::{LaneId, RunId, UnixMillis};
use windlass::core::stop::RunState;
use windlass::messages::format_iso_time;
use windlass::ports::{DocumentFilter, RUN_CHANGE_KIND, Store, StoreError};

use crate::documents::{self, DocumentBody, Stored};
use crate::outbound::Outbound;
use crate::time::now;
use crate::webhooks::{WebhookEvent, WebhookRecord};

#[cfg(test)]
#[path = "webhook_deliveries_tests.rs"]
mod webhook_deliveries_tests;

/// Documents that are handled in one pass.
const MAX_HANDLED: usize = 64;

/// Webhooks of a tenant that are told of a change.
const MAX_TOLD: usize = 1_000;

/// How often a message is sent before it is given up.
const MAX_ATTEMPTS: u32 = 12;

/// The pause after the first attempt; each further one is three times as long.
const FIRST_BACKOFF: Duration = Duration::from_secs(5);

/// The longest pause between two attempts.
const MAX_BACKOFF: Duration = Duration::from_secs(6 * 3_600);

/// How long an attempt is left to the server that makes it; after that another one makes it.
const ATTEMPT_LEASE: Duration = Duration::from_secs(60);

/// How long messages are listed after they were delivered or given up.
const KEPT_FOR: Duration = Duration::from_secs(30 * 24 * 3_600);

/// How often a webhook is reminded of a run that waits.
const MAX_REMINDERS: u32 = 10;

/// The largest text of an error that is kept.
const MAX_ERROR_BYTES: usize = 500;

/// What became of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum DeliveryStatus {
    /// It is sent, or will be.
    Pending,
    /// It arrived.
    Delivered,
    /// It was given up after too many attempts.
    Dead,
}

/// A change of a run, as the store left it.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct RunChange {
    run_id: String,
    lane: String,
    state: RunState,
    stop_cause: Option<String>,
    at_ms: u64,
}

impl DocumentBody for RunChange {
    const KIND: &'static str = RUN_CHANGE_KIND;
}

/// A message to a webhook.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct DeliveryRecord {
    pub(crate) delivery_id: String,
    pub(crate) event: WebhookEvent,
    pub(crate) run_id: String,
    pub(crate) status: DeliveryStatus,
    pub(crate) attempts: u32,
    pub(crate) last_error: Option<String>,
    pub(crate) at_ms: u64,
    /// The body that is sent, the same each time.
    payload: String,
}

impl DocumentBody for DeliveryRecord {
    const KIND: &'static str = "delivery";
}

/// A reminder of a run that waits.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Reminder {
    webhook: String,
    change: RunChange,
    nth: u32,
}

impl DocumentBody for Reminder {
    const KIND: &'static str = "reminder";
}

impl RunChange {
    fn event(&self) -> WebhookEvent {
        match self.state {
            RunState::WaitingOnHuman => WebhookEvent::Waiting,
            RunState::Completed | RunState::Cancelled => WebhookEvent::Finished,
            RunState::Queued
            | RunState::Running
            | RunState::WaitingOnProvider
            | RunState::Failed
            | RunState::TimedOut => WebhookEvent::Failed,
        }
    }

    /// The message about this change; the same change gives the same message.
    fn message(&self, change_key: &str, reminder: u32) -> DeliveryRecord {
        let hash = hex::encode(Sha256::digest(format!("{change_key} {reminder}").as_bytes()));
        let delivery_id = format!("msg_{}", hash.get(..32).unwrap_or(&hash));
        let payload = json!({
            "type": self.event().as_str(),
            "timestamp": format_iso_time(UnixMillis(self.at_ms)),
            "data": {
                "run_id": self.run_id,
                "conversation_id": LaneId::from(self.lane.as_str()).session_id(),
                "state": self.state,
                "stop_cause": self.stop_cause,
                "reminder": reminder,
            },
        });
        DeliveryRecord {
            delivery_id,
            event: self.event(),
            run_id: self.run_id.clone(),
            status: DeliveryStatus::Pending,
            attempts: 0,
            last_error: None,
            at_ms: self.at_ms,
            payload: payload.to_string(),
        }
    }
}

/// Turns changes of runs into messages; returns how many changes there were. A change is deleted
/// after its messages are stored.
pub(crate) async fn create_messages(store: &dyn Store) -> Result<usize, StoreError> {
    let changes: Vec<Stored<RunChange>> =
        documents::list_page(store, None, DocumentFilter::All, "", MAX_HANDLED).await?;
    for change in &changes {
        let tenant = Some(&change.tenant);
        let webhooks: Vec<Stored<WebhookRecord>> =
            documents::list_documents(store, tenant, DocumentFilter::All, MAX_TOLD).await?;
        let event = change.body.event();
        for webhook in webhooks.iter().filter(|webhook| webhook.body.wants(event)) {
            add_message(store, webhook, &change.body, (&change.key, 0)).await?;
        }
        change.delete(store).await?;
    }
    Ok(changes.len())
}

/// Stores a message to a webhook, and the reminder that may follow it.
async fn add_message(
    store: &dyn Store,
    webhook: &Stored<WebhookRecord>,
    change: &RunChange,
    (change_key, nth): (&str, u32),
) -> Result<(), StoreError> {
    let message = change.message(change_key, nth);
    let key = format!("{}/{}/{}", webhook.key, change.at_ms, message.delivery_id);
    let stored = Stored::new(key.as_str(), webhook.tenant.clone(), message);
    stored.about(webhook.key.clone()).due(now()).insert(store).await?;
    let after = webhook.body.remind_after_seconds.filter(|_| nth < MAX_REMINDERS);
    if let (Some(seconds), WebhookEvent::Waiting) = (after, change.event()) {
        let webhook_key = webhook.key.to_string();
        let reminder = Reminder { webhook: webhook_key, change: change.clone(), nth: nth + 1 };
        let key = format!("{}/{change_key}/{}", webhook.key, nth + 1);
        let due_at = UnixMillis(now().0.saturating_add(seconds.saturating_mul(1_000)));
        Stored::new(key, webhook.tenant.clone(), reminder).due(due_at).insert(store).await?;
    }
    Ok(())
}

/// Reminds of runs that still wait.
pub(crate) async fn remind(store: &dyn Store) -> Result<usize, StoreError> {
    let filter = DocumentFilter::DueUntil(now());
    let due: Vec<Stored<Reminder>> =
        documents::list_page(store, None, filter, "", MAX_HANDLED).await?;
    for reminder in &due {
        let Reminder { webhook, change, nth } = &reminder.body;
        let webhook = documents::find_document::<WebhookRecord>(store, webhook).await?;
        let run = store.find_run(RunId::from(change.run_id.as_str())).await?;
        let is_waiting = run.is_some_and(|run| run.state == RunState::WaitingOnHuman);
        if let Some(webhook) = webhook.filter(|_| is_waiting) {
            let key = format!("{}@{}", change.run_id, change.at_ms);
            add_message(store, &webhook, change, (&key, *nth)).await?;
        }
        reminder.delete(store).await?;
    }
    Ok(due.len())
}

/// What a pass has sent.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(crate) struct SentMessages {
    pub(crate) delivered: u64,
    pub(crate) failed: u64,
    pub(crate) dead: u64,
}

/// Sends the messages that are due, at the same time: an address that does not answer delays no
/// other one. Messages that are old enough are deleted.
pub(crate) async fn send_due(
    store: &dyn Store,
    outbound: &dyn Outbound,
) -> Result<SentMessages, StoreError> {
    let filter = DocumentFilter::DueUntil(now());
    let due: Vec<Stored<DeliveryRecord>> =
        documents::list_page(store, None, filter, "", MAX_HANDLED).await?;
    let sending = due.into_iter().map(|message| send(store, outbound, message));
    let mut sent = SentMessages::default();
    for outcome in futures_util::future::join_all(sending).await {
        match outcome? {
            Some(DeliveryStatus::Delivered) => sent.delivered += 1,
            Some(DeliveryStatus::Pending) => sent.failed += 1,
            Some(DeliveryStatus::Dead) => sent.dead += 1,
            None => {}
        }
    }
    Ok(sent)
}

/// Sends a message once; `None` if another server does, or there is nothing to send.
async fn send(
    store: &dyn Store,
    outbound: &dyn Outbound,
    mut message: Stored<DeliveryRecord>,
) -> Result<Option<DeliveryStatus>, StoreError> {
    if message.body.status != DeliveryStatus::Pending {
        message.delete(store).await?;
        return Ok(None);
    }
    let webhook = documents::find_document::<WebhookRecord>(store, &message.subject).await?;
    let Some(webhook) = webhook else {
        message.delete(store).await?;
        return Ok(None);
    };
    message.body.attempts += 1;
    message.due_at = Some(later(ATTEMPT_LEASE));
    // Only the server that raises the count sends.
    if !message.replace(store).await? {
        return Ok(None);
    }
    message.version += 1;
    let outcome = attempt(outbound, &webhook.body, &message.body).await;
    let (status, due_at) = match &outcome {
        Ok(()) => (DeliveryStatus::Delivered, later(KEPT_FOR)),
        Err(_) if message.body.attempts >= MAX_ATTEMPTS => (DeliveryStatus::Dead, later(KEPT_FOR)),
        Err(_) => (DeliveryStatus::Pending, later(backoff(message.body.attempts))),
    };
    message.body.status = status;
    message.body.last_error = outcome.err();
    message.due_at = Some(due_at);
    message.replace(store).await?;
    Ok(Some(status))
}

async fn attempt(
    outbound: &dyn Outbound,
    webhook: &WebhookRecord,
    message: &DeliveryRecord,
) -> Result<(), String> {
    let seconds = now().0 / 1_000;
    let headers = vec![
        ("content-type", "application/json".to_owned()),
        ("webhook-id", message.delivery_id.clone()),
        ("webhook-timestamp", seconds.to_string()),
        ("webhook-signature", sign(webhook, message, seconds)),
    ];
    let body = message.payload.clone().into_bytes();
    let status = outbound.post(&webhook.url, headers, body).await.map_err(bounded)?;
    match (200..300).contains(&status) {
        true => Ok(()),
        false => Err(format!("the address answered with status {status}")),
    }
}

fn bounded(mut text: String) -> String {
    let mut end = text.len().min(MAX_ERROR_BYTES);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    text.truncate(end);
    text
}

/// The signature of a message, as Standard Webhooks has it: HMAC-SHA256 of id, time and body.
fn sign(webhook: &WebhookRecord, message: &DeliveryRecord, seconds: u64) -> String {
    let key = hmac::Key::new(hmac::HMAC_SHA256, &webhook.signing_key());
    let signed = format!("{}.{seconds}.{}", message.delivery_id, message.payload);
    format!("v1,{}", STANDARD.encode(hmac::sign(&key, signed.as_bytes())))
}

fn backoff(attempts: u32) -> Duration {
    let factor = 3_u32.saturating_pow(attempts.saturating_sub(1));
    FIRST_BACKOFF.saturating_mul(factor).min(MAX_BACKOFF)
}

fn later(after: Duration) -> UnixMillis {
    let ms = u64::try_from(after.as_millis()).unwrap_or(u64::MAX);
    UnixMillis(now().0.saturating_add(ms))
}
