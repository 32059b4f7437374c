//! The operations of what a server keeps beside conversations.

use super::super::{DocumentBuilder, Operation};
use super::{get, post};
use crate::files::{FileView, NewFile};
use crate::schedules::{NewSchedule, ScheduleView};
use crate::tenants::{LimitsBody, TenantView};
use crate::token_registry::TokenInfo;
use crate::tokens::{CreatedToken, TokenRequest};
use crate::views::{ListParameters, Page};
use crate::webhooks::{CreatedWebhook, DeliveryView, NewWebhook, WebhookView};

pub(super) fn describe_administration(document: &mut DocumentBuilder) {
    describe_tokens(document);
    describe_files(document);
    describe_webhooks(document);
    describe_schedules(document);
}

fn delete(path: &'static str, summary: &'static str) -> Operation {
    Operation { method: "delete", success: (204, None), ..get(path, summary) }
}

fn put(path: &'static str, summary: &'static str) -> Operation {
    Operation { method: "put", ..get(path, summary) }
}

fn describe_tokens(document: &mut DocumentBuilder) {
    get("/v1/tokens", "Lists the tokens of the tenant")
        .returns::<Page<TokenInfo>>(document)
        .add_to(document);
    post("/v1/tokens", "Creates a token", 201)
        .takes::<TokenRequest>(document)
        .returns::<CreatedToken>(document)
        .add_to(document);
    delete("/v1/tokens/{token_id}", "Revokes a token").add_to(document);
    get("/v1/tenants", "Lists the tenants that have limits")
        .returns::<Page<TenantView>>(document)
        .add_to(document);
    put("/v1/tenants/{tenant}", "Sets the limits of a tenant")
        .takes::<LimitsBody>(document)
        .returns::<TenantView>(document)
        .add_to(document);
}

fn describe_files(document: &mut DocumentBuilder) {
    get("/v1/files", "Lists files, oldest first")
        .with_query::<ListParameters>(document)
        .returns::<Page<FileView>>(document)
        .add_to(document);
    post("/v1/files", "Uploads a file for prompts", 201)
        .takes::<NewFile>(document)
        .returns::<FileView>(document)
        .add_to(document);
    get("/v1/files/{file_id}", "Shows a file").returns::<FileView>(document).add_to(document);
    delete("/v1/files/{file_id}", "Deletes a file").add_to(document);
}

fn describe_webhooks(document: &mut DocumentBuilder) {
    get("/v1/webhooks", "Lists webhooks, oldest first")
        .with_query::<ListParameters>(document)
        .returns::<Page<WebhookView>>(document)
        .add_to(document);
    post("/v1/webhooks", "Adds a webhook", 201)
        .takes::<NewWebhook>(document)
        .returns::<CreatedWebhook>(document)
        .add_to(document);
    let path = "/v1/webhooks/{webhook_id}";
    get(path, "Shows a webhook").returns::<WebhookView>(document).add_to(document);
    delete(path, "Deletes a webhook").add_to(document);
    get("/v1/webhooks/{webhook_id}/deliveries", "Lists the messages to a webhook, oldest first")
        .with_query::<ListParameters>(document)
        .returns::<Page<DeliveryView>>(document)
        .add_to(document);
    let path = "/v1/webhooks/{webhook_id}/deliveries/{delivery_id}/retry";
    post(path, "Sends a message to a webhook again", 202).add_to(document);
}

fn describe_schedules(document: &mut DocumentBuilder) {
    get("/v1/schedules", "Lists schedules, oldest first")
        .with_query::<ListParameters>(document)
        .returns::<Page<ScheduleView>>(document)
        .add_to(document);
    post("/v1/schedules", "Adds a schedule", 201)
        .takes::<NewSchedule>(document)
        .returns::<ScheduleView>(document)
        .add_to(document);
    let path = "/v1/schedules/{schedule_id}";
    get(path, "Shows a schedule").returns::<ScheduleView>(document).add_to(document);
    put(path, "Replaces a schedule")
        .takes::<NewSchedule>(document)
        .returns::<ScheduleView>(document)
        .add_to(document);
    delete(path, "Deletes a schedule").add_to(document);
}
