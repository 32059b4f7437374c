//! An answer as one response.

use serde::Serialize;
use serde_json::value::RawValue;

use super::super::super::answer::{Answer, Stop};
use super::super::block::blocks;
use super::super::chat;
use super::super::head::Head;
use super::super::refusal::Refusal;
use super::super::sse::json;
use super::item::{Item, Maker};
use super::request::Order;
use super::stopped::{Status, stopped};

/// A response, whole or on its way.
#[derive(Serialize)]
pub(super) struct Response<'a> {
    id: String,
    object: &'a str,
    created_at: u64,
    status: Status,
    background: bool,
    error: Option<Failure<'a>>,
    incomplete_details: Option<Incomplete<'a>>,
    instructions: Option<&'a RawValue>,
    max_output_tokens: Option<u64>,
    metadata: Metadata<'a>,
    model: &'a str,
    output: &'a [Item],
    parallel_tool_calls: bool,
    previous_response_id: Option<()>,
    service_tier: &'a str,
    store: bool,
    temperature: f32,
    tool_choice: ToolChoice<'a>,
    tools: Tools<'a>,
    top_p: f32,
    truncation: &'a str,
    usage: Option<Usage>,
    user: Option<()>,
}

#[derive(Serialize)]
struct Failure<'a> {
    code: &'a str,
    message: &'a str,
}

#[derive(Serialize)]
struct Incomplete<'a> {
    reason: &'a str,
}

#[derive(Serialize)]
struct Usage {
    input_tokens: u64,
    input_tokens_details: InputDetails,
    output_tokens: u64,
    output_tokens_details: OutputDetails,
    total_tokens: u64,
}

#[derive(Serialize)]
struct InputDetails {
    cached_tokens: u64,
    cache_write_tokens: u64,
}

#[derive(Serialize)]
struct OutputDetails {
    reasoning_tokens: u64,
}

/// What the request said, or what the service assumes.
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
pub(in super::super) fn whole(order: &Order, head: Head, answer: &Answer) -> String {
    let maker = Maker { head, reasoning: order.reasoning };
    let blocks = blocks(&answer.steps).enumerate();
    let items: Vec<Item> = blocks.filter_map(|(at, block)| maker.closed(at, &block)).collect();
    json(&ended(order, &head, &items, &answer.stop))
}

/// A response that has begun.
pub(super) fn begun<'a>(order: &'a Order, head: &Head) -> Response<'a> {
    Response {
        id: head.id("resp_"),
        object: "response",
        created_at: head.created,
        status: Status::InProgress,
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

/// A response that has ended as it should.
pub(super) fn ended<'a>(
    order: &'a Order,
    head: &Head,
    output: &'a [Item],
    stop: &'a Stop,
) -> Response<'a> {
    let (status, reason) = stopped(stop);
    Response {
        status,
        incomplete_details: reason.map(|reason| Incomplete { reason }),
        output,
        usage: Some(usage(head)),
        ..begun(order, head)
    }
}

/// A response that has ended with an error.
pub(super) fn failed<'a>(
    order: &'a Order,
    head: &Head,
    output: &'a [Item],
    refusal: &'a Refusal,
) -> Response<'a> {
    let code = chat::code(refusal).unwrap_or("server_error");
    let error = Some(Failure { code, message: &refusal.message });
    Response { status: Status::Failed, error, output, ..begun(order, head) }
}

fn usage(head: &Head) -> Usage {
    Usage {
        input_tokens: head.all_input(),
        input_tokens_details: InputDetails {
            cached_tokens: head.usage.cache_read,
            cache_write_tokens: head.usage.cache_write,
        },
        output_tokens: head.usage.output,
        output_tokens_details: OutputDetails { reasoning_tokens: head.thinking_tokens },
        total_tokens: head.total(),
    }
}
