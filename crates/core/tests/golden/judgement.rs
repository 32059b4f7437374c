//! Stories of the judgement: what is kept small, watched, gated, paid, timed and handed out.

use std::sync::Arc;

use windlass_core::budget::{AtCap, Caps, Period, Spent};
use windlass_core::child::{Ending, Parent, Task};
use windlass_core::counsel::Advice;
use windlass_core::gate::{Need, Output};
use windlass_core::ids::{CallId, LaneId, RunId};
use windlass_core::input::{FailureClass, HookAnswer, Input, Opinion};
use windlass_core::limits::Times;
use windlass_core::mail::{Answer, MailBody};
use windlass_core::outcome::ToolError;
use windlass_core::permission::{Mode, Rule};
use windlass_core::reply::Usage;
use windlass_core::settings::{Listening, Model};

use crate::kit::{Lane, call, calls, home, page, passing, price, rule, summed_up, text};

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
    ]
}

fn pass() -> Advice {
    Advice::Pass { context: None }
}

fn block(reason: &str) -> Advice {
    Advice::Block { reason: Arc::from(reason) }
}

fn failed(why: &str) -> Advice {
    let usage = Usage { input_tokens: 7, output_tokens: 1, ..Usage::default() };
    Advice::Failed { why: Arc::from(why), usage }
}

/// A small window, so that the logs are short too.
fn tiny(settings: &mut windlass_core::settings::Settings) {
    settings.model.window_tokens = 2_000;
    settings.model.max_tokens = 100;
    settings.model.most_output_tokens = 100;
    settings.limits.summary_tokens = 50;
}

fn pruned() -> Lane {
    let thought = r#"{"type":"thinking","thinking":"hm","signature":"s"}"#;
    let lane = Lane::with(|settings| {
        tiny(settings);
        settings.limits.kept_messages = 4;
    });
    let lane = lane.remember("Never push to main.").prompt("go");
    let lane = lane.says(calls([]).json(thought).block(call("t", "read", "/f")));
    lane.returns(0, &page(9, 4_000)).fills(0..4, 400).says(text("done"))
}

fn ladder() -> Lane {
    let lane = Lane::with(|settings| {
        summed_up(settings);
        tiny(settings);
    });
    let lane = lane.prompt("go").fills_up(600).summary("some pages").fills_up(600);
    let lane = lane.advise(failed("overloaded")).fills_up(600).answer(Answer::Continue {});
    let lane = lane.summary("more pages").says(text("done"));
    lane.compact().prompt("more").summary("all of it").compact().says(text("done")).compact()
}

fn window_hooks() -> Lane {
    let lane = Lane::with(|settings| {
        summed_up(settings);
        tiny(settings);
        settings.hooks.compaction = Listening::Hooked;
        settings.window.preserve = Some(Arc::from("names"));
    });
    let lane = lane.prompt("go").fills_up(600).advise(block("not now")).fills_up(300);
    let lane = lane.advise(Advice::Pass { context: Some(Arc::from("keep names")) });
    lane.summary("short").says(text("done"))
}

/// A plan that is sent back once and then approved.
fn plan_mode() -> Lane {
    let lane = Lane::with(|settings| settings.rules.mode = Mode::Plan).prompt("go");
    let plan = |lane: Lane, id| lane.reply(calls([call(id, "ExitPlanMode", "1. write /a")]));
    let lane = plan(plan(lane, "p1").deny("shorter"), "p2").allow();
    lane.reply(calls([call("w", "write", "/a")])).returns(0, "written").reply(text("done"))
}

/// A model that is made to ask a person, and does not.
fn due_question() -> Lane {
    let lane = Lane::with(|settings| settings.guards.ask_tool = Arc::from("send"));
    let round = |lane: Lane, nth: u32| {
        lane.reply(calls([call(&format!("t{nth}"), "read", "/a")])).returns(0, "the same")
    };
    let lane = (0..5).fold(lane.prompt("go"), round).reply(text("it is 42"));
    lane.answer(Answer::Continue {}).reply(text("done"))
}

fn guards() -> Lane {
    let lane = Lane::with(|settings| settings.guards.lookup_tool = Some(Arc::from("send")));
    let round = |lane: Lane, nth: u32| {
        lane.reply(calls([call(&format!("t{nth}"), "read", "/a")])).returns(0, "the same")
    };
    let lane = (0..5).fold(lane.prompt("go"), round);
    lane.answer(Answer::Text { text: Arc::from("look in /b") })
        .reply(calls([call("t9", "read", "/b")]))
        .returns(0, "there")
        .reply(text("done"))
}

