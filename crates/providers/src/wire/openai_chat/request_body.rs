//! The Chat Completions request body around the messages.

use crate::call::call_options::ReplyDelivery;
use crate::call::request_plan::RequestPlan;
use crate::catalog::capabilities::StopStringSupport;
use crate::json::json_writer::JsonObjectWriter;
use crate::wire::EXPECTED_TAIL_BYTES;
use crate::wire::openai_common;

/// The largest number of stop strings that the format accepts.
pub(crate) const MAX_STOP_STRINGS: usize = 4;

/// Encodes everything before the conversation's messages, the system prompt included.
pub(crate) fn encode_head(plan: &RequestPlan<'_>) -> Vec<u8> {
    let mut out = Vec::new();
    let mut body = JsonObjectWriter::open(&mut out);
    body.string("model", &plan.profile.model);
    openai_common::write_tools(&mut body, plan, |object, tool| {
        let mut function = JsonObjectWriter::open(object.key("function"));
        openai_common::write_tool(&mut function, tool);
        function.close();
    });
    let out_messages = body.key("messages");
    out_messages.push(b'[');
    write_system(out_messages, plan);
    out
}

fn write_system(out: &mut Vec<u8>, plan: &RequestPlan<'_>) {
    let Some(system) = openai_common::system_text(plan) else { return };
    let mut message = JsonObjectWriter::open(out);
    message.string("role", "system");
    message.string("content", &system);
    message.close();
    // The conversation always has a message of its own.
    out.push(b',');
}

/// Encodes everything behind the messages.
pub(crate) fn encode_tail(plan: &RequestPlan<'_>) -> Vec<u8> {
    let mut out = Vec::with_capacity(EXPECTED_TAIL_BYTES);
    out.push(b']');
    let mut body = JsonObjectWriter::resume(&mut out);
    body.value(plan.profile.dialect.output_limit_field(), &plan.attempt.max_tokens);
    openai_common::write_tool_choice(&mut body, plan, |choice, tool| {
        let mut function = JsonObjectWriter::open(choice.key("function"));
        function.string("name", tool);
        function.close();
    });
    if let Some(effort) = openai_common::reasoning_effort(plan) {
        body.string("reasoning_effort", effort);
    }
    let stops = plan.request.settings.stop_map.keys();
    let stops: Vec<&str> = stops.map(|stop| &**stop).take(MAX_STOP_STRINGS).collect();
    if !stops.is_empty() && plan.profile.capabilities().stop_strings == StopStringSupport::Server {
        body.value("stop", &stops);
    }
    if let Some(temperature) = plan.temperature {
        body.value("temperature", &temperature.as_f64());
    }
    if let Some(user) = &plan.profile.user {
        body.string("user", user);
    }
    if plan.attempt.delivery == ReplyDelivery::Streamed {
        body.raw("stream", "true");
        body.raw("stream_options", "{\"include_usage\":true}");
    }
    body.close();
    out
}
