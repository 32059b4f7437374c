//! Webhooks: addresses that are told when a run ends or waits for a human.

use std::sync::Arc;

use axum::extract::{Path, State};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use windlass::core::log::ids::UnixMillis;
use windlass::messages::format_iso_time;
use windlass::ports::{DocumentFilter, Store, WEBHOOK_KIND};

use crate::body::{ApiBody, ApiQuery};
use crate::caller::Caller;
use crate::documents::{self, DocumentBody, Stored};
use crate::json::ApiJson;
use crate::problem::{Problem, ProblemCode};
use crate::router::ApiState;
use crate::time::now;
use crate::token::random_bytes;
use crate::views::{ListParameters, Page, document_page};
use crate::webhook_deliveries::{DeliveryRecord, DeliveryStatus};

/// The most webhooks of a tenant.
const MAX_WEBHOOKS: usize = 50;

/// The shortest time between two reminders.
const MIN_REMINDER_SECONDS: u64 = 60;

/// The longest time between two reminders.
const MAX_REMINDER_SECONDS: u64 = 7 * 24 * 3_600;

/// The beginning of every secret, by which scanners know it.
const SECRET_PREFIX: &str = "whsec_";

/// What a webhook is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub(crate) enum WebhookEvent {
    /// A run completed, or was cancelled.
    #[serde(rename = "run.finished")]
    Finished,
    /// A run ended without completing.
    #[serde(rename = "run.failed")]
    Failed,
    /// A run waits for a human.
    #[serde(rename = "run.waiting")]
    Waiting,
}

impl WebhookEvent {
    /// The name of the event.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Finished => "run.finished",
            Self::Failed => "run.failed",
            Self::Waiting => "run.waiting",
        }
    }
}

/// A webhook to be added.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct NewWebhook {
    /// The address, `https://…`; other addresses than public ones only if the server allows them.
    url: String,
    /// What it is told; everything if not given.
    #[serde(default)]
    events: Vec<WebhookEvent>,
    /// Tells it again that a run waits, after so many seconds, as long as it does; at most ten times.
    #[serde(default)]
    remind_after_seconds: Option<u64>,
}

/// A webhook.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct WebhookView {
    /// Identifies the webhook.
    webhook_id: String,
    /// The address.
    url: String,
    /// What it is told.
    events: Vec<WebhookEvent>,
    /// The time between reminders, in seconds.
    remind_after_seconds: Option<u64>,
    /// When it was added, in ISO 8601.
    created_at: String,
}

/// A webhook that was added.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct CreatedWebhook {
    /// The secret that deliveries are signed with. It cannot be read again.
    secret: String,
    /// Identifies the webhook.
    webhook_id: String,
    /// The address.
    url: String,
    /// What it is told.
    events: Vec<WebhookEvent>,
    /// The time between reminders, in seconds.
    remind_after_seconds: Option<u64>,
    /// When it was added, in ISO 8601.
    created_at: String,
}

impl CreatedWebhook {
    fn new(secret: String, view: WebhookView) -> Self {
        let WebhookView { webhook_id, url, events, remind_after_seconds, created_at } = view;
        Self { secret, webhook_id, url, events, remind_after_seconds, created_at }
    }
}

/// A message to a webhook.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct DeliveryView {
    /// Identifies the message: the header `webhook-id`.
    delivery_id: String,
    /// What it tells.
    event: WebhookEvent,
    /// The run that it is about.
    run_id: String,
    /// What became of it.
    status: DeliveryStatus,
    /// How often it was sent.
    attempts: u32,
    /// When it is sent again, in ISO 8601.
    next_attempt_at: Option<String>,
    /// Why the last attempt failed.
    last_error: Option<String>,
    /// When the run changed, in ISO 8601.
    created_at: String,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct WebhookRecord {
    pub(crate) url: String,
    pub(crate) events: Vec<WebhookEvent>,
    pub(crate) secret: String,
    pub(crate) remind_after_seconds: Option<u64>,
    pub(crate) created_at_ms: u64,
}

impl DocumentBody for WebhookRecord {
    const KIND: &'static str = WEBHOOK_KIND;
}

impl WebhookRecord {
    /// Returns whether it is told an event.
    pub(crate) fn wants(&self, event: WebhookEvent) -> bool {
        self.events.is_empty() || self.events.contains(&event)
    }

    /// The key of signatures: the secret is its base64.
    pub(crate) fn signing_key(&self) -> Vec<u8> {
        let encoded = self.secret.strip_prefix(SECRET_PREFIX).unwrap_or(&self.secret);
        STANDARD.decode(encoded).unwrap_or_default()
    }
}

impl WebhookView {
    fn new(stored: &Stored<WebhookRecord>) -> Self {
        let record = stored.body.clone();
        let all = [WebhookEvent::Finished, WebhookEvent::Failed, WebhookEvent::Waiting];
        Self {
            webhook_id: stored.key.to_string(),
            url: record.url,
            events: if record.events.is_empty() { all.to_vec() } else { record.events },
            remind_after_seconds: record.remind_after_seconds,
            created_at: format_iso_time(UnixMillis(record.created_at_ms)),
        }
    }
}

impl DeliveryView {
    fn new(stored: &Stored<DeliveryRecord>) -> Self {
        let record = stored.body.clone();
        let is_open = record.status == DeliveryStatus::Pending;
        Self {
            delivery_id: record.delivery_id,
            event: record.event,
            run_id: record.run_id,
            status: record.status,
            attempts: record.attempts,
            next_attempt_at: stored.due_at.filter(|_| is_open).map(format_iso_time),
            last_error: record.last_error,
            created_at: format_iso_time(UnixMillis(record.at_ms)),
        }
    }
}