fn gate() -> Lane {
    let lane = Lane::with(|settings| {
        settings.gate.checklist = vec![Need { tool: Arc::from("write"), at_least: 1 }];
        settings.gate.command = Some(Arc::from("make check"));
    });
    lane.prompt("go")
        .reply(text("done"))
        .reply(calls([call("t1", "write", "/a")]))
        .returns(0, "written")
        .reply(text("really"))
        .advise(block("make check failed"))
        .reply(text("now"))
        .advise(block("make check failed"))
        .answer(Answer::Abandon {})
        .prompt("again")
        .reply(calls([call("t2", "write", "/b")]))
        .returns(0, "written")
        .reply(text("done"))
        .advise(failed("no make"))
}

fn structured() -> Lane {
    let lane = Lane::with(|settings| {
        settings.rules.allow.push(rule("answer"));
        settings.output = Some(Output { tool: Arc::from("answer") });
    });
    lane.prompt("go")
        .reply(text("42"))
        .reply(calls([call("t1", "answer", "")]))
        .reply(calls([call("t2", "answer", "42")]))
        .returns(0, "ok")
}

fn prompt_hooks() -> Lane {
    let lane = Lane::with(|settings| {
        settings.hooks.prompt = Listening::Hooked;
        settings.hooks.answer = Listening::Hooked;
    });
    lane.prompt("my password is 1234")
        .advise(block("holds a secret"))
        .prompt("hi")
        .advise(Advice::Pass { context: Some(Arc::from("it is Friday")) })
        .reply(text("hello"))
        .advise(pass())
        .prompt("stop me")
        .advise(Advice::Stop { reason: Arc::from("enough") })
        .prompt("again")
        .adopted()
        .advise(failed("timed out"))
        .reply(text("hello"))
        .cancel()
}

fn tool_hooks() -> Lane {
    let lane = Lane::with(|settings| {
        settings.hooks.before_tool = Listening::Hooked;
        settings.hooks.after_tool = Listening::Hooked;
    });
    lane.prompt("go")
        .reply(calls([
            call("t1", "write", "/a"),
            call("t2", "deploy", "x"),
            call("t3", "moon", "/"),
        ]))
        .hook_saying(0, HookAnswer::Ask {}, "mind the lock")
        .hook(1, HookAnswer::Allow {})
        .answer_to(1, Answer::allow())
        .returns(0, "written")
        .hook_saying(0, HookAnswer::Pass {}, "formatted")
        .answer_to(2, Answer::Deny { reason: Arc::from("no") })
        .reply(text("done"))
}

fn classifier() -> Lane {
    let lane = Lane::with(|settings| {
        settings.rules.mode = Mode::Auto;
        settings.rules.ask.clear();
    });
    lane.prompt("go")
        .reply(calls([
            call("t1", "deploy", "a"),
            call("t2", "deploy", "b"),
            call("t3", "deploy", "c"),
        ]))
        .classify(1, Opinion::Deny { reason: Arc::from("too dangerous") })
        .classify(0, Opinion::Allow {})
        .classify(2, Opinion::Unsure { why: Arc::from("hm") })
        .returns(0, "A")
        .allow()
        .returns(2, "C")
        .reply(text("done"))
}

fn grants() -> Lane {
    let lane = Lane::with(|settings| settings.rules.ask.clear());
    let granted = Answer::granting(Rule::parse("deploy").unwrap());
    lane.prompt("go")
        .reply(calls([call("t1", "deploy", "a")]))
        .answer(granted)
        .returns(0, "A")
        .reply(calls([call("t2", "deploy", "b")]))
        .returns(0, "B")
        .reply(text("done"))
}

/// Leave for one input, leave that comes too late, and leave that nobody gives in time.
fn leave() -> Lane {
    let lane = Lane::with(|settings| settings.limits.approval_ms = Some(60_000));
    let lane = lane.prompt("go").reply(calls([call("t1", "deploy", "a")]));
    let seen = lane.live.input_hash(lane.call(0)).unwrap();
    let lane = lane.answer(Answer::allow().for_input("another"));
    let lane = lane.answer(Answer::allow().for_input(&seen)).returns(0, "A");
    let lane = lane.reply(calls([call("t2", "deploy", "b")])).later(60_000).allow().wake();
    lane.reply(calls([call("t3", "deploy", "c")])).wake().reply(text("done"))
}

fn drift_named() -> Lane {
    let mut other = crate::kit::settings();
    other.system = Arc::from("You drop.");
    other.tools.pop();
    let lane = Lane::new().prompt("go").adopted_by(&other).answer(Answer::Continue {});
    lane.configure(other).reply(text("x").matched("\nUser:")).reply(text("done"))
}

