//! The rows for people and dashboards.

use windlass_core::call::outcome::ToolError;
use windlass_core::log::input::FailureClass;
use windlass_core::projection::{
    CheckpointKind, CheckpointRow, EventRow, Row, RunRow, ToolResultRow, TraceRow, project_rows,
};
use windlass_core::run::conversation::Conversation;
use windlass_core::stop::{RunState, StopCause};

use crate::kit::{Lane, call, calls, passing, text};

/// The rows of a whole lane, as its driver would write them.
fn rows(lane: &Lane) -> Vec<Row> {
    let mut now = Conversation::default();
    let mut rows = Vec::new();
    for entry in &lane.log {
        if matches!(entry.input, windlass_core::Input::OwnerChanged { .. }) {
            now = now.without_volatile();
        }
        let whole = windlass_core::Entry::decide(&now, entry.at, entry.input.clone()).unwrap();
        rows.extend(project_rows(&now, &whole));
        now.fold(&whole).unwrap();
    }
    rows
}

fn traces(lane: &Lane) -> Vec<TraceRow> {
    rows(lane)
        .into_iter()
        .filter_map(|row| match row {
            Row::Trace(row) => Some(row),
            _ => None,
        })
        .collect()
}

fn results(lane: &Lane) -> Vec<ToolResultRow> {
    rows(lane)
        .into_iter()
        .filter_map(|row| match row {
            Row::ToolResult(row) => Some(row),
            _ => None,
        })
        .collect()
}

fn checkpoints(lane: &Lane) -> Vec<CheckpointRow> {
    rows(lane)
        .into_iter()
        .filter_map(|row| match row {
            Row::Checkpoint(row) => Some(row),
            _ => None,
        })
        .collect()
}

pub(super) fn events(lane: &Lane) -> Vec<EventRow> {
    rows(lane)
        .into_iter()
        .filter_map(|row| match row {
            Row::Event(row) => Some(row),
            _ => None,
        })
        .collect()
}

fn runs(lane: &Lane) -> Vec<RunRow> {
    rows(lane)
        .into_iter()
        .filter_map(|row| match row {
            Row::Run(row) => Some(row),
            _ => None,
        })
        .collect()
}

pub(super) fn kinds(lane: &Lane) -> Vec<(String, CheckpointKind)> {
    checkpoints(lane).into_iter().map(|row| (row.run.to_string(), row.kind)).collect()
}

fn two_rounds() -> Lane {
    Lane::new()
        .prompt("hi")
        .reply(calls([call("t1", "read", "/a"), call("t2", "rm", "/b")]).usage(10, 2))
        .returns(0, "A")
        .reply(calls([call("t3", "write", "/a")]).usage(20, 3))
        .returns(0, "B")
        .reply(text("done").usage(30, 4))
}

// spec: TRACE-03, TRACE-06
#[test]
fn one_trace_row_per_iteration_and_the_last_says_why() {
    let rows = traces(&two_rounds());
    let seen: Vec<_> = rows
        .iter()
        .map(|row| (row.iter, &*row.stop_reason, row.tool_calls.len(), row.usage.input_tokens))
        .collect();
    assert_eq!(seen, [(1, "tool_use", 2, 10), (2, "tool_use", 1, 20), (3, "end_turn", 0, 30)]);
    let oks: Vec<_> = rows[0].tool_calls.iter().map(|call| (&*call.name, call.ok)).collect();
    assert_eq!(oks, [("read", true), ("rm", false)]);
    assert_eq!(rows[0].tool_calls[0].input_hash.len(), 64);
    let transitions: Vec<_> = rows.iter().map(|row| row.transition).collect();
    assert_eq!(transitions, ["prompt", "run_tools", "run_tools"]);
}

