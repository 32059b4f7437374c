//! Tools that return too much, nothing, or the same again.

use std::sync::Arc;

use windlass_core::call::call_facts::{CallFacts, Interruptibility, Repeatability};
use windlass_core::call::call_order::TouchedResources;
use windlass_core::call::input_request::{InputRequest, RequestedInput};
use windlass_core::call::outcome::{ToolError, ToolOutcome};
use windlass_core::message::raw_json::RawJson;

use crate::world::seeded_rng::SeededRng;

/// Names of the tools.
pub(super) const NAMES: [&str; 3] = ["read", "search", "put"];

pub(super) fn facts(name: &str) -> CallFacts {
    let keys = vec![Arc::from(name)];
    match name {
        "put" => CallFacts { touches: TouchedResources::Writes(keys), ..CallFacts::default() },
        "read" | "search" => CallFacts {
            touches: TouchedResources::Reads(keys),
            repeat: Repeatability::Repeatable,
            interrupt: Interruptibility::Interruptible,
            ..CallFacts::default()
        },
        _ => CallFacts::for_unknown_tool(name),
    }
}

/// Returns the outcome of a call that asks the user for a value with a default.
pub(crate) fn asks_user(message: &str) -> ToolOutcome {
    let schema = serde_json::json!({"properties": {"n": {"type": "integer", "default": 1}}});
    let wants = RequestedInput::Form { schema: RawJson::encode(&schema) };
    let (from, message) = ("desk".into(), message.into());
    ToolOutcome::InputRequested(InputRequest { from, message, wants })
}

/// Returns the outcome of a call.
pub(super) fn outcome(rng: &mut SeededRng) -> ToolOutcome {
    let length = usize::try_from(rng.pick(&[0, 20, 20, 400, 6_000, 40_000])).unwrap_or(0);
    match rng.below(12) {
        0 => ToolOutcome::Failed(ToolError::new("sim", &"e".repeat(length), "h")),
        1 => ToolOutcome::TimedOut { after_ms: 1 },
        2 | 3 => ToolOutcome::Done(RawJson::string("the same as ever")),
        4 => ToolOutcome::Done(RawJson::encode(
            &serde_json::json!([{ "type": "text", "text": "ש".repeat(length) }]),
        )),
        5 => ToolOutcome::Failed(ToolError::new("sim", "m", "h").into_transient()),
        6 => asks_user("?"),
        _ => ToolOutcome::Done(RawJson::string(&format!(
            "{} {}",
            rng.next_number(),
            "r".repeat(length)
        ))),
    }
}