/// Turns beyond the sliding window go, and the model is told what is left for its task.
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
        settings.budget.run = Caps { tokens: Some(40_000), usd_micros: Some(100_000) };
        settings.budget.conversation = Caps { tokens: None, usd_micros: Some(150_000) };
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
        settings.budget.run = Caps { tokens: Some(10_000), usd_micros: None };
        settings.budget.at_cap = AtCap::Ask;
    });
    lane.prompt("go")
        .reply(calls([call("t1", "read", "/a")]).usage(9_500, 10))
        .returns(0, "A")
        .answer(Answer::Continue {})
        .reply(calls([call("t2", "read", "/b")]).usage(9_500, 10))
        .returns(0, "B")
        .answer(Answer::Abandon {})
}

fn budget_shared() -> Lane {
    let lane = Lane::with(|settings| {
        settings.profile = Arc::from("careful");
        settings.budget.profile.caps = Caps { tokens: Some(20_000), usd_micros: None };
        settings.budget.profile.period = Period::Month;
    });
    let seen = |tokens| Input::SpendingSeen { total: Spent { tokens, usd_micros: 0 } };
    lane.input(seen(9_000))
        .prompt("go")
        .reply(text("done").usage(900, 10))
        .input(seen(19_500))
        .prompt("again")
}

fn timed(soft_ms: u64) -> Lane {
    Lane::with(|settings| {
        settings.times = Some(Times { soft_ms, hard_ms: soft_ms * 2, grace_ms: 1_000 });
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
        settings.budget.run = Caps { tokens: Some(100_000), usd_micros: Some(1_000_000) };
        settings.limits.children = 2;
    });
    let lane = lane.prompt("go").reply(calls([call("t1", "spawn", "a b c")]));
    let lane =
        lane.child_back(0, 1, "B").child_back(0, 1, "B again").adopted().child_back(0, 0, "A");
    let failed = home(lane.call(0), 2, Ending::Failed);
    let lane = lane.child_home(failed, "too dark").reply(calls([call("t2", "spawn", "d e")]));
    let lane = lane.cancel().child_back(0, 0, "D").wake();
    let late = home(CallId { ask: 2, index: 0 }, 1, Ending::Failed);
    lane.child_home(late, "cancelled")
}

fn child() -> Lane {
    let caps = Caps { tokens: Some(20_000), usd_micros: None };
    let call = CallId { ask: 3, index: 1 };
    let parent = Parent { lane: LaneId::from("conversation:1"), call, part: 2, caps, depth: 1 };
    let task = Task::new("scout", "look there");
    let employ = MailBody::Task { run: RunId::from("run:child"), task, parent };
    Lane::new().mail(employ.clone()).reply(text("seen")).mail(employ)
}

fn fallback() -> Lane {
    let thought = r#"{"type":"thinking","thinking":"hm","signature":"s"}"#;
    let lane = Lane::with(|settings| {
        settings.fallback = Some(Model::named("other"));
        settings.limits.model_retries = 1;
        settings.limits.provider_wait_ms = 600_000;
    });
    let lane = lane.prompt("go").reply(calls([]).json(thought).block(call("t1", "read", "/a")));
    let lane = lane.returns(0, "A").fails(passing(FailureClass::Passing)).wake();
    let lane = lane.fails(passing(FailureClass::Cut)).fails(passing(FailureClass::Passing)).wake();
    let lane = lane.fails(passing(FailureClass::Passing)).wake().reply(text("up"));
    lane.prompt("more").reply(text("done"))
}

/// A no, a lost ruling, a yes; then one that nobody understands.
fn judge() -> Lane {
    let lane = Lane::with(|settings| settings.gate.judge = Some(Arc::from("it is tested")));
    let lane = lane.prompt("go").reply(text("one")).summary("no: there is no test");
    let lane = lane.reply(text("two")).adopted().summary("yes");
    lane.prompt("more").reply(text("three")).summary("perhaps")
}

/// A no to the cheap stages, then a yes.
fn window_heard() -> Lane {
    let lane = Lane::with(|settings| {
        tiny(settings);
        settings.limits.kept_messages = 4;
        settings.hooks.compaction = Listening::Hooked;
    });
    let lane = lane.prompt("go").says(calls([call("t", "read", "/f")])).returns(0, &page(9, 4_000));
    let lane = lane.fills_up(400).advise(block("not now")).fills_up(400);
    lane.advise(pass()).says(text("done"))
}

/// Two failures in passing with a crash after each, then a result.
fn retries_after_death() -> Lane {
    let down = || ToolError::new("http_503", "down", "try later").passing();
    let lane = Lane::new().prompt("go").reply(calls([call("t", "fetch", "/a")]));
    let lane = lane.errs_after(1_000, 0, down()).adopted().wake();
    let lane = lane.errs_after(1_000, 0, down()).wake().adopted();
    lane.returns(0, "A").reply(text("done"))
}
