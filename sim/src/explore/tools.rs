//! The tools of the explored world: one for each way a call can behave.

use std::sync::Arc;

use windlass_core::call::call_facts::{
    AnsweredBy, CallFacts, Interruptibility, ProbeSupport, Repeatability,
};
use windlass_core::call::call_order::TouchedResources;
use windlass_core::run::child_runs::ChildTask;
use windlass_core::run::journal::{JournalChange, JournalField, JournalList, JournalRequest};

/// Timeout of a hurried call: enough for two pauses of a small world, and not three.
const HURRY_MS: u64 = 25;

/// Returns the facts of a call of `tool`.
pub(crate) fn facts(tool: &str) -> CallFacts {
    match tool {
        "read" => harmless("a"),
        "look" | "may_look" => harmless("b"),
        "hurry" => CallFacts { timeout_ms: HURRY_MS, ..harmless("b") },
        "put" => CallFacts {
            touches: writes("a"),
            interrupt: Interruptibility::RunsToEnd,
            ..harmless("a")
        },
        "pay" | "may_pay" => once_only("a", Interruptibility::RunsToEnd),
        "send" => once_only("b", Interruptibility::Interruptible),
        "book" => CallFacts {
            probe: ProbeSupport::Supported,
            ..once_only("c", Interruptibility::RunsToEnd)
        },
        "shell" => CallFacts {
            touches: TouchedResources::Exclusive,
            ..once_only("", Interruptibility::Interruptible)
        },
        "ask" => CallFacts { answered_by: AnsweredBy::Human, ..harmless("d") },
        "plan" => CallFacts { answered_by: AnsweredBy::PlanApproval, ..harmless("i") },
        "give" => CallFacts {
            probe: ProbeSupport::Supported,
            ..once_only("f", Interruptibility::RunsToEnd)
        },
        "note" => CallFacts {
            answered_by: AnsweredBy::Journal,
            journal: Some(JournalRequest::Change(changes())),
            ..harmless("g")
        },
        "recall" => CallFacts {
            answered_by: AnsweredBy::Journal,
            journal: Some(JournalRequest::Read),
            ..harmless("g")
        },
        "hire" => employs(1),
        "crew" => employs(2),
        "no" => once_only("e", Interruptibility::RunsToEnd),
        _ => CallFacts::for_unknown_tool(tool),
    }
}

fn harmless(key: &str) -> CallFacts {
    CallFacts {
        touches: TouchedResources::Reads(vec![Arc::from(key)]),
        repeat: Repeatability::Repeatable,
        interrupt: Interruptibility::Interruptible,
        probe: ProbeSupport::Unsupported,
        answered_by: AnsweredBy::Tool,
        timeout_ms: 1_000,
        problem: None,
        summary: None,
        ..CallFacts::default()
    }
}

fn once_only(key: &str, interrupt: Interruptibility) -> CallFacts {
    CallFacts { touches: writes(key), repeat: Repeatability::OnceOnly, interrupt, ..harmless(key) }
}

fn changes() -> Vec<JournalChange> {
    vec![
        JournalChange::Set { field: JournalField::CurrentState, text: Arc::from("j") },
        JournalChange::Append { list: JournalList::Blockers, text: Arc::from("b") },
    ]
}

fn employs(tasks: usize) -> CallFacts {
    let task = ChildTask::new("", "t");
    let children = vec![task; tasks];
    CallFacts { answered_by: AnsweredBy::Children, children, ..harmless("h") }
}

fn writes(key: &str) -> TouchedResources {
    TouchedResources::Writes(vec![Arc::from(key)])
}
