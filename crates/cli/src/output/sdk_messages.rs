//! Shapes of SDK messages. When they are written is not decided here.

use serde_json::{Value, json};
use windlass::core::call::call_state::Call;
use windlass::core::call::outcome::{CallResult, ToolOutcome};
use windlass::core::log::ids::UnixMillis;
use windlass::core::log::input::Input;
use windlass::core::message::content_block::ContentBlock;
use windlass::core::message::raw_json::RawJson;
use windlass::core::message::reply::TokenUsage;
use windlass::tools::sdk_result;

use crate::setup;
use crate::terminal::time_format::format_iso;

/// One block of a reply: `of` is the model and the message.
pub(super) fn assistant_block(
    block: &ContentBlock,
    of: (&str, &str),
    used: &TokenUsage,
    at: UnixMillis,
) -> Value {
    let content: Value = block.raw().read().unwrap_or_default();
    let (model, id) = of;
    let mut message = assistant_message(id, model, content, used, at);
    set_field(&mut message, "stop_reason", Value::Null);
    set_field(&mut message, "stop_sequence", Value::Null);
    message
}

/// A text that is not from the model.
pub(super) fn synthetic_text(text: &str, at: UnixMillis) -> Value {
    let content = json!({"type": "text", "text": text});
    let mut message =
        assistant_message(&setup::new_id(), "<synthetic>", content, &TokenUsage::default(), at);
    set_field(&mut message, "stop_reason", json!("stop_sequence"));
    set_field(&mut message, "stop_sequence", json!(""));
    message
}

fn assistant_message(
    id: &str,
    model: &str,
    content: Value,
    used: &TokenUsage,
    at: UnixMillis,
) -> Value {
    json!({
        "type": "assistant",
        "message": {
            "id": id,
            "type": "message",
            "role": "assistant",
            "model": model,
            "content": [content],
            "usage": usage_fields(used),
        },
        "parent_tool_use_id": null,
        "timestamp": format_iso(at),
    })
}

fn set_field(message: &mut Value, name: &str, value: Value) {
    if let Some(fields) = message.get_mut("message").and_then(Value::as_object_mut) {
        fields.insert(name.to_owned(), value);
    }
}

/// The result of a call, with the tool's details for observers.
pub(super) fn tool_result_message(
    call: &Call,
    shown: &CallResult,
    detail: Option<&RawJson>,
    at: UnixMillis,
) -> Value {
    let content: Value = shown.content.read().unwrap_or_default();
    let is_error = !call.has_succeeded();
    let result = match is_error {
        true => json!(format!("Error: {}", content.as_str().unwrap_or_default())),
        false => {
            let outcome = to_outcome(shown.content.clone(), detail.cloned());
            let shaped = sdk_result(&call.tool_use.name, &call.tool_use.input, &outcome);
            shaped.unwrap_or_else(|| content.clone())
        }
    };
    json!({
        "type": "user",
        "message": {
            "role": "user",
            "content": [{
                "type": "tool_result",
                "tool_use_id": call.tool_use.id,
                "content": content,
                "is_error": is_error,
            }],
        },
        "parent_tool_use_id": null,
        "timestamp": format_iso(at),
        "tool_use_result": result,
    })
}

fn to_outcome(content: RawJson, detail: Option<RawJson>) -> ToolOutcome {
    match detail {
        Some(detail) => ToolOutcome::DoneWithDetail { content, detail },
        None => ToolOutcome::Done(content),
    }
}

/// Why the context was compacted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CompactTrigger {
    /// A person requested it.
    Manual,
    /// The context was nearly full.
    Auto,
}

/// The boundary where old messages were replaced by a summary or a note. Shortened results are not
/// reported: nothing is summarized, and the messages stay where they are.
pub(super) fn compact_boundary(trigger: CompactTrigger, before: u64, after: u64) -> Value {
    let trigger = match trigger {
        CompactTrigger::Manual => "manual",
        CompactTrigger::Auto => "auto",
    };
    json!({
        "type": "system",
        "subtype": "compact_boundary",
        "compact_metadata": {
            "trigger": trigger,
            "pre_tokens": before,
            "post_tokens": after,
        },
    })
}

/// A failed model call that will be retried.
pub(super) fn api_retry(input: &Input, failures: u32, most: Option<u32>, after_ms: u64) -> Value {
    let status = error_status(input);
    json!({
        "type": "system",
        "subtype": "api_retry",
        "attempt": failures,
        "max_retries": most,
        "retry_delay_ms": after_ms,
        "error_status": status,
        "error": error_name(status),
    })
}

/// The name of an error by its HTTP status.
fn error_name(status: Option<u16>) -> &'static str {
    match status {
        Some(429) => "rate_limit",
        Some(529) => "overloaded",
        Some(500..) => "server_error",
        Some(_) | None => "unknown",
    }
}

/// The HTTP status at the beginning of an error message, if a server responded at all.
fn error_status(input: &Input) -> Option<u16> {
    let Input::ModelFailed { failure, .. } = input else { return None };
    let first = failure.message.split(|c: char| !c.is_ascii_digit()).next()?;
    first.parse().ok().filter(|status| (400..600).contains(status))
}

/// A switch to the fallback model.
pub(super) fn model_fallback(input: &Input, from: &str, to: Option<&str>, reason: &str) -> Value {
    json!({
        "type": "system",
        "subtype": "model_fallback",
        "trigger": error_name(error_status(input)),
        "original_model": from,
        "fallback_model": to,
        "content": reason,
    })
}

/// Token counts under the names of the API.
pub(super) fn usage_fields(usage: &TokenUsage) -> Value {
    json!({
        "input_tokens": usage.input_tokens,
        "output_tokens": usage.output_tokens,
        "cache_read_input_tokens": usage.cache_read_tokens,
        "cache_creation_input_tokens": usage.cache_write_tokens,
    })
}

#[cfg(test)]
#[path = "sdk_messages_tests.rs"]
mod sdk_messages_tests;