// spec: TRACE-06, STOP-23
#[test]
fn however_a_run_ends_its_last_trace_row_says_so() {
    let acting = || Lane::new().prompt("hi").reply(calls([call("t1", "write", "/a")]));
    let ends = [
        Lane::new().prompt("hi").abort(),
        Lane::new().prompt("hi").fails(passing(FailureClass::Permanent)),
        Lane::new().prompt("hi").fails(passing(FailureClass::Transient)).cancel(),
        Lane::with(|s| s.limits.run_tokens = Some(10)).prompt("hi"),
        Lane::with(|s| s.limits.tool_rounds = 0)
            .prompt("hi")
            .reply(calls([call("t1", "read", "/")])),
        acting().cancel().returns(0, "A"),
        acting().errs(0, ToolError::new("x", "y", "z").into_fatal()),
        Lane::new().prompt("hi").reply(text("x").stop("refusal")),
        Lane::new().prompt("hi").reply(text("x").stop("odd")),
        Lane::new().prompt("hi").owner_changes_with_hash("other").cancel(),
    ];
    for lane in ends {
        let last = traces(&lane).pop().unwrap();
        let run = runs(&lane).pop().unwrap();
        assert_eq!(&*last.stop_reason, lane.ended().cause.trace_reason());
        assert_eq!(run.cause, Some(lane.ended().cause));
        assert_eq!(run.state, lane.ended().cause.run_state(lane.ended().text_presence()));
    }
}

#[test]
fn a_call_has_a_row_when_it_starts_and_when_it_is_settled() {
    let rows = results(&two_rounds());
    let seen: Vec<_> = rows
        .iter()
        .map(|row| {
            (
                &*row.tool_call_id,
                row.started_at.is_some(),
                row.completed_at.is_some(),
                row.outcome.as_deref(),
            )
        })
        .collect();
    assert_eq!(
        seen,
        [
            ("t2", false, true, Some("denied")),
            ("t1", true, true, Some("done")),
            ("t3", true, false, None),
            ("t3", true, true, Some("done")),
        ]
    );
}

#[test]
fn a_lost_call_keeps_the_time_it_started() {
    let lane = Lane::new().prompt("hi").reply(calls([call("t1", "write", "/a")]));
    let started = results(&lane)[0].started_at;
    let lane = lane.owner_changes().answer(windlass_core::log::inbox::HumanAnswer::Abandon {});
    let last = results(&lane).pop().unwrap();
    assert_eq!((last.started_at, last.outcome.as_deref()), (started, Some("interrupted")));
}

// spec: TRACE-09, TRACE-08
#[test]
fn checkpoints_stand_at_the_safe_boundaries() {
    use CheckpointKind::{Compaction, Final, HumanPause, Input, LlmResponse, ToolResult};
    let of = |lane: &Lane| kinds(lane).into_iter().map(|(_, kind)| kind).collect::<Vec<_>>();
    assert_eq!(of(&two_rounds()), [Input, LlmResponse, ToolResult, LlmResponse, ToolResult, Final]);
    let asked = Lane::new().prompt("hi").reply(calls([call("t1", "deploy", "x")]));
    assert_eq!(of(&asked), [Input, HumanPause]);
    assert_eq!(of(&asked.allow()), [Input, HumanPause, Input]);
    let mut long = Lane::new();
    for turn in 0..8 {
        long = long.prompt(&format!("{turn}")).reply(text("ok"));
    }
    let long = long.prompt("more").fails(passing(FailureClass::ContextTooLong));
    assert_eq!(of(&long).last(), Some(&Compaction));
    let row = checkpoints(&two_rounds()).remove(2);
    assert_eq!((row.iteration, row.message_cursor, row.persisted_messages), (2, 3, 3));
    assert!(row.prompt_hash.is_some());
}

/// What a compaction removes from the transcript is still stored.
// spec: TRACE-09
#[test]
fn a_checkpoint_counts_the_messages_that_are_stored() {
    let counted: Vec<(u64, u64)> = checkpoints(&two_rounds())
        .iter()
        .map(|row| (row.message_cursor, row.persisted_messages))
        .collect();
    assert_eq!(counted, [(1, 1), (1, 1), (3, 3), (3, 3), (5, 5), (6, 6)]);
    let mut long = Lane::new();
    for turn in 0..8 {
        long = long.prompt(&format!("{turn}")).reply(text("ok"));
    }
    let long = long.prompt("more").fails(passing(FailureClass::ContextTooLong));
    let row = checkpoints(&long).pop().unwrap();
    assert_eq!(row.kind, CheckpointKind::Compaction);
    assert_eq!(row.persisted_messages, 17);
    assert!(row.message_cursor < 17, "{}", row.message_cursor);
}

