//! Shows and deletes conversations, and lists their messages.

use axum::extract::{Path, State};
use axum::http::StatusCode;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use windlass::core::log::ids::RunId;
use windlass::messages::{
    LogItem, LogPosition, Message, MessageLog, MessageOptions, format_iso_time,
};
use windlass::ports::StoreError;

use crate::body::ApiQuery;
use crate::caller::Caller;
use crate::json::ApiJson;
use crate::lookup;
use crate::problem::{Problem, ProblemCode};
use crate::router::ApiState;
use crate::runs::check_limit;
use crate::views::{ConversationView, Page};

/// Which messages are listed.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct MessageListParameters {
    /// Messages at most, 1 to 500 (50 if not given).
    limit: Option<usize>,
    /// Continues after this position, which a list or a stream gave.
    cursor: Option<String>,
}

/// A message with its place in the conversation.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct PlacedMessage {
    /// Where the message stands in the log, `ENTRY.PLACE`.
    pub(crate) position: String,
    /// When it was recorded, in ISO 8601.
    pub(crate) at: String,
    /// The run that it belongs to.
    pub(crate) run_id: Option<String>,
    /// The message, as in `messages.schema.json`.
    pub(crate) message: Message,
}

/// The messages that programs read: prompts included, so that a reader has the whole conversation.
pub(crate) fn message_options() -> MessageOptions {
    MessageOptions { prompts: true, sub_agent_text: true, ..MessageOptions::default() }
}

/// `GET /v1/conversations/{conversation_id}`.
pub(crate) async fn show_conversation(
    State(state): State<ApiState>,
    caller: Caller,
    Path(id): Path<String>,
) -> Result<ApiJson<ConversationView>, Problem> {
    Ok(ApiJson(ConversationView::new(&lookup::find_conversation(&state, &caller, &id).await?)))
}

/// `DELETE /v1/conversations/{conversation_id}`.
pub(crate) async fn delete_conversation(
    State(state): State<ApiState>,
    caller: Caller,
    Path(id): Path<String>,
) -> Result<StatusCode, Problem> {
    let lane = lookup::find_conversation(&state, &caller, &id).await?.lane;
    match state.windlass.session(lane).delete().await {
        Ok(_) => Ok(StatusCode::NO_CONTENT),
        Err(error @ (StoreError::Invalid { .. } | StoreError::Busy { .. })) => {
            Err(Problem::new(ProblemCode::ConversationInUse, error.to_string()))
        }
        Err(error) => Err(error.into()),
    }
}

/// `GET /v1/conversations/{conversation_id}/messages`.
pub(crate) async fn list_messages(
    State(state): State<ApiState>,
    caller: Caller,
    Path(id): Path<String>,
    ApiQuery(given): ApiQuery<MessageListParameters>,
) -> Result<ApiJson<Page<PlacedMessage>>, Problem> {
    let limit = check_limit(given.limit)?;
    let after = parse_position("cursor", given.cursor.as_deref())?;
    let lane = lookup::find_conversation(&state, &caller, &id).await?.lane;
    let session = state.windlass.session(lane);
    let mut log = Box::pin(MessageLog::open(&session, after, message_options())).await?;
    let mut data: Vec<PlacedMessage> = Vec::new();
    let mut has_more = false;
    while !has_more {
        let items = log.read_page(limit).await?;
        if items.is_empty() {
            break;
        }
        let mut messages = items.into_iter().filter_map(placed_message);
        data.extend(messages.by_ref().take(limit - data.len()));
        has_more = messages.next().is_some();
    }
    let last = data.last().filter(|_| has_more);
    let next_cursor = last.map(|message| message.position.clone());
    Ok(ApiJson(Page { data, next_cursor }))
}

/// The position in a parameter or header.
pub(crate) fn parse_position(name: &str, given: Option<&str>) -> Result<LogPosition, Problem> {
    let parse = |text: &str| {
        text.parse().map_err(|error| Problem::invalid(format!("`{name}` is not valid: {error}")))
    };
    given.map_or(Ok(LogPosition::default()), parse)
}

fn placed_message(item: LogItem) -> Option<PlacedMessage> {
    match item {
        LogItem::Message { position, at, run, message } => Some(PlacedMessage {
            position: position.to_string(),
            at: format_iso_time(at),
            run_id: run.as_ref().map(RunId::to_string),
            message: *message,
        }),
        LogItem::State { .. } | LogItem::Live(_) => None,
    }
}
