//! The Responses request body around the items. Nothing is stored on the server: our own log is
//! authoritative.

use crate::call::call_options::ReplyDelivery;
use crate::call::request_plan::RequestPlan;
use crate::catalog::capabilities::ThinkingKind;
use crate::json::json_writer::JsonObjectWriter;
use crate::wire::EXPECTED_TAIL_BYTES;
use crate::wire::openai_common;

/// The smallest output limit that the format accepts.
const MIN_OUTPUT_TOKENS: u64 = 16;

/// Encodes everything before the items.
pub(crate) fn encode_head(plan: &RequestPlan<'_>) -> Vec<u8> {
    let mut out = Vec::new();
    let mut body = JsonObjectWriter::open(&mut out);
    body.string("model", &plan.profile.model);
    body.raw("store", "false");
    if let Some(system) = openai_common::system_text(plan) {
        body.string("instructions", &system);
    }
    openai_common::write_tools(&mut body, plan, |object, tool| {
        openai_common::write_tool(object, tool);
        // The strict mode rejects most schemas that were not written for it.
        object.raw("strict", "false");
    });
    body.key("input").push(b'[');
    out
}

/// Encodes everything behind the items.
pub(crate) fn encode_tail(plan: &RequestPlan<'_>) -> Vec<u8> {
    let mut out = Vec::with_capacity(EXPECTED_TAIL_BYTES);
    out.push(b']');
    let mut body = JsonObjectWriter::resume(&mut out);
    body.value("max_output_tokens", &plan.attempt.max_tokens.max(MIN_OUTPUT_TOKENS));
    openai_common::write_tool_choice(&mut body, plan, |choice, tool| choice.string("name", tool));
    // Reasoning is returned encrypted, so that it can be sent back although the server stores
    // nothing.
    if plan.profile.capabilities().thinking.contains(&ThinkingKind::Always) {
        body.raw("include", "[\"reasoning.encrypted_content\"]");
    }
    if let Some(effort) = openai_common::reasoning_effort(plan) {
        let mut reasoning = JsonObjectWriter::open(body.key("reasoning"));
        reasoning.string("effort", effort);
        reasoning.close();
    }
    if let Some(temperature) = plan.temperature {
        body.value("temperature", &temperature.as_f64());
    }
    if let Some(user) = &plan.profile.user {
        body.string("safety_identifier", user);
    }
    if plan.attempt.delivery == ReplyDelivery::Streamed {
        body.raw("stream", "true");
    }
    body.close();
    out
}