// spec: TRACE-09
#[test]
fn the_checkpoint_that_closes_a_round_names_its_calls() {
    let calls: Vec<Vec<String>> = checkpoints(&two_rounds())
        .iter()
        .map(|row| row.completed_calls.iter().map(ToString::to_string).collect())
        .collect();
    let none = Vec::<String>::new;
    let ids = |ids: &[&str]| ids.iter().map(ToString::to_string).collect::<Vec<_>>();
    assert_eq!(calls, [none(), ids(&["t2"]), ids(&["t1", "t2"]), none(), ids(&["t3"]), none()]);
}

/// Provider retries belong to the iteration that they repeat.
// spec: TRACE-01
#[test]
fn four_overloads_and_one_answer_are_one_iteration() {
    let mut lane = Lane::new().prompt("hi");
    for _ in 0..4 {
        lane = lane.fails(passing(FailureClass::Transient)).wake();
    }
    let lane = lane.reply(text("done"));
    let iterations: Vec<u32> = traces(&lane).iter().map(|row| row.iter).collect();
    assert_eq!(iterations, [1]);
    let counters = &lane.ended().counters;
    assert_eq!((counters.iterations, counters.model_calls, counters.retries), (1, 5, 4));
    let checkpoint = checkpoints(&lane).pop().unwrap();
    assert_eq!(checkpoint.iteration, 1);
}

/// A process that dies during a model call does not make a second iteration of it.
#[test]
fn asking_again_after_a_crash_is_the_same_iteration() {
    let lane = Lane::new().prompt("hi").owner_changes().reply(text("done"));
    let iterations: Vec<u32> = traces(&lane).iter().map(|row| row.iter).collect();
    assert_eq!(iterations, [1]);
    assert_eq!(lane.ended().counters.model_calls, 2);
}

/// A call is counted each time it runs, and its row shows that while it is being retried.
// spec: TRACE-07
#[test]
fn a_call_row_counts_attempts() {
    let down = ToolError::new("http_503", "the server is down", "later").into_transient();
    let last = |lane: &Lane| results(lane).pop().map(|row| (row.attempts, row.outcome));
    let lane = Lane::new().prompt("hi").reply(calls([call("t1", "fetch", "/a")]));
    let lane = lane.errs(0, down.clone()).so(|lane| assert_eq!(last(lane), Some((1, None))));
    let lane = lane.wake().returns(0, "A");
    assert_eq!(last(&lane), Some((2, Some("done".to_owned()))));
    let denied = Lane::new().prompt("hi").reply(calls([call("t1", "deploy", "x")])).deny("no");
    assert_eq!(last(&denied), Some((0, Some("denied".to_owned()))));
    let once = Lane::new().prompt("hi").reply(calls([call("t1", "write", "/b")]));
    let once = once.so(|lane| assert_eq!(last(lane), Some((1, None)))).returns(0, "B");
    assert_eq!(last(&once), Some((1, Some("done".to_owned()))));
}

#[test]
fn a_checkpoint_names_the_calls_that_are_done() {
    let lane = Lane::new()
        .prompt("hi")
        .reply(calls([call("t1", "read", "/a"), call("t2", "read", "/b")]))
        .returns(1, "B");
    let row = checkpoints(&lane).pop().unwrap();
    assert_eq!(row.completed_calls, [std::sync::Arc::from("t2")]);
}

#[test]
fn a_run_that_lets_the_next_in_still_has_its_final_checkpoint() {
    let lane = Lane::new().prompt("one").prompt("two").reply(text("1"));
    let kinds = kinds(&lane);
    assert_eq!(
        kinds[kinds.len() - 2..],
        [("run-1".to_owned(), CheckpointKind::Final), ("run-2".to_owned(), CheckpointKind::Input)]
    );
    let last = checkpoints(&lane);
    assert_eq!(last[last.len() - 2].iteration, 1);
}

#[test]
fn some_checkpoints_can_be_taken_up_from() {
    use CheckpointKind::{
        Compaction, Final, HumanPause, Input, JournalUpdate, LlmResponse, ToolResult,
    };
    for kind in [Input, LlmResponse, ToolResult, JournalUpdate, Compaction] {
        assert!(kind.is_resumable(), "{}", kind.as_str());
    }
    assert!(!HumanPause.is_resumable() && !Final.is_resumable());
    let names = [Input, LlmResponse, ToolResult, JournalUpdate, HumanPause, Compaction, Final]
        .map(CheckpointKind::as_str);
    assert_eq!(
        names,
        [
            "input",
            "llm_response",
            "tool_result",
            "journal_update",
            "human_pause",
            "compaction",
            "final"
        ]
    );
}

