//! Every event, its fields, and the questions it answers.

use std::sync::Arc;

use serde_json::{Value, json};
use windlass_core::call::outcome::ToolError;
use windlass_core::guard::completion_gate::ChecklistItem;
use windlass_core::log::inbox::HumanAnswer;
use windlass_core::log::input::{Classification, FailureClass, HookDecision};
use windlass_core::message::reply::TokenUsage;
use windlass_core::permission::{PermissionMode, PermissionRule};
use windlass_core::projection::event_alias;
use windlass_core::run::review::ReviewResult;
use windlass_core::settings::conversation_settings::{HookPresence, ModelSpec};
use windlass_core::settings::limits::RunTimeLimits;
use windlass_core::stop::RunState;

use super::rows::events;
use crate::kit::{Lane, call, calls, paid_only, passing, settings, summed_up, text};

/// The fields of the last event of this name.
#[track_caller]
fn last(lane: &Lane, name: &str) -> Value {
    let all = events(lane);
    let names: Vec<&str> = all.iter().map(|row| row.name).collect();
    let row = all.iter().rfind(|row| row.name == name);
    let row = row.unwrap_or_else(|| panic!("no {name} in {names:?}"));
    assert!(row.run.is_some() && row.seq > 0 && row.at.0 > 0);
    serde_json::from_str(row.fields.text()).unwrap()
}

fn count(lane: &Lane, name: &str) -> usize {
    events(lane).iter().filter(|row| row.name == name).count()
}

fn failed(reason: &str) -> ReviewResult {
    ReviewResult::Failed { why: Arc::from(reason), usage: TokenUsage::default() }
}

fn block(reason: &str) -> ReviewResult {
    ReviewResult::Block { reason: Arc::from(reason) }
}

#[test]
fn a_retry_names_the_call_and_when() {
    let down = ToolError::new("http_503", "down", "later").into_transient();
    let lane = Lane::new().prompt("hi").reply(calls([call("t1", "fetch", "/a")])).errs(0, down);
    let fields = last(&lane, "agent.tool.retry");
    assert_eq!(
        (&fields["call"], &fields["tool"], &fields["attempt"]),
        (&json!("1.0"), &json!("fetch"), &json!(1))
    );
    assert!(fields["until"].as_u64().unwrap() > lane.now.0);
}

// spec: GUARDS-03
#[test]
fn a_circle_names_tier_tool_and_level() {
    let round = |lane: Lane, nth: u32| {
        lane.reply(calls([call(&format!("t{nth}"), "read", "/a")])).returns(0, "same")
    };
    let lane = (0..4).fold(Lane::new().prompt("hi"), round);
    assert_eq!(
        last(&lane, "agent.loop.detected"),
        json!({"tier": "identical", "tool": "read", "level": "directive", "escalated": true})
    );
    assert_eq!(count(&lane, "agent.loop.detected"), 2);
    // The same tool with new results is detected too, and leads to nothing.
    let read = |lane: Lane, nth: u32| {
        let (id, on) = (format!("t{nth}"), format!("/{nth}"));
        lane.reply(calls([call(&id, "read", &on)])).returns(0, &on)
    };
    let lane = (0..4).fold(Lane::new().prompt("hi"), read);
    assert_eq!(
        last(&lane, "agent.loop.detected"),
        json!({"tier": "pattern", "tool": "read", "level": "calm", "escalated": false})
    );
}

// spec: WINDOW-19
#[test]
fn compactions_and_recoveries_say_what_they_freed() {
    let lane = Lane::with(summed_up).prompt("go").fills(0..9, 6_000).summary("one");
    let fields = last(&lane, "agent.compaction.run");
    assert_eq!(fields["stage"], "R1");
    let number = |name: &str| fields[name].as_u64().unwrap();
    assert!(number("tokens_before") > number("tokens_after") && number("tokens_after") > 0);
    assert!(number("messages_before") > number("messages_after"));
    let lane = lane.fills_up(6_000).summary("two");
    assert_eq!(last(&lane, "agent.recovery.fired")["stage"], "R2");
    let lane = lane.fills_up(6_000).parked();
    let fields = last(&lane, "agent.recovery.fired");
    assert_eq!(
        (&fields["stage"], &fields["tokens_before"]),
        (&json!("R3"), &fields["tokens_after"])
    );
    assert_eq!(count(&lane, "agent.compaction.run"), 1);
    let lane = Lane::with(crate::kit::small).prompt("go").fills(0..9, 6_000);
    assert_eq!(last(&lane, "agent.compaction.run")["stage"], "micro");
}

