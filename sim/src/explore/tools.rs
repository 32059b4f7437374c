//! The tools of the explored world: one for each way a call can behave.

use std::sync::Arc;

use windlass_core::child::Task;
use windlass_core::facts::{AnsweredBy, Facts, Interrupt, Repeat, Verify};
use windlass_core::journal::{Change, Field, List, Wish};
use windlass_core::order::Touches;

/// How long a call that is in a hurry has: two pauses of a small world, and not three.
const HURRY_MS: u64 = 25;

/// What the edge knows of a call of `tool`.
pub(crate) fn facts(tool: &str) -> Facts {
    match tool {
        "read" => harmless("a"),
        "look" | "may_look" => harmless("b"),
        "hurry" => Facts { timeout_ms: HURRY_MS, ..harmless("b") },
        "put" => Facts { touches: writes("a"), interrupt: Interrupt::RunsToEnd, ..harmless("a") },
        "pay" | "may_pay" => once_only("a", Interrupt::RunsToEnd),
        "send" => once_only("b", Interrupt::Interruptible),
        "book" => Facts { verify: Verify::CanTell, ..once_only("c", Interrupt::RunsToEnd) },
        "shell" => Facts { touches: Touches::Exclusive, ..once_only("", Interrupt::Interruptible) },
        "ask" => Facts { answered_by: AnsweredBy::Human, ..harmless("d") },
        "plan" => Facts { answered_by: AnsweredBy::PlanApproval, ..harmless("i") },
        "give" => Facts { verify: Verify::CanTell, ..once_only("f", Interrupt::RunsToEnd) },
        "note" => Facts {
            answered_by: AnsweredBy::Journal,
            journal: Some(Wish::Change(changes())),
            ..harmless("g")
        },
        "recall" => {
            Facts { answered_by: AnsweredBy::Journal, journal: Some(Wish::Read), ..harmless("g") }
        }
        "hire" => employs(1),
        "crew" => employs(2),
        "no" => once_only("e", Interrupt::RunsToEnd),
        _ => Facts::unknown(tool),
    }
}

fn harmless(key: &str) -> Facts {
    Facts {
        touches: Touches::Reads(vec![Arc::from(key)]),
        repeat: Repeat::Repeatable,
        interrupt: Interrupt::Interruptible,
        verify: Verify::CannotTell,
        answered_by: AnsweredBy::Tool,
        timeout_ms: 1_000,
        problem: None,
        summary: None,
        ..Facts::default()
    }
}

fn once_only(key: &str, interrupt: Interrupt) -> Facts {
    Facts { touches: writes(key), repeat: Repeat::OnceOnly, interrupt, ..harmless(key) }
}

fn changes() -> Vec<Change> {
    vec![
        Change::Set { field: Field::CurrentState, text: Arc::from("j") },
        Change::Append { list: List::Blockers, text: Arc::from("b") },
    ]
}

fn employs(tasks: usize) -> Facts {
    let task = Task::new("", "t");
    let children = vec![task; tasks];
    Facts { answered_by: AnsweredBy::Children, children, ..harmless("h") }
}

fn writes(key: &str) -> Touches {
    Touches::Writes(vec![Arc::from(key)])
}
