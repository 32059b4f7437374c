//! Early calls: calls that start while the model still streams.

use windlass_core::log::input::FailureClass;
use windlass_core::log::record::{EarlyStart, Record};
use windlass_core::settings::conversation_settings::HookPresence;

use crate::kit::{Lane, call, calls, passing, rule};

fn launches(lane: &Lane) -> Option<EarlyStart> {
    lane.last.iter().find_map(|record| match record {
        Record::EarlyCallDecided { start, .. } => Some(*start),
        _ => None,
    })
}

fn goes_ahead(lane: Lane, tool: &str) -> bool {
    let after = lane.prompt("hi").streams(0, &call("t1", tool, "/a"));
    launches(&after) == Some(EarlyStart::Started)
}

// spec: ROUNDS-10
// spec: ROUNDS-10
#[test]
fn early_calls_can_be_switched_off_and_bounded() {
    let block = |nth: u16| call(&format!("t{nth}"), "read", &format!("/{nth}"));
    let streamed = |limit: u16| {
        let lane = Lane::with(|settings| settings.limits.early_calls = limit).prompt("hi");
        (0..3).fold(lane, |lane, nth| lane.streams(nth, &block(nth)))
    };
    streamed(0).wants("model 1");
    streamed(1).wants("model 1, run 1.0#1");
    streamed(8).wants("model 1, run 1.0#1, run 1.1#1, run 1.2#1");
    // A call that was held runs with the whole reply.
    streamed(0)
        .reply(calls([block(0), block(1), block(2)]))
        .wants("run 1.0#1, run 1.1#1, run 1.2#1");
}

#[test]
fn only_reads_that_rules_alone_allow_go_ahead() {
    assert!(goes_ahead(Lane::new(), "read"));
    for tool in ["write", "bash", "upload", "deploy", "rm", "ask_human", "teleport"] {
        assert!(!goes_ahead(Lane::new(), tool), "{tool}");
    }
    assert!(!goes_ahead(Lane::with(|s| s.hooks.before_tool = HookPresence::Present), "read"));
    assert!(goes_ahead(Lane::with(|s| s.hooks.after_tool = HookPresence::Present), "read"));
    assert!(!goes_ahead(Lane::with(|s| s.rules.ask.push(rule("read"))), "read"));
    assert!(!goes_ahead(Lane::with(|s| s.limits.tool_rounds = 0), "read"));
    assert!(!goes_ahead(Lane::with(|s| s.limits.parallel_calls = 0), "read"));
    assert!(!goes_ahead(Lane::with(|s| s.limits.calls_per_reply = 0), "read"));
}

// spec: ROUNDS-10
#[test]
fn a_call_in_conflict_with_an_earlier_block_waits() {
    Lane::new()
        .prompt("hi")
        .streams(0, &call("t1", "read", "/a"))
        .wants("model 1, run 1.0#1")
        .streams(1, &call("t2", "write", "/b"))
        .wants("model 1, run 1.0#1")
        .streams(2, &call("t3", "read", "/b/deep"))
        .so(|lane| assert_eq!(launches(lane), Some(EarlyStart::Held)))
        .streams(3, &call("t4", "read", "/c"))
        .wants("model 1, run 1.0#1, run 1.3#1");
}

// spec: ROUNDS-10
#[test]
fn the_reply_takes_over_what_went_ahead() {
    Lane::new()
        .prompt("hi")
        .streams(0, &call("t1", "read", "/a"))
        .records("early_call_decided")
        .so(|lane| assert_eq!(lane.log.len(), 2))
        .reply(calls([call("t1", "read", "/a"), call("t2", "write", "/a")]))
        .wants("run 1.0#1")
        .returns(0, "A")
        .wants("run 1.1#1");
}

// spec: ROUNDS-10, TRANSCRIPT-10
#[test]
fn an_abandoned_attempt_drops_what_went_ahead() {
    Lane::new()
        .prompt("hi")
        .streams(0, &call("t1", "read", "/a"))
        .fails(passing(FailureClass::StreamCut))
        .wants("")
        .wake()
        .wants("model 2")
        .reply(calls([call("t9", "read", "/z")]))
        .wants("run 2.0#1");
    Lane::new().prompt("hi").streams(0, &call("t1", "read", "/a")).abort().wants("");
    Lane::new().prompt("hi").streams(0, &call("t1", "read", "/a")).owner_changes().wants("model 2");
}

#[test]
fn a_refusal_drops_what_went_ahead() {
    Lane::new()
        .prompt("hi")
        .streams(0, &call("t1", "read", "/a"))
        .reply(calls([call("t1", "read", "/a")]).stop("refusal"))
        .wants("");
}

#[test]
fn blocks_of_another_call_or_out_of_order_change_nothing() {
    let lane = Lane::new().prompt("hi").streams(3, &call("t1", "read", "/a"));
    lane.clone().streams(3, &call("t1", "read", "/a")).records_nothing();
    lane.clone().streams(1, &call("t1", "read", "/a")).records_nothing();
    lane.streams(u16::MAX, &call("t2", "read", "/b")).records("early_call_decided");
    Lane::new().streams(0, &call("t1", "read", "/a")).records_nothing();
}

#[test]
fn nothing_goes_ahead_in_a_run_that_is_to_end() {
    Lane::new().prompt("hi").cancel().streams(0, &call("t1", "read", "/a")).wants("model 1");
}

#[test]
fn no_more_go_ahead_than_may_run() {
    let mut lane = Lane::with(|s| s.limits.parallel_calls = 2).prompt("hi");
    for index in 0..4 {
        lane = lane.streams(index, &call(&format!("t{index}"), "read", "/a"));
    }
    lane.wants("model 1, run 1.0#1, run 1.1#1");
}