#[test]
fn a_stage_that_failed_is_named() {
    let lane =
        Lane::with(summed_up).prompt("go").fills(0..9, 6_000).review_returned(failed("overloaded"));
    assert_eq!(
        last(&lane, "agent.compaction.failed"),
        json!({"stage": "auto", "why": "overloaded"})
    );
    let lane = Lane::with(|settings| {
        paid_only(settings);
        settings.hooks.compaction = HookPresence::Present;
    });
    let lane = lane.prompt("go").fills(0..9, 6_000).review_returned(block("not now"));
    assert_eq!(last(&lane, "agent.compaction.failed"), json!({"stage": "hook", "why": "not now"}));
}

// spec: GUARDS-10
#[test]
fn guardrails_say_which_and_how_often() {
    let lane = Lane::with(|settings| {
        settings.gate.checklist = vec![ChecklistItem { tool: Arc::from("write"), at_least: 1 }];
    });
    let lane = lane.prompt("hi").reply(text("done"));
    let fields = last(&lane, "agent.guardrail.escalated");
    assert_eq!((&fields["guardrail"], &fields["times"]), (&json!("checklist"), &json!(1)));
    assert!(fields["reason"].as_str().unwrap().contains("write must succeed at least once"));
    let lane = Lane::with(|settings| settings.hooks.answer = HookPresence::Present).prompt("hi");
    let lane = lane
        .reply(text("done"))
        .review_returned(block("no tests"))
        .reply(text("done"))
        .review_returned(block("none"));
    assert_eq!(
        last(&lane, "agent.guardrail.escalated"),
        json!({"guardrail": "hook", "level": "directive", "times": 2, "reason": "none"})
    );
    let lane = lane.reply(text("done")).review_returned(block("none at all"));
    assert_eq!(
        last(&lane, "agent.guardrail.escalated"),
        json!({"guardrail": "hook", "level": "human", "times": 3, "reason": "none at all"})
    );
    last(&lane, "agent_run.asked_human");
    let lane = Lane::new().prompt("hi").reply(text("x").matched("\nUser:"));
    assert_eq!(
        last(&lane, "agent.guardrail.escalated"),
        json!({"guardrail": "drift", "level": "nudge", "times": 1, "reason": "roleplay_drift"})
    );
    let lane = Lane::with(|settings| {
        settings.output = Some(windlass_core::guard::completion_gate::StructuredOutputTool {
            tool: Arc::from("answer"),
        });
    });
    let lane = lane.prompt("hi").reply(text("42"));
    assert_eq!(last(&lane, "agent.guardrail.escalated")["guardrail"], "schema");
}

// spec: GUARDS-12
#[test]
fn time_limits_are_told_and_the_soft_one_has_its_old_name() {
    let lane =
        Lane::with(|settings| settings.times = Some(RunTimeLimits::default())).prompt("hi").wake();
    last(&lane, "agent.exhaustion.soft_limit");
    assert_eq!(event_alias("agent.exhaustion.soft_limit"), Some("agent.exhaustion.celery_soft"));
    assert_eq!(event_alias("agent_run.started"), None);
    let lane = lane.wake();
    last(&lane, "agent.exhaustion.hard_limit");
    assert_eq!(last(&lane, "agent_run.failed")["cause"], "hard_time");
}

#[test]
fn the_life_of_a_run_is_told() {
    let lane = Lane::new().prompt("hi").reply(text("done"));
    last(&lane, "agent_run.started");
    assert_eq!(
        last(&lane, "agent_run.completed"),
        json!({"cause": "end_turn", "resumable": false, "also": []})
    );
    let lane = Lane::new().prompt("hi").cancel().reply(calls([call("t1", "read", "/a")]));
    assert_eq!(last(&lane, "agent_run.cancelled")["cause"], "user_cancel");
    let lane = Lane::with(|settings| settings.limits.tool_rounds = 0).prompt("hi");
    let lane = lane.reply(calls([call("t1", "read", "/a")]));
    let error = "0 of 0 rounds with tool calls used";
    let message = json!({"cause": "max_iters", "resumable": true, "also": [], "error": error});
    assert_eq!(last(&lane, "agent_run.failed"), message);
    let lane = Lane::new().prompt("hi").owner_changes();
    last(&lane, "agent_run.resumed");
    let lane = Lane::new().prompt("hi").reply(calls([call("t1", "write", "/a")])).owner_changes();
    assert_eq!(last(&lane, "agent_run.resume_unsafe")["uncertain"]["call"]["model_call"], 1);
    let lane = Lane::new().prompt("hi").owner_changes_with_hash("other");
    assert!(last(&lane, "agent_run.resume_unsafe")["prompt_changed"]["changes"].is_string());
    let lane = Lane::new().prompt("hi").reply(calls([call("t1", "deploy", "x")]));
    assert!(last(&lane, "agent_run.asked_human")["approval"].is_object());
}

