//! The tools that a client can call.

use serde_json::{Value, json};

/// Seconds that `follow_run` waits if nothing is given.
pub(crate) const DEFAULT_WAIT_SECONDS: u64 = 50;

/// The most seconds that `follow_run` waits.
pub(crate) const MAX_WAIT_SECONDS: u64 = 3_600;

/// Describes the tools.
pub(crate) fn list() -> Vec<Value> {
    let run_id = json!({"type": "string", "description": "The run, as start_run returned it"});
    let read_only = json!({"readOnlyHint": true, "openWorldHint": false});
    vec![
        tool(
            "start_run",
            "Starts a durable run of an agent with a prompt, and returns its ids at once. The run goes \
             on whatever happens to the caller; follow_run waits for its answer. The same \
             idempotency key never starts a second run.",
            json!({
                "prompt": {"type": "string", "description": "What the agent should do"},
                "idempotency_key": {
                    "type": "string",
                    "description": "A text that names this order, 1 to 255 characters: repeating the \
                                    call with it returns the same run. Not needed if the request has \
                                    windlass/idempotencyKey in _meta",
                },
                "conversation_id": {
                    "type": "string",
                    "description": "Continues this conversation instead of starting one",
                },
            }),
            &["prompt"],
            json!({"idempotentHint": true, "openWorldHint": true}),
        ),
        tool(
            "follow_run",
            "Waits until the run has ended, needs an answer, or the time is up, and returns its state, \
             its answer and its open questions. Progress is reported while it waits.",
            json!({
                "run_id": run_id,
                "wait_seconds": {
                    "type": "integer", "minimum": 0, "maximum": MAX_WAIT_SECONDS,
                    "description": format!("Seconds to wait at most, {DEFAULT_WAIT_SECONDS} if not given"),
                },
            }),
            &["run_id"],
            read_only.clone(),
        ),
        tool(
            "answer_question",
            "Answers a question that a run waits for. A question about a call is answered with the \
             input_hash that was shown with it.",
            json!({
                "run_id": run_id,
                "question_id": {"type": "integer", "description": "The number of the question"},
                "answer": {
                    "type": "string",
                    "enum": ["allow", "deny", "retry", "mark_done", "abandon", "continue", "text"],
                    "description": "The answer; the question says which it takes",
                },
                "text": {"type": "string", "description": "The text of text and mark_done, or the reason of deny"},
                "input_hash": {"type": "string", "description": "The hash that was shown with the question"},
            }),
            &["run_id", "question_id", "answer"],
            json!({"idempotentHint": true, "openWorldHint": false}),
        ),
        tool(
            "cancel_run",
            "Asks a run to stop: after the model call or the tool calls in progress, or now.",
            json!({
                "run_id": run_id,
                "now": {
                    "type": "boolean",
                    "description": "Abort what is in progress, as far as it can be interrupted",
                },
            }),
            &["run_id"],
            json!({"idempotentHint": true, "destructiveHint": true, "openWorldHint": false}),
        ),
        tool(
            "explain_run",
            "Says why a run stopped or what it waits for, and what to do next.",
            json!({"run_id": run_id}),
            &["run_id"],
            read_only,
        ),
    ]
}

fn tool(
    name: &str,
    description: &str,
    properties: Value,
    required: &[&str],
    annotations: Value,
) -> Value {
    json!({
        "name": name,
        "description": description,
        "inputSchema": {
            "type": "object",
            "properties": properties,
            "required": required,
            "additionalProperties": false,
        },
        "annotations": annotations,
    })
}
