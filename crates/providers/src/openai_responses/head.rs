//! What stands around the items of a request. Nothing is kept on the server: our own log is the
//! one that counts.

use crate::capabilities::ThinkingKind;
use crate::json::Object;
use crate::openai;
use crate::options::Delivery;
use crate::plan::Plan;

/// The smallest output limit the format takes.
const LEAST_OUTPUT_TOKENS: u64 = 16;

/// Everything up to the items.
pub(crate) fn head(plan: &Plan<'_>) -> Vec<u8> {
    let mut out = Vec::new();
    let mut body = Object::open(&mut out);
    body.string("model", &plan.known.model);
    body.raw("store", "false");
    if let Some(system) = openai::system(plan) {
        body.string("instructions", &system);
    }
    openai::write_tools(&mut body, plan, |object, tool| {
        openai::write_tool(object, tool);
        // The strict mode refuses most schemas that were not written for it.
        object.raw("strict", "false");
    });
    body.key("input").push(b'[');
    out
}

/// Room for a usual tail.
const TAIL_BYTES: usize = 256;

/// Everything behind the items.
pub(crate) fn tail(plan: &Plan<'_>) -> Vec<u8> {
    let mut out = Vec::with_capacity(TAIL_BYTES);
    out.push(b']');
    let mut body = Object::resume(&mut out);
    body.value("max_output_tokens", &plan.how.max_tokens.max(LEAST_OUTPUT_TOKENS));
    openai::write_choice(&mut body, plan, |choice, tool| choice.string("name", tool));
    // Reasoning comes back sealed, so that it can be returned although the server keeps nothing.
    if plan.known.abilities.thinking.contains(&ThinkingKind::Always) {
        body.raw("include", "[\"reasoning.encrypted_content\"]");
    }
    if let Some(effort) = openai::effort(plan) {
        let mut reasoning = Object::open(body.key("reasoning"));
        reasoning.string("effort", effort);
        reasoning.close();
    }
    if let Some(temperature) = plan.temperature {
        body.value("temperature", &temperature.as_f64());
    }
    if let Some(user) = &plan.known.user {
        body.string("safety_identifier", user);
    }
    if plan.how.delivery == Delivery::Streamed {
        body.raw("stream", "true");
    }
    body.close();
    out
}
