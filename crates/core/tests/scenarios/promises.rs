//! Guarantees of the loop as a whole, each shown on the shortest story that could break it.

use std::sync::Arc;

use windlass_core::Conversation;
use windlass_core::call::outcome::ToolError;
use windlass_core::log::input::{HookDecision, Input};
use windlass_core::log::record::{Record, Transition};
use windlass_core::message::raw_json::RawJson;
use windlass_core::message::request::join_segments;
use windlass_core::projection::{Row, project_rows};
use windlass_core::run::review::ReviewResult;
use windlass_core::settings::conversation_settings::{HookPresence, Settings};
use windlass_core::stop::StopCause;

use crate::kit::{Lane, ReplyBuilder, call, calls, nothing, settings, summed_up, text};

/// Returns the recorded decision about the last reply, and why the model was called then.
fn decided(lane: &Lane) -> (String, Option<String>) {
    let records = || lane.log.iter().flat_map(|entry| &entry.records);
    let decision = records().rev().find_map(|record| match record {
        Record::ModelReplied { decision, .. } => Some(RawJson::encode(decision).text().to_owned()),
        _ => None,
    });
    let asked = lane.last.iter().find_map(|record| match record {
        Record::ModelCallStarted { transition, .. } => {
            Some(RawJson::encode(transition).text().to_owned())
        }
        _ => None,
    });
    let word = |text: String| text.trim_matches('"').to_owned();
    (word(decision.unwrap()), asked.map(word))
}

