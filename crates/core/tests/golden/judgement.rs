//! Stories about decisions: compaction, loop detection, gates, budgets, time limits and child runs.

use std::sync::Arc;

use windlass_core::budget::spending::{BudgetPeriod, CapAction, Spending, SpendingCaps};
use windlass_core::call::outcome::ToolError;
use windlass_core::guard::completion_gate::{ChecklistItem, StructuredOutputTool};
use windlass_core::log::ids::{CallId, LaneId, RunId};
use windlass_core::log::inbox::{HumanAnswer, InboxCommand};
use windlass_core::log::input::{Classification, FailureClass, HookDecision, Input};
use windlass_core::message::raw_json::RawJson;
use windlass_core::message::reply::TokenUsage;
use windlass_core::permission::{HumanAvailability, PermissionMode, PermissionRule};
use windlass_core::run::child_runs::{ChildOutcome, ChildTask, ParentLink};
use windlass_core::run::review::ReviewResult;
use windlass_core::settings::conversation_settings::{HookPresence, ModelSpec, ToolSpec};
use windlass_core::settings::limits::RunTimeLimits;

use crate::kit::{Lane, call, calls, child_result, page, passing, price, rule, summed_up, text};

/// Every story with its name.
pub(super) fn stories() -> Vec<(&'static str, Lane)> {
    vec![
        ("window_pruned", pruned()),
        ("window_ladder", ladder()),
        ("window_hooks", window_hooks()),
        ("guards", guards()),
        ("due_question", due_question()),
        ("plan_mode", plan_mode()),
        ("gate", gate()),
        ("structured", structured()),
        ("prompt_hooks", prompt_hooks()),
        ("tool_hooks", tool_hooks()),
        ("hook_model", hook_model()),
        ("classifier", classifier()),
        ("grants", grants()),
        ("money", money()),
        ("budget_asked", budget_asked()),
        ("budget_shared", budget_shared()),
        ("times", times()),
        ("hard_time", hard_time()),
        ("journal", journal()),
        ("children", children()),
        ("child", child()),
        ("fallback", fallback()),
        ("leave", leave()),
        ("drift_named", drift_named()),
        ("task_budget", task_budget()),
        ("judge", judge()),
        ("window_heard", window_heard()),
        ("retries_after_death", retries_after_death()),
        ("server_tools", server_tools()),
    ]
}

fn pass() -> ReviewResult {
    ReviewResult::Pass { context: None }
}

fn block(reason: &str) -> ReviewResult {
    ReviewResult::Block { reason: Arc::from(reason) }
}

fn failed(reason: &str) -> ReviewResult {
    let usage = TokenUsage { input_tokens: 7, output_tokens: 1, ..TokenUsage::default() };
    ReviewResult::Failed { why: Arc::from(reason), usage }
}

/// A small window, so that the logs are short too.
fn tiny(settings: &mut windlass_core::settings::conversation_settings::Settings) {
    settings.model.window_tokens = 2_000;
    settings.model.max_tokens = 100;
    settings.model.max_output_tokens = 100;
    settings.limits.summary_tokens = 50;
}

fn pruned() -> Lane {
    let thinking = r#"{"type":"thinking","thinking":"hm","signature":"s"}"#;
    let lane = Lane::with(|settings| {
        tiny(settings);
        settings.limits.kept_messages = 4;
    });
    let lane = lane.remember("Never push to main.").prompt("go");
    let lane = lane.says(calls([]).json(thinking).block(call("t", "read", "/f")));
    lane.returns(0, &page(9, 4_000)).fills(0..4, 400).says(text("done"))
}

fn ladder() -> Lane {
    let lane = Lane::with(|settings| {
        summed_up(settings);
        tiny(settings);
    });
    let lane = lane.prompt("go").fills_up(600).summary("some pages").fills_up(600);
    let lane =
        lane.review_returned(failed("overloaded")).fills_up(600).answer(HumanAnswer::Continue {});
    let lane = lane.summary("more pages").says(text("done"));
    lane.compact().prompt("more").summary("all of it").compact().says(text("done")).compact()
}