// spec: TRACE-12
#[test]
fn a_failure_carries_its_error_and_the_model_never_sees_it() {
    let mut failure = passing(FailureClass::Permanent);
    failure.message = Arc::from("401: bad key\ncaused by: expired");
    let lane = Lane::new().prompt("hi").fails(failure);
    let fields = last(&lane, "agent_run.failed");
    assert_eq!(fields["error"], "401: bad key\ncaused by: expired");
    lane.hides("bad key");
    let fatal = ToolError::new("disk_gone", "the disk is gone", "stop").into_fatal();
    let lane = Lane::new().prompt("hi").reply(calls([call("t1", "bash", "x")])).errs(0, fatal);
    assert_eq!(last(&lane, "agent_run.failed")["error"], "disk_gone: the disk is gone (stop)");
}

// spec: TRACE-12
#[test]
fn a_failure_carries_the_whole_chain_also_when_something_else_ends_the_run() {
    let error = |lane: &Lane| last(lane, "agent_run.failed")["error"].as_str().unwrap().to_owned();
    let mut fatal = ToolError::new("disk_gone", "the disk is gone", "stop").into_fatal();
    fatal.detail = Some(Arc::from("caused by: I/O error\nat disk.rs:7"));
    let chain = "disk_gone: the disk is gone (stop)\ncaused by: I/O error\nat disk.rs:7";
    // Another call still runs, and its return ends the run.
    let both = calls([call("t1", "write", "/x"), call("t2", "write", "/y")]);
    let lane = Lane::new().prompt("hi").reply(both).errs(0, fatal).returns(1, "ok");
    assert_eq!(error(&lane), chain);
    lane.hides("I/O error");
    // Every cause has a text.
    let rounds = Lane::with(|settings| settings.limits.tool_rounds = 1).prompt("hi");
    let rounds = rounds.reply(calls([call("t1", "read", "/a")])).returns(0, "A");
    let rounds = rounds.reply(calls([call("t2", "read", "/b")]));
    assert_eq!(error(&rounds), "1 of 1 round with tool calls used");
}

// spec: TRACE-10
#[test]
fn an_event_carries_agent_and_profile() {
    let lane = Lane::with(|settings| {
        settings.agent = Arc::from("scout");
        settings.profile = Arc::from("careful");
    });
    let lane = lane.prompt("hi").reply(text("done"));
    let told = events(&lane);
    assert!(told.len() >= 2);
    assert!(told.iter().all(|event| (&*event.agent, &*event.profile) == ("scout", "careful")));
}

#[test]
fn a_doubtful_answer_says_why() {
    let lane = Lane::with(|settings| {
        settings.gate.checklist = vec![ChecklistItem { tool: Arc::from("write"), at_least: 1 }];
        settings.limits.rejections = 0;
        settings.rules.human = windlass_core::permission::HumanAvailability::Absent;
    });
    let lane = lane.prompt("hi").reply(text("done"));
    assert!(
        last(&lane, "agent_run.completed")["suspect"]
            .as_str()
            .unwrap()
            .contains("write must succeed at least once")
    );
}

#[test]
fn a_tool_that_did_not_run_says_what_held_it_back() {
    let denied =
        |lane: &Lane| last(lane, "agent.tool.denied")["reason"].as_str().unwrap().to_owned();
    let lane = Lane::new().prompt("hi").reply(calls([call("t1", "rm", "/")]));
    assert_eq!(denied(&lane), "the rule rm denies it");
    assert_eq!(last(&lane, "agent.tool.denied")["tool"], "rm");
    let lane =
        Lane::with(|settings| settings.hooks.before_tool = HookPresence::Present).prompt("hi");
    let lane = lane.reply(calls([call("t1", "write", "/")]));
    let lane = lane.hook(0, HookDecision::Deny { reason: Arc::from("policy 7") });
    assert_eq!(denied(&lane), "policy 7");
    let lane = Lane::with(|settings| {
        settings.rules.mode = PermissionMode::Auto;
        settings.rules.ask.clear();
    });
    let lane = lane.prompt("hi").reply(calls([call("t1", "deploy", "x")]));
    let lane = lane.classify(0, Classification::Deny { reason: Arc::from("a classifier said no") });
    assert_eq!(denied(&lane), "a classifier said no");
    let lane = Lane::new().prompt("hi").reply(calls([call("t1", "deploy", "x")])).deny("not today");
    assert_eq!(denied(&lane), "not today");
}

