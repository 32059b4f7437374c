//! What stands around the messages of a chat request.

use crate::capabilities::StopStrings;
use crate::json::Object;
use crate::openai;
use crate::options::Delivery;
use crate::plan::Plan;

/// Stop strings the format has room for.
pub(crate) const MOST_STOPS: usize = 4;

/// Everything up to the conversation's messages, the system prompt included.
pub(crate) fn head(plan: &Plan<'_>) -> Vec<u8> {
    let mut out = Vec::new();
    let mut body = Object::open(&mut out);
    body.string("model", &plan.known.model);
    openai::write_tools(&mut body, plan, |object, tool| {
        let mut function = Object::open(object.key("function"));
        openai::write_tool(&mut function, tool);
        function.close();
    });
    let out_messages = body.key("messages");
    out_messages.push(b'[');
    write_system(out_messages, plan);
    out
}

fn write_system(out: &mut Vec<u8>, plan: &Plan<'_>) {
    let Some(system) = openai::system(plan) else { return };
    let mut message = Object::open(out);
    message.string("role", "system");
    message.string("content", &system);
    message.close();
    // The conversation always has a message of its own.
    out.push(b',');
}

/// Room for a usual tail.
const TAIL_BYTES: usize = 256;

/// Everything behind the messages.
pub(crate) fn tail(plan: &Plan<'_>) -> Vec<u8> {
    let mut out = Vec::with_capacity(TAIL_BYTES);
    out.push(b']');
    let mut body = Object::resume(&mut out);
    body.value(plan.known.dialect.output_limit_field(), &plan.how.max_tokens);
    openai::write_choice(&mut body, plan, |choice, tool| {
        let mut function = Object::open(choice.key("function"));
        function.string("name", tool);
        function.close();
    });
    if let Some(effort) = openai::effort(plan) {
        body.string("reasoning_effort", effort);
    }
    let stops = plan.request.settings.stop_map.keys();
    let stops: Vec<&str> = stops.map(|stop| &**stop).take(MOST_STOPS).collect();
    if !stops.is_empty() && plan.known.abilities.stop_strings == StopStrings::Sent {
        body.value("stop", &stops);
    }
    if let Some(temperature) = plan.temperature {
        body.value("temperature", &temperature.as_f64());
    }
    if let Some(user) = &plan.known.user {
        body.string("user", user);
    }
    if plan.how.delivery == Delivery::Streamed {
        body.raw("stream", "true");
        body.raw("stream_options", "{\"include_usage\":true}");
    }
    body.close();
    out
}