fn window_hooks() -> Lane {
    let lane = Lane::with(|settings| {
        summed_up(settings);
        tiny(settings);
        settings.hooks.compaction = HookPresence::Present;
        settings.window.preserve = Some(Arc::from("names"));
    });
    let lane = lane.prompt("go").fills_up(600).review_returned(block("not now")).fills_up(300);
    let lane = lane.review_returned(ReviewResult::Pass { context: Some(Arc::from("keep names")) });
    lane.summary("short").says(text("done"))
}

/// A plan that is sent back once and then approved.
fn plan_mode() -> Lane {
    let lane = Lane::with(|settings| settings.rules.mode = PermissionMode::Plan).prompt("go");
    let plan = |lane: Lane, id| lane.reply(calls([call(id, "ExitPlanMode", "1. write /a")]));
    let lane = plan(plan(lane, "p1").deny("shorter"), "p2").allow();
    lane.reply(calls([call("w", "write", "/a")])).returns(0, "written").reply(text("done"))
}

/// A model that is required to ask the user, and does not.
fn due_question() -> Lane {
    let lane = Lane::with(|settings| settings.guards.ask_tool = Arc::from("send"));
    let round = |lane: Lane, nth: u32| {
        lane.reply(calls([call(&format!("t{nth}"), "read", "/a")])).returns(0, "the same")
    };
    let lane = (0..5).fold(lane.prompt("go"), round).reply(text("it is 42"));
    lane.answer(HumanAnswer::Continue {}).reply(text("done"))
}

fn guards() -> Lane {
    let lane = Lane::with(|settings| settings.guards.lookup_tool = Some(Arc::from("send")));
    let round = |lane: Lane, nth: u32| {
        lane.reply(calls([call(&format!("t{nth}"), "read", "/a")])).returns(0, "the same")
    };
    let lane = (0..5).fold(lane.prompt("go"), round);
    lane.answer(HumanAnswer::Text { text: Arc::from("look in /b") })
        .reply(calls([call("t9", "read", "/b")]))
        .returns(0, "there")
        .reply(text("done"))
}

fn gate() -> Lane {
    let lane = Lane::with(|settings| {
        settings.gate.checklist = vec![ChecklistItem { tool: Arc::from("write"), at_least: 1 }];
        settings.gate.command = Some(Arc::from("make check"));
    });
    lane.prompt("go")
        .reply(text("done"))
        .reply(calls([call("t1", "write", "/a")]))
        .returns(0, "written")
        .reply(text("really"))
        .review_returned(block("make check failed"))
        .reply(text("now"))
        .review_returned(block("make check failed"))
        .answer(HumanAnswer::Abandon {})
        .prompt("again")
        .reply(calls([call("t2", "write", "/b")]))
        .returns(0, "written")
        .reply(text("done"))
        .review_returned(failed("no make"))
}

fn structured() -> Lane {
    let lane = Lane::with(|settings| {
        settings.rules.allow.push(rule("answer"));
        settings.output = Some(StructuredOutputTool { tool: Arc::from("answer") });
    });
    lane.prompt("go")
        .reply(text("42"))
        .reply(calls([call("t1", "answer", "")]))
        .reply(calls([call("t2", "answer", "42")]))
        .returns(0, "ok")
}

fn prompt_hooks() -> Lane {
    let lane = Lane::with(|settings| {
        settings.hooks.prompt = HookPresence::Present;
        settings.hooks.answer = HookPresence::Present;
    });
    lane.prompt("my password is 1234")
        .review_returned(block("holds a secret"))
        .prompt("hi")
        .review_returned(ReviewResult::Pass { context: Some(Arc::from("it is Friday")) })
        .reply(text("hello"))
        .review_returned(pass())
        .prompt("stop me")
        .review_returned(ReviewResult::Stop { reason: Arc::from("enough") })
        .prompt("again")
        .owner_changes()
        .review_returned(failed("timed out"))
        .reply(text("hello"))
        .cancel()
}