#[test]
fn a_fallback_says_what_led_to_it_and_a_cut_reply_how_far_the_ladder_is_used() {
    let lane = Lane::with(|settings| {
        settings.fallback = Some(ModelSpec::with_defaults("other"));
        settings.limits.model_retries = 0;
    });
    let lane = lane.prompt("hi").fails(passing(FailureClass::Transient));
    assert_eq!(last(&lane, "agent.model.fell_back"), json!({"why": "down", "model": "other"}));
    assert_eq!(last(&lane, "agent.model.abandoned"), json!({"why": "down"}));
    let lane = Lane::new().prompt("hi").reply(text("a").stop("max_tokens"));
    assert_eq!(last(&lane, "agent.reply.truncated"), json!({"used": 1, "of": 3}));
    let lane = lane.reply(text("a").stop("max_tokens"));
    assert_eq!(last(&lane, "agent.reply.truncated"), json!({"used": 2, "of": 3}));
    let lane = Lane::new().prompt("hi").fails(passing(FailureClass::Transient));
    assert_eq!(last(&lane, "agent.model.retry")["failures"], 1);
}

#[test]
fn budgets_grants_and_children_are_told() {
    let lane = Lane::with(|settings| {
        settings.budget.run.tokens = Some(10_000);
        settings.budget.at_cap = windlass_core::budget::spending::CapAction::Ask;
    });
    let lane = lane.prompt("hi").reply(calls([call("t1", "read", "/a")]).usage(8_200, 10));
    let lane = lane.returns(0, "A");
    assert_eq!(last(&lane, "agent.budget.warning"), json!({"percent": 82}));
    let lane = lane.reply(calls([call("t2", "read", "/b")]).usage(2_000, 10)).returns(0, "B");
    assert_eq!(last(&lane, "agent_run.asked_human")["budget"]["cap"], "budget_tokens");
    last(&lane.answer(HumanAnswer::Continue {}), "agent.budget.extended");
    let lane = Lane::new().prompt("hi").reply(calls([call("t1", "deploy", "a")]));
    let lane = lane.answer(HumanAnswer::allow_with_rule(PermissionRule::parse("deploy").unwrap()));
    assert_eq!(last(&lane, "agent.permission.granted"), json!({"rule": "deploy"}));
    let lane = Lane::new().prompt("hi").reply(calls([call("t1", "spawn", "a b")]));
    assert_eq!(
        last(&lane, "agent.children.spawned"),
        json!({"call": "1.0", "from": 0, "to": 2, "agent": "scout"})
    );
}

#[test]
fn hooks_that_failed_are_told_and_hooks_that_spoke_are_not_failures() {
    let lane = || Lane::with(|settings| settings.hooks.prompt = HookPresence::Present).prompt("hi");
    assert_eq!(
        last(&lane().review_returned(failed("timed out")), "agent.hook.failed"),
        json!({"stage": "prompt", "why": "timed out"})
    );
    assert_eq!(count(&lane().review_returned(block("no")), "agent.hook.failed"), 0);
    let lane = Lane::with(|settings| settings.hooks.answer = HookPresence::Present).prompt("hi");
    let lane = lane.reply(text("done")).review_returned(failed("crashed"));
    assert_eq!(last(&lane, "agent.hook.failed")["stage"], "answer");
}

