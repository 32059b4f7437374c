//! Single calls: invalid ones, fatal ones, large ones.

use windlass_core::call::outcome::{ToolError, ToolOutcome};
use windlass_core::log::record::Record;
use windlass_core::message::content_block::ContentBlock;
use windlass_core::message::raw_json::RawJson;
use windlass_core::stop::{ReplyAnomaly, StopCause};

use crate::kit::{Lane, call, calls, text};

fn with_input(id: &str, tool: &str, input: &str) -> ContentBlock {
    ContentBlock::tool_use(id, tool, &RawJson::parse(input).unwrap())
}

// spec: ROUNDS-08
#[test]
fn a_tool_that_does_not_exist_is_answered() {
    Lane::new()
        .prompt("hi")
        .reply(calls([call("t1", "teleport", "/a")]))
        .records("model_replied round_opened result_finalized round_closed model_call_started")
        .shows_last("user: <t1 unknown_tool: there is no tool named \"teleport\">")
        .so(|lane| assert_eq!(lane.count("call_started"), 0));
}

// spec: ROUNDS-08
#[test]
fn arguments_that_are_no_object_are_answered() {
    for input in ["[]", "null", "\"x\"", "42", "true"] {
        Lane::new()
            .prompt("hi")
            .reply(calls([with_input("t1", "write", input)]))
            .records("model_replied round_opened result_finalized round_closed model_call_started")
            .shows_last("user: <t1 invalid_input: the arguments are not a JSON object>");
    }
}

#[test]
fn a_call_nobody_assessed_is_answered() {
    let reply = calls([call("t1", "read", "/a")]).0;
    let lane = Lane::new().prompt("hi");
    let input = windlass_core::Input::ModelReplied {
        model_call: 1,
        reply: reply.into(),
        facts: Vec::new(),
    };
    lane.input(input).shows_last("user: <t1 unknown_tool: there is no tool named \"read\">");
}

#[test]
fn a_call_that_repeats_an_id_is_left_out_and_said() {
    let reply =
        calls([call("t1", "write", "/a"), call("t1", "write", "/b"), call("t2", "read", "/c")]);
    Lane::new()
        .prompt("hi")
        .reply(reply)
        .records("model_replied anomaly_detected round_opened permission_decided permission_decided call_started repeatable_call_started")
        .so(|lane| {
            let odd = Record::AnomalyDetected { what: ReplyAnomaly::RepeatedCallId };
            assert!(lane.last.contains(&odd));
        })
        .returns(0, "A")
        .returns(1, "C")
        .shows([
            "user: hi",
            "assistant: <write t1> | <read t2>",
            "user: <t1 ok: A> | <t2 ok: C> | tool calls that reused an id of the same \
             reply were not run: write",
        ]);
}

// spec: TRANSCRIPT-07
#[test]
fn ids_are_echoed_as_they_came() {
    for id in ["", " t 1 ", "call_\u{5d0}\u{1f600}", "x".repeat(5_000).as_str()] {
        Lane::new()
            .prompt("hi")
            .reply(calls([call(id, "read", "/a")]))
            .returns(0, "A")
            .shows_last(&format!("user: <{id} ok: A>"));
    }
    // The same id again in a later round is another call.
    Lane::new()
        .prompt("hi")
        .reply(calls([call("t1", "read", "/a")]))
        .returns(0, "A")
        .reply(calls([call("t1", "read", "/b")]))
        .returns(0, "B")
        .shows_last("user: <t1 ok: B>");
}

// spec: ERRORS-07, TRANSCRIPT-05
#[test]
fn a_fatal_error_answers_every_id_and_then_ends() {
    let reply =
        calls([call("t1", "bash", "x"), call("t2", "write", "/a"), call("t3", "deploy", "p")]);
    Lane::new()
        .prompt("hi")
        .reply(reply)
        .calls_are("running ready awaiting-human")
        .errs(0, ToolError::new("disk_gone", "the disk is gone", "stop").into_fatal())
        .records("call_returned fatal_tool_error result_finalized result_finalized result_finalized round_closed run_finished")
        .ends(StopCause::ToolFatal)
        .saying("")
        .shows_last(
            "user: <t1 disk_gone: the disk is gone> | <t2 skipped: another call of the same reply failed fatally> | <t3 skipped: another call of the same reply failed fatally>",
        )
        .prompt("go on then")
        .reply(text("fine"))
        .ends(StopCause::EndTurn);
}

#[test]
fn a_fatal_error_waits_for_siblings_in_the_air() {
    Lane::new()
        .prompt("hi")
        .reply(calls([call("t1", "write", "/a"), call("t2", "write", "/b")]))
        .errs(0, ToolError::new("x", "y", "z").into_fatal())
        .records("call_returned fatal_tool_error result_finalized")
        .phase("running_tools")
        .returns(1, "B")
        .ends(StopCause::ToolFatal)
        .shows_last("user: <t1 x: y> | <t2 ok: B>");
}