fn tool_hooks() -> Lane {
    let lane = Lane::with(|settings| {
        settings.hooks.before_tool = HookPresence::Present;
        settings.hooks.after_tool = HookPresence::Present;
    });
    lane.prompt("go")
        .reply(calls([
            call("t1", "write", "/a"),
            call("t2", "deploy", "x"),
            call("t3", "moon", "/"),
        ]))
        .hook_saying(0, HookDecision::Ask { reason: None }, "mind the lock")
        .hook(1, HookDecision::Allow {})
        .answer_to(1, HumanAnswer::allow())
        .returns(0, "written")
        .hook_saying(0, HookDecision::Pass {}, "formatted")
        .answer_to(2, HumanAnswer::deny("no"))
        .reply(text("done"))
}

/// A hook asks a model before a call, another one without an answer.
fn hook_model() -> Lane {
    let lane = Lane::with(|settings| {
        settings.hooks.before_tool = HookPresence::Present;
        settings.rules.human = HumanAvailability::HooksOnly;
    });
    lane.prompt("go")
        .reply(calls([call("t1", "write", "/a"), call("t2", "deploy", "x")]))
        .hook_uses_model(200, 9)
        .hook(0, HookDecision::Allow {})
        .hook_uses_model(300, 1_024)
        .hook(1, HookDecision::Pass {})
        .returns(0, "written")
        .answer_to(1, HumanAnswer::deny("no one is available"))
        .reply(text("done"))
}

fn classifier() -> Lane {
    let lane = Lane::with(|settings| {
        settings.rules.mode = PermissionMode::Auto;
        settings.rules.ask.clear();
    });
    lane.prompt("go")
        .reply(calls([
            call("t1", "deploy", "a"),
            call("t2", "deploy", "b"),
            call("t3", "deploy", "c"),
        ]))
        .classify(1, Classification::Deny { reason: Arc::from("too dangerous") })
        .classify(0, Classification::Allow {})
        .classify(2, Classification::Unsure { why: Arc::from("hm") })
        .returns(0, "A")
        .allow()
        .returns(2, "C")
        .reply(text("done"))
}

fn grants() -> Lane {
    let lane = Lane::with(|settings| settings.rules.ask.clear());
    let granted = HumanAnswer::allow_with_rule(PermissionRule::parse("deploy").unwrap());
    lane.prompt("go")
        .reply(calls([call("t1", "deploy", "a")]))
        .answer(granted)
        .returns(0, "A")
        .reply(calls([call("t2", "deploy", "b")]))
        .returns(0, "B")
        .reply(text("done"))
}

/// An approval for one input, an approval that comes too late, and an approval question that
/// expires.
fn leave() -> Lane {
    let lane = Lane::with(|settings| settings.limits.approval_ms = Some(60_000));
    let lane = lane.prompt("go").reply(calls([call("t1", "deploy", "a")]));
    let input_hash = lane.live.input_hash(lane.call(0)).unwrap();
    let lane = lane.answer(HumanAnswer::allow().for_input_hash("another"));
    let lane = lane.answer(HumanAnswer::allow().for_input_hash(&input_hash)).returns(0, "A");
    let lane = lane.reply(calls([call("t2", "deploy", "b")])).later(60_000).allow().wake();
    lane.reply(calls([call("t3", "deploy", "c")])).wake().reply(text("done"))
}

/// The tools of a server come, change and go while a run is active.
fn server_tools() -> Lane {
    let tool = |description: &str| ToolSpec {
        name: Arc::from("mcp__desk__act"),
        description: Arc::from(description),
        input_schema: RawJson::string(""),
    };
    let offer = |tools: Vec<ToolSpec>| Input::ServerToolsOffered { tools };
    let lane = Lane::new().prompt("go").reply(calls([call("t1", "deploy", "a")])).allow();
    let lane = lane.input(offer(vec![tool("Acts")])).returns(0, "A");
    let lane = lane.reply(calls([call("t2", "deploy", "b")])).allow();
    let lane = lane.input(offer(vec![tool("Acts otherwise")])).returns(0, "B");
    let lane = lane.reply(calls([call("t3", "deploy", "c")])).allow();
    lane.input(offer(Vec::new())).returns(0, "C").reply(text("done"))
}