// spec: TRACE-08
#[test]
fn a_journal_update_and_a_compaction_are_checkpoints() {
    use windlass_core::projection::CheckpointKind::{
        Compaction, Final, Input, JournalUpdate, ToolResult,
    };
    let kinds = |lane: &Lane| {
        super::rows::kinds(lane).into_iter().map(|(_, kind)| kind).collect::<Vec<_>>()
    };
    // The usual case: one call, whose round closes in the entry that changes the journal.
    let lane = Lane::new().prompt("hi").reply(calls([call("n", "note", "objective: x")]));
    assert_eq!(kinds(&lane), [Input, JournalUpdate]);
    assert_eq!(kinds(&lane.reply(text("done"))), [Input, JournalUpdate, Final]);
    // Beside a call that still runs.
    let both = calls([call("n", "note", "objective: x"), call("t", "write", "/a")]);
    let lane = Lane::new().prompt("hi").reply(both);
    assert_eq!(kinds(&lane), [Input, JournalUpdate]);
    assert_eq!(kinds(&lane.returns(1, "ok")), [Input, JournalUpdate, ToolResult]);
    // A change that was rejected changes nothing.
    let refused = calls([call("n", "note", "resolve 1@0")]);
    assert_eq!(kinds(&Lane::new().prompt("hi").reply(refused)), [Input, ToolResult]);
    let lane = Lane::with(summed_up).prompt("go").fills(0..9, 6_000).summary("one");
    assert_eq!(kinds(&lane).last(), Some(&Compaction));
}

#[test]
fn a_run_that_lost_its_owner_is_told_with_what_became_of_it() {
    let counts = |lane: &Lane| last(lane, "agent_run.reconcile");
    let gone_on = Lane::new().prompt("hi").owner_changes();
    assert!(events(&gone_on).iter().all(|event| event.name != "agent_run.reconcile"));
    let cancelled = Lane::new().prompt("hi").cancel().owner_changes();
    assert_eq!(counts(&cancelled), json!({"timed_out": 0, "failed": 0, "cancelled": 1}));
    let failed =
        Lane::with(|settings| settings.limits.model_calls = 1).prompt("hi").owner_changes();
    assert_eq!(counts(&failed), json!({"timed_out": 0, "failed": 1, "cancelled": 0}));
    // An owner change of a run that waits for its human needs no event either.
    let parked = Lane::new().prompt("hi").reply(calls([call("t1", "deploy", "x")])).owner_changes();
    assert!(events(&parked).iter().all(|event| event.name != "agent_run.reconcile"));
    // A human who never answers does not delay a cancel for ever.
    let asked = Lane::new().prompt("hi").reply(calls([call("t1", "write", "/a")])).owner_changes();
    let waited = asked.cancel().wake();
    assert_eq!(counts(&waited), json!({"timed_out": 0, "failed": 0, "cancelled": 1}));
}

// spec: LANES-05
#[test]
fn a_waiting_prompt_that_cannot_begin_is_told_and_the_next_one_begins() {
    let lane = Lane::with(|settings| {
        settings.model.window_tokens = 4_000;
        settings.model.max_tokens = 100;
    });
    let lane = lane.prompt("one").prompt(&"long ".repeat(10_000)).prompt("three");
    // The second is too long, and blocks the third.
    let lane = lane.says(text("done"));
    let message = last(&lane, "agent_run.dispatch_next_failed");
    assert_eq!(message, json!({"cause": "blocking_limit", "waiting": 0}));
    assert_eq!(count(&lane, "agent_run.dispatch_next_failed"), 2);
    // The lane is free: the next prompt starts.
    lane.configure(settings()).prompt("four").wants("model 2");
}

// spec: LANES-09
#[test]
fn a_cancelled_run_says_nothing() {
    let lane = Lane::new().prompt("hi").reply(calls([call("t1", "write", "/a")]).text("On it."));
    let shown = lane.live.transcript.clone();
    let lane = lane.cancel().returns(0, "ok");
    assert_eq!(last(&lane, "agent_run.cancelled")["cause"], "user_cancel");
    let ended = lane.ended();
    assert_eq!(
        (&*ended.text, ended.cause.run_state(ended.text_presence())),
        ("", RunState::Cancelled)
    );
    // The round that was in flight is kept, and nothing is added after it.
    assert_eq!(lane.live.transcript.segments().len(), shown.segments().len() + 2);
    assert!(!lane.live.transcript.ends_in_reply());
}

// spec: ERRORS-05
#[test]
fn what_is_behind_an_error_is_in_the_event_and_not_in_the_transcript() {
    let error = ToolError::new("broke", "it broke", "mend it");
    let error = error.with_detail("it broke: the disk: is full");
    let lane = Lane::new().prompt("go").reply(calls([call("t1", "read", "/a")])).errs(0, error);
    let lane = lane.shows_last("user: <t1 broke: it broke>");
    let fields = last(&lane, "agent.tool.failed");
    assert_eq!(fields["detail"], "it broke: the disk: is full");
    assert_eq!((&fields["tool"], &fields["code"]), (&json!("read"), &json!("broke")));
}
