//! What the messages for programs look like. When they are told is not decided here.

use serde_json::{Value, json};
use windlass::core::block::Block;
use windlass::core::call::Call;
use windlass::core::ids::Millis;
use windlass::core::input::Input;
use windlass::core::outcome::{Outcome, Shown};
use windlass::core::raw::Raw;
use windlass::core::reply::Usage;
use windlass::tools::shape;

use crate::look::time::iso;
use crate::setup;

/// One block of a reply: `of` is the model and the message.
pub(super) fn block(block: &Block, of: (&str, &str), used: &Usage, at: Millis) -> Value {
    let content: Value = block.raw().read().unwrap_or_default();
    let (model, id) = of;
    let mut message = assistant(id, model, content, used, at);
    put(&mut message, "stop_reason", Value::Null);
    put(&mut message, "stop_sequence", Value::Null);
    message
}

/// Words that no model said.
pub(super) fn said(text: &str, at: Millis) -> Value {
    let content = json!({"type": "text", "text": text});
    let mut message = assistant(&setup::new_id(), "<synthetic>", content, &Usage::default(), at);
    put(&mut message, "stop_reason", json!("stop_sequence"));
    put(&mut message, "stop_sequence", json!(""));
    message
}

fn assistant(id: &str, model: &str, content: Value, used: &Usage, at: Millis) -> Value {
    json!({
        "type": "assistant",
        "message": {
            "id": id,
            "type": "message",
            "role": "assistant",
            "model": model,
            "content": [content],
            "usage": usage(used),
        },
        "parent_tool_use_id": null,
        "timestamp": iso(at),
    })
}

fn put(message: &mut Value, name: &str, value: Value) {
    if let Some(fields) = message.get_mut("message").and_then(Value::as_object_mut) {
        fields.insert(name.to_owned(), value);
    }
}

/// The result of a call, with what the tool tells those who watch.
pub(super) fn tool_result(call: &Call, shown: &Shown, detail: Option<&Raw>, at: Millis) -> Value {
    let content: Value = shown.content.read().unwrap_or_default();
    let is_error = !call.has_worked();
    let result = match is_error {
        true => json!(format!("Error: {}", content.as_str().unwrap_or_default())),
        false => {
            let outcome = outcome(shown.content.clone(), detail.cloned());
            let shaped = shape(&call.tool_use.name, &call.tool_use.input, &outcome);
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
        "timestamp": iso(at),
        "tool_use_result": result,
    })
}

fn outcome(content: Raw, detail: Option<Raw>) -> Outcome {
    match detail {
        Some(detail) => Outcome::Detailed { content, detail },
        None => Outcome::Done(content),
    }
}

/// Why room was made in the context.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Trigger {
    /// Somebody asked for it.
    Manual,
    /// The context was nearly full.
    Auto,
}

/// Old messages were replaced by a summary or a note. Results that are only shortened are not told:
/// nothing is summarised, and the messages stay where they are.
pub(super) fn compacted(trigger: Trigger, before: u64, after: u64) -> Value {
    let trigger = match trigger {
        Trigger::Manual => "manual",
        Trigger::Auto => "auto",
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

/// A model call failed and will be made again.
pub(super) fn retry(input: &Input, failures: u32, most: Option<u32>, after_ms: u64) -> Value {
    let status = status(input);
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

/// The name of a failure by its status.
fn error_name(status: Option<u16>) -> &'static str {
    match status {
        Some(429) => "rate_limit",
        Some(529) => "overloaded",
        Some(500..) => "server_error",
        Some(_) | None => "unknown",
    }
}

/// The status that a failure begins with, if a server answered at all.
fn status(input: &Input) -> Option<u16> {
    let Input::ModelFailed { failure, .. } = input else { return None };
    let first = failure.message.split(|c: char| !c.is_ascii_digit()).next()?;
    first.parse().ok().filter(|status| (400..600).contains(status))
}

/// Another model is asked.
pub(super) fn fell_back(input: &Input, from: &str, to: Option<&str>, why: &str) -> Value {
    json!({
        "type": "system",
        "subtype": "model_fallback",
        "trigger": error_name(status(input)),
        "original_model": from,
        "fallback_model": to,
        "content": why,
    })
}

/// Tokens under the names of the API.
pub(super) fn usage(usage: &Usage) -> Value {
    json!({
        "input_tokens": usage.input_tokens,
        "output_tokens": usage.output_tokens,
        "cache_read_input_tokens": usage.cache_read_tokens,
        "cache_creation_input_tokens": usage.cache_write_tokens,
    })
}

#[cfg(test)]
#[path = "messages_tests.rs"]
mod messages_tests;