/// `POST /v1/webhooks`.
pub(crate) async fn create_webhook(
    State(state): State<ApiState>,
    caller: Caller,
    ApiBody(body): ApiBody<NewWebhook>,
) -> Result<Response, Problem> {
    let range = MIN_REMINDER_SECONDS..=MAX_REMINDER_SECONDS;
    if body.remind_after_seconds.is_some_and(|seconds| !range.contains(&seconds)) {
        return Err(Problem::invalid(format!(
            "`remind_after_seconds` takes {MIN_REMINDER_SECONDS} to {MAX_REMINDER_SECONDS}"
        )));
    }
    let checking = state.outbound.check_address(&body.url);
    checking.await.map_err(|reason| Problem::invalid(format!("`url` is refused: {reason}")))?;
    let store = state.windlass.store();
    let tenant = caller.tenant_of_new();
    let known: Vec<Stored<WebhookRecord>> =
        documents::list_documents(store, Some(&tenant), DocumentFilter::All, MAX_WEBHOOKS).await?;
    if known.len() >= MAX_WEBHOOKS {
        let detail = format!("the tenant has {MAX_WEBHOOKS} webhooks already; delete some");
        return Err(Problem::new(ProblemCode::LimitReached, detail));
    }
    let random = random_bytes().map_err(|error| {
        Problem::new(ProblemCode::Internal, format!("cannot read random numbers: {error}"))
    })?;
    let secret = format!("{SECRET_PREFIX}{}", STANDARD.encode(random));
    let record = WebhookRecord {
        url: body.url,
        events: body.events,
        secret: secret.clone(),
        remind_after_seconds: body.remind_after_seconds,
        created_at_ms: now().0,
    };
    let key = uuid::Uuid::now_v7().to_string();
    let location = [(header::LOCATION, format!("/v1/webhooks/{key}"))];
    let stored = Stored::new(key, tenant, record);
    stored.insert(store).await?;
    let created = CreatedWebhook::new(secret, WebhookView::new(&stored));
    Ok((StatusCode::CREATED, location, ApiJson(created)).into_response())
}

/// `GET /v1/webhooks`.
pub(crate) async fn list_webhooks(
    State(state): State<ApiState>,
    caller: Caller,
    ApiQuery(given): ApiQuery<ListParameters>,
) -> Result<ApiJson<Page<WebhookView>>, Problem> {
    let store = state.windlass.store();
    let all = DocumentFilter::All;
    Ok(ApiJson(document_page(store, &caller, &given, all, WebhookView::new).await?))
}

async fn find_webhook(
    store: &dyn Store,
    caller: &Caller,
    id: &str,
) -> Result<Stored<WebhookRecord>, Problem> {
    let found = documents::find_document::<WebhookRecord>(store, id).await?;
    let found = found.filter(|webhook| caller.sees(&webhook.tenant));
    found.ok_or_else(|| Problem::not_found("webhook"))
}

/// `GET /v1/webhooks/{webhook_id}`.
pub(crate) async fn show_webhook(
    State(state): State<ApiState>,
    caller: Caller,
    Path(id): Path<String>,
) -> Result<ApiJson<WebhookView>, Problem> {
    let found = find_webhook(state.windlass.store(), &caller, &id).await?;
    Ok(ApiJson(WebhookView::new(&found)))
}

/// `DELETE /v1/webhooks/{webhook_id}`. What it was not told yet is not told any more.
pub(crate) async fn delete_webhook(
    State(state): State<ApiState>,
    caller: Caller,
    Path(id): Path<String>,
) -> Result<StatusCode, Problem> {
    let store = state.windlass.store();
    let found = find_webhook(store, &caller, &id).await?;
    store.delete_document(Arc::from(WebhookRecord::KIND), found.key, None).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// `GET /v1/webhooks/{webhook_id}/deliveries`, oldest first.
pub(crate) async fn list_deliveries(
    State(state): State<ApiState>,
    caller: Caller,
    Path(id): Path<String>,
    ApiQuery(given): ApiQuery<ListParameters>,
) -> Result<ApiJson<Page<DeliveryView>>, Problem> {
    let store = state.windlass.store();
    let found = find_webhook(store, &caller, &id).await?;
    let about = DocumentFilter::Subject(found.key);
    Ok(ApiJson(document_page(store, &caller, &given, about, DeliveryView::new).await?))
}

/// `POST /v1/webhooks/{webhook_id}/deliveries/{delivery_id}/retry`: sends a message again.
pub(crate) async fn retry_delivery(
    State(state): State<ApiState>,
    caller: Caller,
    Path((id, delivery)): Path<(String, String)>,
) -> Result<StatusCode, Problem> {
    let store = state.windlass.store();
    let webhook = find_webhook(store, &caller, &id).await?;
    let about = DocumentFilter::Subject(webhook.key);
    let found: Vec<Stored<DeliveryRecord>> =
        documents::list_documents(store, None, about, usize::MAX).await?;
    let found = found.into_iter().find(|it| it.body.delivery_id == delivery);
    let mut found = found.ok_or_else(|| Problem::not_found("delivery"))?;
    found.body.status = DeliveryStatus::Pending;
    found.body.attempts = 0;
    found.due_at = Some(now());
    found.replace(store).await?;
    Ok(StatusCode::ACCEPTED)
}
