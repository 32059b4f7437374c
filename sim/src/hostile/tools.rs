//! Tools that bring back too much, nothing, or the same again.

use std::sync::Arc;

use windlass_core::facts::{Facts, Interrupt, Repeat};
use windlass_core::order::Touches;
use windlass_core::outcome::{Outcome, ToolError};
use windlass_core::raw::Raw;

use crate::world::dice::Dice;

/// The tools there are.
pub(super) const NAMES: [&str; 3] = ["read", "search", "put"];

pub(super) fn facts(name: &str) -> Facts {
    let keys = vec![Arc::from(name)];
    match name {
        "put" => Facts { touches: Touches::Writes(keys), ..Facts::default() },
        "read" | "search" => Facts {
            touches: Touches::Reads(keys),
            repeat: Repeat::Repeatable,
            interrupt: Interrupt::Interruptible,
            ..Facts::default()
        },
        _ => Facts::unknown(name),
    }
}

/// What a call brings back.
pub(super) fn outcome(dice: &mut Dice) -> Outcome {
    let length = usize::try_from(dice.pick(&[0, 20, 20, 400, 6_000, 40_000])).unwrap_or(0);
    match dice.below(12) {
        0 => Outcome::Failed(ToolError::new("sim", &"e".repeat(length), "h")),
        1 => Outcome::TimedOut { after_ms: 1 },
        2 | 3 => Outcome::Done(Raw::string("the same as ever")),
        4 => Outcome::Done(Raw::encode(
            &serde_json::json!([{ "type": "text", "text": "ש".repeat(length) }]),
        )),
        5 => Outcome::Failed(ToolError::new("sim", "m", "h").passing()),
        _ => Outcome::Done(Raw::string(&format!("{} {}", dice.throw(), "r".repeat(length)))),
    }
}