// spec: ERRORS-06
#[test]
fn a_recoverable_error_goes_to_the_model() {
    Lane::new()
        .prompt("hi")
        .reply(calls([call("t1", "write", "/a")]))
        .errs(0, ToolError::new("file_not_found", "no /a", "list the folder first"))
        .records("call_returned result_finalized round_closed model_call_started")
        .shows_last("user: <t1 file_not_found: no /a>")
        .reply(text("I see"))
        .ends(StopCause::EndTurn);
}

// spec: ROUNDS-12
#[test]
fn a_time_out_says_what_is_known() {
    let late = || ToolOutcome::TimedOut { after_ms: 120_000 };
    let lane = || Lane::new().prompt("hi");
    lane()
        .reply(calls([call("t1", "write", "/a")]))
        .comes_back(0, late())
        .shows_last("user: <t1 timed_out: timed out after 120.0 s; effects unknown>");
    lane()
        .reply(calls([call("t1", "read", "/a")]))
        .comes_back_after(120_000, 0, late())
        .wake()
        .comes_back_after(120_000, 0, late())
        .shows_last("user: <t1 timed_out: timed out after 120.0 s; it changes nothing>");
}

#[test]
fn a_large_result_is_cut_and_kept_in_the_log() {
    let large = "\u{5e9}\u{5b8}".repeat(40_000);
    Lane::new().prompt("hi").reply(calls([call("t1", "read", "/a")])).returns(0, &large).so(
        |lane| {
            let output = crate::kit::messages(&lane.live).pop().unwrap();
            assert!(output.chars().count() < 32_100, "{}", output.chars().count());
            assert!(output.contains("characters omitted"));
            assert!(lane.log.last().unwrap().encode().contains(&large));
        },
    );
}

#[test]
fn a_result_as_completed_is_stored_once() {
    Lane::new().prompt("hi").reply(calls([call("t1", "read", "/a")])).returns(0, "unique!").so(
        |lane| {
            let line = lane.log.last().unwrap().encode();
            assert_eq!(line.matches("unique!").count(), 1, "{line}");
        },
    );
}

#[test]
fn what_a_tool_brings_is_always_content_the_api_takes() {
    let rows = [
        (r#""text""#, "text"),
        (r#"[{"type":"text","text":"a"}]"#, r#"[{"type":"text","text":"a"}]"#),
        (r#"{"a":1}"#, r#"{"a":1}"#),
        ("42", "42"),
        ("null", "null"),
        ("[1,2]", "[1,2]"),
        (r#"[{"a":1}]"#, r#"[{"a":1}]"#),
    ];
    for (content, output) in rows {
        Lane::new()
            .prompt("hi")
            .reply(calls([call("t1", "read", "/a")]))
            .comes_back(0, ToolOutcome::Done(RawJson::parse(content).unwrap()))
            .shows_last(&format!("user: <t1 ok: {output}>"))
            .so(|lane| {
                let segment = lane.live.transcript.segments().back().unwrap();
                let block: serde_json::Value = segment.blocks[0].raw().read().unwrap();
                let fits = match &block["content"] {
                    serde_json::Value::String(_) => true,
                    serde_json::Value::Array(list) => {
                        list.iter().all(|item| item["type"].is_string())
                    }
                    _ => false,
                };
                assert!(fits, "{block}");
            });
    }
}

// spec: ROUNDS-01
#[test]
fn too_many_calls_in_one_reply_are_answered_as_skipped() {
    let lane = Lane::with(|settings| settings.limits.calls_per_reply = 1).prompt("hi");
    lane.reply(calls([call("t1", "read", "/a"), call("t2", "read", "/b")]))
        .calls_are("running finished")
        .returns(0, "A")
        .shows_last("user: <t1 ok: A> | <t2 skipped: a reply may contain at most 1 tool calls>");
}

#[test]
fn a_result_that_nobody_waits_for_changes_nothing() {
    let lane = Lane::new()
        .prompt("hi")
        .reply(calls([call("t1", "read", "/a"), call("t2", "deploy", "p")]));
    let id = lane.call(0);
    let other = windlass_core::log::ids::CallId { model_call: 9, index: 9 };
    for (call, attempt) in [(id, 0), (id, 2), (id, u32::MAX), (other, 1), (lane.call(1), 0)] {
        let outcome = ToolOutcome::Done(RawJson::string("late"));
        let started_at = windlass_core::log::ids::UnixMillis(u64::MAX);
        let input = windlass_core::Input::ToolReturned {
            call,
            attempt,
            started_at,
            outcome,
            context: Vec::new(),
            untrusted: Vec::new(),
        };
        lane.clone().input(input).records_nothing();
    }
    lane.returns(0, "A").records("call_returned result_finalized");
}