// spec: STOP-02
#[test]
fn what_a_reply_leads_to_is_recorded_by_name() {
    let is = |lane: &Lane, decision: &str, asked: Option<&str>| {
        assert_eq!(decided(lane), (decision.to_owned(), asked.map(str::to_owned)));
        let entry = lane.log.iter().rev().find(|entry| entry.encode().contains("model_replied/1"));
        assert!(entry.unwrap().encode().contains(decision));
    };
    let said = |reply: ReplyBuilder| Lane::new().prompt("hi").reply(reply);
    let ran = said(calls([call("t1", "read", "/a")]));
    is(&ran, "run_tools", None);
    is(&ran.returns(0, "A"), "run_tools", Some("run_tools"));
    let cut = Lane::with(|s| s.model.max_tokens = s.model.max_output_tokens).prompt("hi");
    let reissued = cut.clone().reply(nothing().cut("read"));
    is(&reissued, "reissue_tool_use", Some("reissue_tool_use"));
    is(&cut.reply(text("ha").stop("max_tokens")), "continue_text", Some("continue_text"));
    is(&said(text("x").stop("pause_turn")), "resume", Some("resume"));
    let drift = said(text("x").matched("\nUser:"));
    is(&drift, r#"{"reprompt":{"reason":"roleplay_drift"}}"#, Some("reprompt"));
    for last in [
        text("done"),
        text("done").matched("\n---END---"),
        text("no").stop("refusal"),
        text("hm").stop("brand_new"),
    ] {
        is(&said(last), "finish", None);
    }
}

// spec: STOP-17
#[test]
fn every_run_has_five_ways_out() {
    let round = || calls([call("t1", "write", "/a")]);
    let exits = [
        (Lane::new().prompt("hi").reply(text("done")), StopCause::EndTurn),
        (
            (0..51).fold(Lane::new().prompt("hi"), |lane, nth| {
                let lane = lane.reply(calls([call("t", "write", &format!("/{nth}"))]));
                if lane.live.run.is_some() { lane.returns(0, &format!("{nth}")) } else { lane }
            }),
            StopCause::MaxToolRounds,
        ),
        (
            Lane::with(|s| s.budget.run.tokens = Some(10_000))
                .prompt("hi")
                .reply(round().usage(9_999, 9)),
            StopCause::BudgetTokens,
        ),
        (
            Lane::new()
                .prompt("hi")
                .reply(round())
                .errs(0, ToolError::new("auth", "no", "no").into_fatal()),
            StopCause::ToolFatal,
        ),
        (Lane::new().prompt("hi").cancel().reply(round()), StopCause::UserCancel),
    ];
    for (lane, cause) in exits {
        lane.ended_for(cause);
    }
    // The cap cannot be removed, nor set so high that it never acts.
    let mut without = settings();
    without.times = Some(windlass_core::settings::limits::RunTimeLimits::default());
    without.limits.provider_wait_ms = 1;
    assert!(without.validate().is_ok());
    for rounds in [0, u32::MAX] {
        without.limits.tool_rounds = rounds;
        assert!(without.validate().is_err(), "{rounds}");
    }
}

// spec: STOP-20
#[test]
fn a_cap_that_is_crossed_leaves_a_checkpoint_and_a_run_that_can_go_on() {
    let lane = Lane::with(|s| s.limits.tool_rounds = 1).prompt("hi");
    let lane = lane.reply(calls([call("t1", "read", "/a")])).returns(0, "A");
    let before = lane.live.clone();
    let lane = lane.reply(calls([call("t2", "read", "/b")]));
    let rows = project_rows(&before, lane.log.last().unwrap());
    assert!(rows.iter().any(|row| matches!(row, Row::Checkpoint(_))), "{rows:?}");
    assert!(lane.ended().cause.is_resumable());
    assert!(lane.ended().text.is_empty());
    // What was done is visible to the next run.
    let shown = ["user: hi", "assistant: <read t1>", "user: <t1 ok: A> | go on"];
    lane.prompt("go on").shows(shown);
}

// spec: TRANSCRIPT-01
#[test]
fn a_request_carries_model_prompt_tools_and_messages() {
    let lane = Lane::new().prompt("hi").reply(calls([call("t1", "read", "/a")])).returns(0, "A");
    let request = lane.live.model_request().unwrap();
    assert_eq!(&*request.settings.model.name, "scripted");
    assert_eq!(request.system_prompt(), "You haul.");
    let tools: Vec<&str> = request.settings.tools.iter().map(|tool| &*tool.name).collect();
    assert_eq!(tools, ["read", "write", "bash", "send"]);
    assert_eq!(request.messages().len(), 3);
    // The shape of the Messages API, byte for byte.
    let raw = request.messages()[2].blocks[0].raw().text();
    assert_eq!(raw, r#"{"type":"tool_result","tool_use_id":"t1","content":"A"}"#);
}

// spec: TRANSCRIPT-02
#[test]
fn a_reply_is_stored_as_it_came_before_it_means_anything() {
    let odd = r#"{"type":"chart",  "x": 1.50 }"#;
    for reason in
        ["end_turn", "tool_use", "max_tokens", "refusal", "pause_turn", "stop_sequence", "?"]
    {
        let lane = Lane::new().prompt("hi").reply(text("half").json(odd).stop(reason));
        let entry = lane.log.last().unwrap();
        assert!(matches!(entry.records.first(), Some(Record::ModelReplied { .. })), "{reason}");
        let Input::ModelReplied { reply, .. } = &entry.input else { panic!("{reason}") };
        assert_eq!(reply.blocks[1].raw().text(), odd, "{reason}");
        assert!(entry.encode().contains(odd), "{reason}");
    }
}

// spec: LOG-06
#[test]
fn folding_the_log_gives_the_whole_state_of_the_loop() {
    let folded = |lane: &Lane| {
        let folded = Conversation::replay(&lane.log).unwrap();
        assert_eq!(folded, lane.live.without_volatile());
        folded
    };
    // Messages, tool context and counters.
    let acting = Lane::new().prompt("hi").reply(calls([call("t1", "write", "/a")]));
    let state = folded(&acting);
    let run = state.run.as_ref().unwrap();
    assert_eq!((run.counters.model_calls, run.counters.tool_calls), (1, 1));
    assert_eq!(run.round().unwrap().calls[0].attempts, 1);
    // Truncation recoveries used, and why each model call happened.
    let cut = Lane::new().prompt("hi").reply(text("ha").stop("max_tokens"));
    let state = folded(&cut);
    let run = state.run.as_ref().unwrap();
    assert_eq!(
        (run.counters.truncations, run.pending_model_call().unwrap().transition),
        (1, Transition::RaiseCap)
    );
    // The pending summary, and then what the recovery ladder has used.
    let tight = Lane::with(summed_up).prompt("go").fills_up(6_000);
    assert!(folded(&tight).run.unwrap().pending_review().is_some());
    let run = folded(&tight.summary("short")).run.unwrap();
    assert_eq!((run.recoveries.compactions, run.counters.reactive_compactions), (1, 0));
    // The one reactive compaction that a run has.
    let full = text("half").stop("model_context_window_exceeded");
    let lane = (0..8).fold(Lane::new(), |lane, _| lane.prompt("hi").reply(text("ok")));
    let run = folded(&lane.prompt("go").reply(full)).run.unwrap();
    assert_eq!((run.recoveries.compactions, run.counters.reactive_compactions), (1, 1));
}

fn hooked(settings: &mut Settings) {
    let all = HookPresence::Present;
    settings.hooks.before_tool = all;
    settings.hooks.after_tool = all;
    settings.hooks.prompt = all;
    settings.hooks.answer = all;
}

// spec: HOOKS-01
#[test]
fn hooks_that_have_nothing_to_say_leave_no_trace_in_the_context() {
    let pass = || ReviewResult::Pass { context: None };
    let plain = Lane::new().prompt("hi").reply(calls([call("t1", "read", "/a")])).returns(0, "A");
    let plain = plain.reply(text("done"));
    let story = |first: ReviewResult| {
        let lane = Lane::with(hooked).prompt("hi").review_returned(first);
        let lane = lane.reply(calls([call("t1", "read", "/a")])).hook(0, HookDecision::Pass {});
        let lane = lane.returns(0, "A").hook(0, HookDecision::Pass {});
        lane.reply(text("done")).review_returned(pass())
    };
    let seen = |lane: &Lane| format!("{:?}", join_segments(lane.live.transcript.segments().iter()));
    assert_eq!(seen(&story(pass())), seen(&plain));
    let told = story(ReviewResult::Pass { context: Some(Arc::from("mind the gap")) });
    assert!(seen(&told).contains("mind the gap"));
}

// spec: ERRORS-08
#[test]
fn whether_something_failed_is_read_from_its_flag_and_never_from_its_text() {
    let looks_bad = "Error executing tool: error: {\"error\":true}";
    let ran = |lane: Lane| lane.prompt("hi").reply(calls([call("t1", "read", "/a")]));
    let fine = ran(Lane::new());
    let before = fine.live.clone();
    let fine = fine.returns(0, looks_bad);
    let ok = |before: &Conversation, lane: &Lane| {
        let rows = project_rows(before, lane.log.last().unwrap());
        let calls = rows.into_iter().find_map(|row| match row {
            Row::Trace(row) => Some(row.tool_calls),
            _ => None,
        });
        calls.unwrap()[0].ok
    };
    assert!(ok(&before, &fine), "the trace");
    let failed = ran(Lane::new()).errs(0, ToolError::new("x", "all is well", "go on"));
    assert!(!ok(&before, &failed), "the trace");
    // A gate counts it as work, and the pinned results of a summary contain it.
    let worked =
        |lane: &Lane| lane.run().round().is_none() && lane.live.transcript.segments().len() == 3;
    assert!(worked(&fine) && worked(&failed));
    let pins = |lane: &Lane| {
        windlass_core::context::pinned_results::pin_latest_results(
            lane.live.transcript.segments().iter(),
        )
    };
    assert_eq!(pins(&fine).len(), 1);
    assert_eq!(pins(&failed).len(), 0);
}