fn drift_named() -> Lane {
    let mut other = crate::kit::settings();
    other.system = Arc::from("You drop.");
    other.tools.pop();
    let lane = Lane::new()
        .prompt("go")
        .owner_changes_with_settings(&other)
        .answer(HumanAnswer::Continue {});
    lane.configure(other).reply(text("x").matched("\nUser:")).reply(text("done"))
}

/// Turns beyond the sliding window are removed, and the model is told what is left of its task
/// budget.
fn task_budget() -> Lane {
    let lane = Lane::with(|settings| {
        tiny(settings);
        settings.limits.kept_messages = 4;
        settings.limits.sliding_messages = 4;
        settings.thinking.task_tokens = Some(20_000);
        settings.guards.exempt = vec![Arc::from("read")];
    });
    lane.prompt("go").fills(0..8, 900).says(text("done"))
}

fn money() -> Lane {
    let lane = Lane::with(|settings| {
        settings.model.price = Some(price());
        settings.budget.run = SpendingCaps { tokens: Some(40_000), usd_micros: Some(100_000) };
        settings.budget.conversation = SpendingCaps { tokens: None, usd_micros: Some(150_000) };
    });
    lane.prompt("go")
        .reply(calls([call("t1", "read", "/a")]).usage(35_000, 100))
        .returns(0, "A")
        .reply(text("half a").stop("max_tokens").usage(900, 900))
        .prompt("again")
        .reply(text("done").usage(90_000, 4_000))
        .prompt("once more")
}

fn budget_asked() -> Lane {
    let lane = Lane::with(|settings| {
        settings.budget.run = SpendingCaps { tokens: Some(10_000), usd_micros: None };
        settings.budget.at_cap = CapAction::Ask;
    });
    lane.prompt("go")
        .reply(calls([call("t1", "read", "/a")]).usage(9_500, 10))
        .returns(0, "A")
        .answer(HumanAnswer::Continue {})
        .reply(calls([call("t2", "read", "/b")]).usage(9_500, 10))
        .returns(0, "B")
        .answer(HumanAnswer::Abandon {})
}

fn budget_shared() -> Lane {
    let lane = Lane::with(|settings| {
        settings.profile = Arc::from("careful");
        settings.budget.profile.caps = SpendingCaps { tokens: Some(20_000), usd_micros: None };
        settings.budget.profile.period = BudgetPeriod::Month;
    });
    let seen = |tokens| Input::SharedSpendingUpdated { total: Spending { tokens, usd_micros: 0 } };
    lane.input(seen(9_000))
        .prompt("go")
        .reply(text("done").usage(900, 10))
        .input(seen(19_500))
        .prompt("again")
}

fn timed(soft_ms: u64) -> Lane {
    Lane::with(|settings| {
        settings.times = Some(RunTimeLimits { soft_ms, hard_ms: soft_ms * 2, grace_ms: 1_000 });
    })
}

fn times() -> Lane {
    timed(60_000)
        .prompt("go")
        .later(8 * 3_600_000)
        .wait(0)
        .reply(calls([
            call("t1", "sleep", "/s"),
            call("t2", "write", "/a"),
            call("t3", "write", "/a"),
        ]))
        .wake()
        .wake()
        .returns(1, "written")
        .reply(text("half of it is done"))
}

fn hard_time() -> Lane {
    let lane = timed(60_000).prompt("go").wake().wake().prompt("again");
    lane.reply(calls([call("t1", "write", "/a")])).wake().wake()
}

fn journal() -> Lane {
    let note = |lane: Lane, id: &str, what: &str| lane.reply(calls([call(id, "note", what)]));
    let lane = note(Lane::new().prompt("go"), "n1", "objective: haul it up");
    let lane = note(lane, "n2", "blockers+ the rope is short");
    let lane = lane.reply(calls([call("n3", "notes", "")])).reply(text("done"));
    note(lane.prompt("go on"), "n4", "handoff_next_action: splice it")
}

