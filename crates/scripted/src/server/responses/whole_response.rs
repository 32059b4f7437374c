//! An answer as one Responses response.

use serde::Serialize;
use serde_json::value::RawValue;

use super::output_item::{OutputItemBody, OutputItems};
use super::request_parser::ResponsesSpec;
use super::response_status::{ResponseStatus, status_for_stop};
use crate::scripted_answer::{ScriptedAnswer, ScriptedStop};
use crate::server::answer_block::answer_blocks;
use crate::server::chat;
use crate::server::rejection::RequestRejection;
use crate::server::response_head::ResponseHead;
use crate::server::sse::to_json_line;

/// A response, whole or in progress.
#[derive(Serialize)]
pub(super) struct ResponseDocument<'a> {
    id: String,
    object: &'a str,
    created_at: u64,
    status: ResponseStatus,
    background: bool,
    error: Option<ResponseError<'a>>,
    incomplete_details: Option<IncompleteDetails<'a>>,
    instructions: Option<&'a RawValue>,
    max_output_tokens: Option<u64>,
    metadata: Metadata<'a>,
    model: &'a str,
    output: &'a [OutputItemBody],
    parallel_tool_calls: bool,
    previous_response_id: Option<()>,
    service_tier: &'a str,
    store: bool,
    temperature: f32,
    tool_choice: ToolChoice<'a>,
    tools: Tools<'a>,
    top_p: f32,
    truncation: &'a str,
    usage: Option<ResponsesUsageBody>,
    user: Option<()>,
}

#[derive(Serialize)]
struct ResponseError<'a> {
    code: &'a str,
    message: &'a str,
}

#[derive(Serialize)]
struct IncompleteDetails<'a> {
    reason: &'a str,
}

#[derive(Serialize)]
struct ResponsesUsageBody {
    input_tokens: u64,
    input_tokens_details: ResponsesInputDetails,
    output_tokens: u64,
    output_tokens_details: ResponsesOutputDetails,
    total_tokens: u64,
}

#[derive(Serialize)]
struct ResponsesInputDetails {
    cached_tokens: u64,
    cache_write_tokens: u64,
}

#[derive(Serialize)]
struct ResponsesOutputDetails {
    reasoning_tokens: u64,
}

/// The value of the request, or the service's default.
macro_rules! echoed {
    ($($name:ident = $otherwise:literal;)*) => {$(
        struct $name<'a>(Option<&'a RawValue>);

        impl Serialize for $name<'_> {
            fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
                let otherwise: Option<&RawValue> = serde_json::from_str($otherwise).ok();
                self.0.or(otherwise).serialize(to)
            }
        }
    )*};
}

echoed! {
    Metadata = "{}";
    ToolChoice = "\"auto\"";
    Tools = "[]";
}

/// The response to a whole answer.
pub(in crate::server) fn encode_response(
    order: &ResponsesSpec,
    head: ResponseHead,
    answer: &ScriptedAnswer,
) -> String {
    let maker = OutputItems { head, encrypts_reasoning: order.encrypts_reasoning };
    let blocks = answer_blocks(&answer.steps).enumerate();
    let items: Vec<OutputItemBody> =
        blocks.filter_map(|(at, block)| maker.closed_item(at, &block)).collect();
    to_json_line(&ended_response(order, &head, &items, &answer.stop))
}

/// A response that has started.
pub(super) fn started_response<'a>(
    order: &'a ResponsesSpec,
    head: &ResponseHead,
) -> ResponseDocument<'a> {
    ResponseDocument {
        id: head.id_with_prefix("resp_"),
        object: "response",
        created_at: head.created,
        status: ResponseStatus::InProgress,
        background: false,
        error: None,
        incomplete_details: None,
        instructions: order.instructions.as_deref(),
        max_output_tokens: order.max_output_tokens,
        metadata: Metadata(order.metadata.as_deref()),
        model: &order.model,
        output: &[],
        parallel_tool_calls: true,
        previous_response_id: None,
        service_tier: "default",
        store: false,
        temperature: 1.0,
        tool_choice: ToolChoice(order.tool_choice.as_deref()),
        tools: Tools(order.tools.as_deref()),
        top_p: 1.0,
        truncation: "disabled",
        usage: None,
        user: None,
    }
}

/// A response that has ended normally.
pub(super) fn ended_response<'a>(
    order: &'a ResponsesSpec,
    head: &ResponseHead,
    output: &'a [OutputItemBody],
    stop: &'a ScriptedStop,
) -> ResponseDocument<'a> {
    let (status, reason) = status_for_stop(stop);
    ResponseDocument {
        status,
        incomplete_details: reason.map(|reason| IncompleteDetails { reason }),
        output,
        usage: Some(usage_body(head)),
        ..started_response(order, head)
    }
}

/// A response that has ended with an error.
pub(super) fn failed_response<'a>(
    order: &'a ResponsesSpec,
    head: &ResponseHead,
    output: &'a [OutputItemBody],
    refusal: &'a RequestRejection,
) -> ResponseDocument<'a> {
    let code = chat::error_code(refusal).unwrap_or("server_error");
    let error = Some(ResponseError { code, message: &refusal.message });
    ResponseDocument {
        status: ResponseStatus::Failed,
        error,
        output,
        ..started_response(order, head)
    }
}

fn usage_body(head: &ResponseHead) -> ResponsesUsageBody {
    ResponsesUsageBody {
        input_tokens: head.all_input_tokens(),
        input_tokens_details: ResponsesInputDetails {
            cached_tokens: head.usage.cache_read,
            cache_write_tokens: head.usage.cache_write,
        },
        output_tokens: head.usage.output,
        output_tokens_details: ResponsesOutputDetails { reasoning_tokens: head.thinking_tokens },
        total_tokens: head.total_tokens(),
    }
}