// spec: TRACE-11
#[test]
fn events_are_named() {
    let names = |lane: &Lane| events(lane).into_iter().map(|row| row.name).collect::<Vec<_>>();
    assert_eq!(
        names(&two_rounds()),
        ["agent_run.started", "agent.tool.denied", "agent_run.completed"]
    );
    let down = ToolError::new("http_503", "down", "later").into_transient();
    let lane =
        Lane::new().prompt("hi").reply(calls([call("t1", "fetch", "/a")])).errs(0, down).cancel();
    assert_eq!(names(&lane), ["agent_run.started", "agent.tool.retry", "agent_run.cancelled"]);
    let lane =
        Lane::new().prompt("hi").fails(passing(FailureClass::Transient)).owner_changes().cancel();
    assert_eq!(
        names(&lane),
        [
            "agent_run.started",
            "agent.model.abandoned",
            "agent.model.retry",
            "agent_run.resumed",
            "agent_run.cancelled"
        ]
    );
    let lane = Lane::new().prompt("hi").reply(calls([call("t1", "write", "/a")])).owner_changes();
    let unsafe_now = ["agent_run.started", "agent_run.resumed", "agent_run.resume_unsafe"];
    assert_eq!(names(&lane), unsafe_now);
    let lane = Lane::new()
        .prompt("hi")
        .reply(calls([call("t1", "deploy", "x")]))
        .answer_to(9, windlass_core::log::inbox::HumanAnswer::allow());
    assert_eq!(
        names(&lane),
        ["agent_run.started", "agent_run.asked_human", "agent.command.rejected"]
    );
    let lane = Lane::new().prompt("hi").reply(text("x").stop("odd"));
    assert_eq!(names(&lane), ["agent_run.started", "agent.reply.anomaly", "agent_run.completed"]);
    let lane = Lane::new().prompt("hi").fails(passing(FailureClass::Permanent));
    assert_eq!(names(&lane).last(), Some(&"agent_run.failed"));
}

// spec: LANES-06
#[test]
fn a_run_is_in_one_of_the_known_states() {
    let states = |lane: &Lane| runs(lane).into_iter().map(|row| row.state).collect::<Vec<_>>();
    assert_eq!(states(&Lane::new().prompt("hi")), [RunState::Queued, RunState::Running]);
    let parked = Lane::new().prompt("hi").reply(calls([call("t1", "deploy", "x")]));
    assert_eq!(states(&parked).last(), Some(&RunState::WaitingOnHuman));
    assert_eq!(states(&parked.clone().allow()).last(), Some(&RunState::Running));
    assert_eq!(states(&parked.cancel()).last(), Some(&RunState::Cancelled));
    // One call asks, the other is in flight: the run waits only when that one has returned.
    let both = Lane::new()
        .prompt("hi")
        .reply(calls([call("t1", "write", "/a"), call("t2", "ask_human", "x")]));
    assert_eq!(states(&both).last(), Some(&RunState::Running));
    assert_eq!(states(&both.returns(0, "A")).last(), Some(&RunState::WaitingOnHuman));
    let drifted = Lane::new().prompt("hi").owner_changes_with_hash("other");
    assert_eq!(states(&drifted).last(), Some(&RunState::WaitingOnHuman));
    let accepted = drifted.answer(windlass_core::log::inbox::HumanAnswer::Continue {});
    assert_eq!(states(&accepted).last(), Some(&RunState::Running));
    assert_eq!(
        states(&Lane::new().prompt("hi").reply(text("a"))).last(),
        Some(&RunState::Completed)
    );
}

#[test]
fn a_waiting_run_that_is_cancelled_has_its_row_and_no_trace() {
    let lane = Lane::new().prompt("one").prompt("two").cancel_run("run-2");
    let last = runs(&lane).pop().unwrap();
    assert_eq!((last.run.as_str(), last.cause), ("run-2", Some(StopCause::UserCancel)));
    assert!(traces(&lane).is_empty());
}
