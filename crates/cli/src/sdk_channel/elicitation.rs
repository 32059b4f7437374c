//! The request `elicitation`: what a tool asks the user in the middle of a call.

use serde_json::{Value, json};
use windlass::HumanAnswer;
use windlass::core::call::input_request::{InputRequest, RequestedInput};

#[cfg(test)]
#[path = "elicitation_tests.rs"]
mod elicitation_tests;

/// Returns the request to the program.
pub(super) fn to_request(request: &InputRequest) -> Value {
    let (from, message) = (&request.from, &request.message);
    match &request.wants {
        RequestedInput::Form { schema } => json!({
            "subtype": "elicitation",
            "mcp_server_name": from,
            "message": message,
            "mode": "form",
            "requested_schema": schema.read::<Value>().unwrap_or_default(),
        }),
        RequestedInput::Page { url } => json!({
            "subtype": "elicitation",
            "mcp_server_name": from,
            "message": message,
            "mode": "url",
            "url": url,
        }),
    }
}

/// Returns the answer of the program. Without one that fits, the default values are sent, or nothing.
pub(super) fn to_answer(request: &InputRequest, reply: Option<&Value>) -> HumanAnswer {
    let action = reply.and_then(|reply| reply.get("action")).and_then(Value::as_str);
    let content = reply.and_then(|reply| reply.get("content")).filter(|content| !content.is_null());
    let answer = match (action, content) {
        (Some("accept"), Some(values)) => HumanAnswer::Text { text: values.to_string().into() },
        (Some("accept") | None, _) => HumanAnswer::Continue {},
        (Some(_), _) => HumanAnswer::deny("the user declined"),
    };
    let is_page = matches!(request.wants, RequestedInput::Page { .. });
    let is_unanswered = action.is_none() && is_page;
    match answer {
        HumanAnswer::Deny { .. } => answer,
        _ if is_unanswered || request.accept(&answer).is_err() => {
            HumanAnswer::deny("no answer that fits was given")
        }
        _ => answer,
    }
}