fn children() -> Lane {
    let lane = Lane::with(|settings| {
        settings.model.price = Some(price());
        settings.budget.run = SpendingCaps { tokens: Some(100_000), usd_micros: Some(1_000_000) };
        settings.limits.children = 2;
    });
    let lane = lane.prompt("go").reply(calls([call("t1", "spawn", "a b c")]));
    let lane = lane
        .child_returns(0, 1, "B")
        .child_returns(0, 1, "B again")
        .owner_changes()
        .child_returns(0, 0, "A");
    let failed = child_result(lane.call(0), 2, ChildOutcome::Failed);
    let lane =
        lane.deliver_child_result(failed, "too dark").reply(calls([call("t2", "spawn", "d e")]));
    let lane = lane.cancel().child_returns(0, 0, "D").wake();
    let late = child_result(CallId { model_call: 2, index: 0 }, 1, ChildOutcome::Failed);
    lane.deliver_child_result(late, "cancelled")
}

fn child() -> Lane {
    let caps = SpendingCaps { tokens: Some(20_000), usd_micros: None };
    let call = CallId { model_call: 3, index: 1 };
    let parent = ParentLink {
        lane: LaneId::from("conversation:1"),
        call,
        part: 2,
        caps,
        depth: 1,
        untrusted: false,
    };
    let task = ChildTask::new("scout", "look there");
    let employ = InboxCommand::Task { run: RunId::from("run:child"), task, parent };
    Lane::new().send_command(employ.clone()).reply(text("seen")).send_command(employ)
}

fn fallback() -> Lane {
    let thinking = r#"{"type":"thinking","thinking":"hm","signature":"s"}"#;
    let lane = Lane::with(|settings| {
        settings.fallback = Some(ModelSpec::with_defaults("other"));
        settings.limits.model_retries = 1;
        settings.limits.provider_wait_ms = 600_000;
    });
    let lane = lane.prompt("go").reply(calls([]).json(thinking).block(call("t1", "read", "/a")));
    let lane = lane.returns(0, "A").fails(passing(FailureClass::Transient)).wake();
    let lane =
        lane.fails(passing(FailureClass::StreamCut)).fails(passing(FailureClass::Transient)).wake();
    let lane = lane.fails(passing(FailureClass::Transient)).wake().reply(text("up"));
    lane.prompt("more").reply(text("done"))
}

/// A no, a lost ruling, a yes; then an unclear ruling.
fn judge() -> Lane {
    let lane = Lane::with(|settings| settings.gate.judge = Some(Arc::from("it is tested")));
    let lane = lane.prompt("go").reply(text("one")).summary("no: there is no test");
    let lane = lane.reply(text("two")).owner_changes().summary("yes");
    lane.prompt("more").reply(text("three")).summary("perhaps")
}

/// A hook blocks the pruning stages, then allows them.
fn window_heard() -> Lane {
    let lane = Lane::with(|settings| {
        tiny(settings);
        settings.limits.kept_messages = 4;
        settings.hooks.compaction = HookPresence::Present;
    });
    let lane = lane.prompt("go").says(calls([call("t", "read", "/f")])).returns(0, &page(9, 4_000));
    let lane = lane.fills_up(400).review_returned(block("not now")).fills_up(400);
    lane.review_returned(pass()).says(text("done"))
}

/// Two transient failures with a crash after each, then a result.
fn retries_after_death() -> Lane {
    let down = || ToolError::new("http_503", "down", "try later").into_transient();
    let lane = Lane::new().prompt("go").reply(calls([call("t", "fetch", "/a")]));
    let lane = lane.errs_after(1_000, 0, down()).owner_changes().wake();
    let lane = lane.errs_after(1_000, 0, down()).wake().owner_changes();
    lane.returns(0, "A").reply(text("done"))
}
