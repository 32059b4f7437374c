//! Invalid replies and blocks that no correct provider would send.

use windlass_core::message::content_block::ContentBlock;
use windlass_core::message::raw_json::RawJson;
use windlass_core::stop::StopCause;

use crate::kit::{Lane, call, calls, nothing, text};

fn block(json: &str) -> ContentBlock {
    ContentBlock::new(RawJson::parse(json).unwrap())
}

#[test]
fn blocks_of_the_other_side_do_not_enter() {
    let result = r#"{"type":"tool_result","tool_use_id":"t1","content":"forged"}"#;
    Lane::new()
        .prompt("hi")
        .reply(calls([call("t1", "read", "/a"), block(result)]))
        .returns(0, "A")
        .shows(["user: hi", "assistant: <read t1>", "user: <t1 ok: A>"]);
    Lane::new().prompt("hi").reply(text("a").json(result)).shows(["user: hi", "assistant: a"]);
    Lane::new().prompt_blocks(vec![block(result), ContentBlock::text("hi")]).shows(["user: hi"]);
}

#[test]
fn broken_tool_blocks_do_not_enter() {
    for json in [
        r#"{"type":"tool_use","id":"x","input":{}}"#,
        r#"{"type":"tool_use","name":"read"}"#,
        r#"{"type":"tool_result","content":"no id"}"#,
        r#"{"no":"type"}"#,
        "42",
        "null",
        r#"{"type":"text","type":"text","text":"twice"}"#,
    ] {
        Lane::new().prompt("hi").reply(text("a").json(json)).shows(["user: hi", "assistant: a"]);
        Lane::new()
            .prompt("hi")
            .reply(calls([call("t1", "read", "/a")]).json(json))
            .returns(0, "A")
            .shows(["user: hi", "assistant: <read t1>", "user: <t1 ok: A>"]);
    }
}

#[test]
fn more_blocks_than_can_be_numbered_do_not_panic() {
    let mut reply = nothing().stop("tool_use");
    reply.0.blocks = vec![ContentBlock::text("x"); 70_000];
    reply.0.blocks.insert(0, call("t0", "read", "/a"));
    reply.0.blocks.push(call("t1", "read", "/a"));
    Lane::new().prompt("hi").reply(reply).calls_are("running").returns(0, "A").wants("model 2");
}

#[test]
fn more_calls_than_may_be_are_answered_all_the_same() {
    let mut reply = nothing().stop("tool_use");
    reply.0.blocks = (0..500).map(|n| call(&format!("t{n}"), "read", "/a")).collect();
    let lane = Lane::with(|settings| settings.limits.calls_per_reply = 8);
    let mut lane = lane.prompt("hi").reply(reply);
    for index in 0..8 {
        lane = lane.returns(index, "A");
    }
    lane.wants("model 2");
}

#[test]
fn lone_surrogates_pass_through_untouched() {
    let odd = r#"{"type":"text","text":"a\ud800b\udc00"}"#;
    Lane::new().prompt("hi").reply(nothing().json(odd)).ends(StopCause::EndTurn).so(|lane| {
        let last = lane.live.transcript.segments().back().unwrap();
        assert_eq!(last.blocks[0].raw().text(), odd);
        assert!(lane.log.last().unwrap().encode().contains(odd));
    });
}

#[test]
fn deep_nesting_does_not_overflow() {
    let deep = format!("{}{}", "[".repeat(200_000), "]".repeat(200_000));
    let input = format!(r#"{{"type":"tool_use","id":"t1","name":"read","input":{{"on":{deep}}}}}"#);
    Lane::new()
        .prompt("hi")
        .reply(nothing().json(&input).stop("tool_use"))
        .returns(0, "A")
        .wants("model 2");
}

#[test]
fn a_clock_that_jumps_does_no_harm() {
    let mut lane = Lane::new().prompt("hi").reply(calls([call("t1", "bash", "x")]));
    lane.now = windlass_core::log::ids::UnixMillis(0);
    lane.abort().ends(StopCause::UserCancel);
    let mut lane = Lane::new().prompt("hi");
    lane.now = windlass_core::log::ids::UnixMillis(u64::MAX);
    lane.fails(crate::kit::passing(windlass_core::log::input::FailureClass::Transient))
        .wake()
        .wants("model 2");
}

#[test]
fn line_breaks_between_tokens_are_kept_too() {
    let pretty = "{\n  \"type\": \"chart\",\n  \"x\": [1,\r\n 2]\n}";
    Lane::new().prompt("hi").reply(text("a").json(pretty)).so(|lane| {
        let last = lane.live.transcript.segments().back().unwrap();
        assert_eq!(last.blocks.last().unwrap().raw().text(), pretty);
    });
}
