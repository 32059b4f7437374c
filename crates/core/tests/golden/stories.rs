//! The stories behind the golden logs. A story may change; the log it once produced does not.

use std::sync::Arc;

use windlass_core::call::input_request::{InputRequest, RequestedInput};
use windlass_core::call::outcome::{ToolError, ToolOutcome};
use windlass_core::log::inbox::{AnswerChannel, AnswerSource, HumanAnswer, InboxCommand};
use windlass_core::log::input::{FailureClass, HookDecision, ProbeResult};
use windlass_core::message::content_block::{ContentBlock, ToolUse};
use windlass_core::message::raw_json::RawJson;
use windlass_core::permission::{
    AddedAccess, ContentSource, HookPreference, PermissionMode, PermissionUpdate, RuleBehavior,
};
use windlass_core::settings::conversation_settings::{HookPresence, ModelSpec};
use windlass_core::settings::run_settings::RunModels;

use crate::kit::{Lane, call, calls, facts_for, nothing, passing, rule, settings, text};

/// Every story with its name.
pub(crate) fn stories() -> Vec<(&'static str, Lane)> {
    vec![
        ("answer", answer()),
        ("rounds", rounds()),
        ("retries", retries()),
        ("untrusted", untrusted()),
        ("tool_context", tool_context()),
        ("permission", permission()),
        ("hooks", hooks()),
        ("truncation", truncation()),
        ("stop_reasons", stop_reasons()),
        ("mail", mail()),
        ("stopping", stopping()),
        ("crash", crash()),
        ("drift", drift()),
        ("provider", provider()),
        ("fatal", fatal()),
        ("fork", fork()),
        ("parked", parked()),
        ("verbatim", verbatim()),
        ("answers", answers()),
        ("session_changes", session_changes()),
        ("rewind", rewind()),
        ("hook_stop", hook_stop()),
        ("hook_defer", hook_defer()),
        ("tool_request", tool_request()),
    ]
}

fn answer() -> Lane {
    Lane::new().prompt("hi").reply(text("hello")).prompt("and again").reply(text("hello again"))
}

fn rounds() -> Lane {
    Lane::new()
        .prompt("look around")
        .reply(calls([
            call("t1", "read", "/a"),
            call("t2", "write", "/a"),
            call("t3", "read", "/b"),
        ]))
        .returns(2, "B")
        .returns(0, "A")
        .returns(1, "written")
        .reply(calls([call("t4", "teleport", "/moon"), call("t4", "read", "/a")]))
        .reply(calls([call("t5", "bash", "ls")]))
        .comes_back(0, ToolOutcome::TimedOut { after_ms: 120_000 })
        .reply(text("done"))
}

fn tool_request() -> Lane {
    let asks = |wants| {
        let (from, message) = ("desk".into(), "How much?".into());
        ToolOutcome::InputRequested(InputRequest { from, message, wants })
    };
    let schema = r#"{"properties":{"cups":{"type":"integer","default":1}}}"#;
    let form = RequestedInput::Form { schema: RawJson::parse(schema).unwrap() };
    let page = RequestedInput::Page { url: "https://example.com/pay".into() };
    Lane::new()
        .prompt("order tea")
        .reply(calls([call("t1", "write", "/a")]))
        .comes_back(0, asks(form))
        .answer(HumanAnswer::Text { text: "cups=many".into() })
        .answer(HumanAnswer::Text { text: "cups=2".into() })
        .comes_back(0, asks(page))
        .answer(HumanAnswer::deny("no"))
        .returns(0, "nothing ordered")
        .reply(text("done"))
}

fn tool_context() -> Lane {
    let tabs = ("memory:/a/CLAUDE.md", "Use tabs.");
    Lane::new()
        .prompt("look around")
        .reply(calls([call("t1", "read", "/a/x"), call("t2", "read", "/a/y")]))
        .returns_with_context(0, &[tabs])
        .returns_with_context(1, &[tabs, ("memory:/b/CLAUDE.md", "Use spaces.")])
        .reply(text("done"))
}

fn untrusted() -> Lane {
    let blocked = AddedAccess { hosts: vec![Arc::from("a.org:443")], ..AddedAccess::default() };
    let error = ToolError::new("exit_status", "it ended with 1", "look").with_blocked(blocked);
    Lane::new()
        .prompt("hi")
        .reply(calls([call("t1", "web", "a.org"), call("t2", "read", "/a")]))
        .returns_untrusted(0, ContentSource::Web(Arc::from("a.org")))
        .returns_untrusted(1, ContentSource::File(Arc::from("/outside")))
        .reply(calls([call("t3", "web", "b.org")]))
        .allow()
        .returns(0, "theirs")
        .reply(calls([call("t4", "shell", "ls")]))
        .errs(0, error.clone())
        .allow()
        .returns(0, "done")
        .reply(calls([call("t5", "shell", "ls")]))
        .errs(0, error)
        .deny("not now")
        .reply(text("fine"))
}

fn retries() -> Lane {
    let down = || ToolError::new("http_503", "down", "later").into_transient();
    Lane::new()
        .prompt("fetch it")
        .reply(calls([call("t1", "fetch", "/a"), call("t2", "upload", "/b")]))
        .errs(0, down())
        .errs(1, down())
        .wake()
        .wake()
        .errs(0, down())
        .returns(1, "up")
        .wake()
        .returns(0, "A")
        .reply(text("done"))
}

fn permission() -> Lane {
    Lane::new()
        .prompt("deploy it")
        .reply(calls([
            call("t1", "deploy", "prod"),
            call("t2", "rm", "/"),
            call("t3", "ask_human", "colour?"),
        ]))
        .answer_to(2, HumanAnswer::Text { text: Arc::from("blue") })
        .answer_to(2, HumanAnswer::Text { text: Arc::from("red") })
        .answer_to(1, HumanAnswer::Retry {})
        .answer_to(1, HumanAnswer::allow())
        .returns(0, "deployed")
        .reply(calls([call("t4", "deploy", "again")]))
        .deny("once is enough")
        .reply(text("done"))
}

fn hooks() -> Lane {
    let input = RawJson::parse(r#"{"on":"/b"}"#).unwrap();
    let changed = ToolUse { id: "t1".into(), name: "write".into(), input: input.clone() };
    let change = HookDecision::Change {
        input,
        facts: Box::new(facts_for(&changed)),
        preference: HookPreference::Neutral,
        reason: None,
    };
    Lane::with(|settings| {
        settings.hooks.before_tool = HookPresence::Present;
        settings.hooks.after_tool = HookPresence::Present;
    })
    .prompt("hi")
    .reply(calls([call("t1", "write", "/a"), call("t2", "write", "/c")]))
    .hook(0, change)
    .hook(1, HookDecision::Deny { reason: Arc::from("policy") })
    .returns(0, "written")
    .hook(0, HookDecision::Pass {})
    .reply(text("done"))
}

fn truncation() -> Lane {
    let mut lane = Lane::new();
    for turn in 0..7 {
        lane = lane.prompt(&format!("turn {turn}")).reply(text("ok"));
    }
    lane.prompt("write a book")
        .reply(text("x").stop("max_tokens"))
        .reply(text("one ").stop("max_tokens"))
        .reply(text("two ").cut("write"))
        .reply(text("three ").stop("max_tokens"))
        .reply(calls([call("t1", "read", "/a")]).cut("write"))
        .returns(0, "A")
        .reply(text("the end"))
}

fn stop_reasons() -> Lane {
    let lane = Lane::new().prompt("one").reply(text("a ").stop("pause_turn")).reply(text("b"));
    let lane = lane
        .prompt("two")
        .reply(text("x").matched("\nUser:"))
        .reply(text("c").matched("\n---END---"));
    let lane = lane.prompt("three").reply(text("no").stop("refusal"));
    let lane = lane.prompt("four").reply(text("odd").stop("quantum"));
    lane.prompt("five").reply(nothing())
}

fn mail() -> Lane {
    Lane::new()
        .prompt("one")
        .prompt("two")
        .prompt("three")
        .steer("and this")
        .child("the child says")
        .cancel_run("run-2")
        .prompt("")
        .reply(text("1"))
        .reply(text("1 and more"))
        .steer("mid")
}

fn stopping() -> Lane {
    Lane::new()
        .prompt("one")
        .reply(calls([
            call("t1", "sleep", "/s"),
            call("t2", "write", "/a"),
            call("t3", "write", "/a"),
        ]))
        .cancel()
        .wait(1_500)
        .abort()
        .returns(1, "written")
        .prompt("two")
        .abort()
        .prompt("three")
        .cancel()
        .reply(text("finished anyway"))
}

fn crash() -> Lane {
    Lane::new()
        .prompt("one")
        .owner_changes()
        .reply(calls([
            call("t1", "read", "/a"),
            call("t2", "write", "/b"),
            call("t3", "send", "mail"),
            call("t4", "send", "more"),
        ]))
        .owner_changes()
        .returns(0, "A")
        .probe(2, ProbeResult::DidNotHappen {})
        .probe(3, ProbeResult::Unknown {})
        .answer_to(1, HumanAnswer::Retry {})
        .answer_to(2, HumanAnswer::MarkDone { text: Arc::from("it was sent") })
        .returns(1, "B")
        .owner_changes()
        .probe(2, ProbeResult::Happened { text: Arc::from("sent") })
        .reply(text("done"))
}

fn drift() -> Lane {
    let mut changed = settings();
    changed.system = Arc::from("You haul faster.");
    Lane::new()
        .prompt("one")
        .reply(calls([call("t1", "read", "/a")]))
        .owner_changes_with_hash("other")
        .answer(HumanAnswer::Continue {})
        .configure(changed)
        .returns(0, "A")
        .owner_changes_with_hash("third")
        .answer(HumanAnswer::Abandon {})
}

fn provider() -> Lane {
    let mut lane = Lane::new().prompt("one").fails(passing(FailureClass::Transient)).wake();
    lane = lane.fails(passing(FailureClass::StreamCut)).wake().reply(text("up again"));
    for turn in 0..7 {
        lane = lane.prompt(&format!("turn {turn}")).reply(text("ok"));
    }
    lane.prompt("too long")
        .fails(passing(FailureClass::ContextTooLong))
        .fails(passing(FailureClass::ContextTooLong))
        .prompt("last")
        .fails(passing(FailureClass::Permanent))
}

fn fatal() -> Lane {
    Lane::new()
        .prompt("one")
        .reply(calls([call("t1", "bash", "x"), call("t2", "write", "/a")]))
        .errs(0, ToolError::new("disk_gone", "the disk is gone", "stop").into_fatal())
}

fn fork() -> Lane {
    Lane::new()
        .prompt("one")
        .reply(text("1"))
        .prompt("two")
        .fork("conversation:parent")
        .prompt("another way")
        .reply(text("2"))
}

fn parked() -> Lane {
    Lane::new()
        .prompt("one")
        .reply(calls([
            call("t1", "read", "/a"),
            call("t2", "write", "/b"),
            call("t3", "deploy", "x"),
        ]))
        .returns(1, "B")
        .owner_changes()
        .steer("hurry")
}

/// An approval with other arguments and rules, and one that ends the run.
fn answers() -> Lane {
    let rules = vec![rule("send")];
    let updates = vec![PermissionUpdate::AddRules { behavior: RuleBehavior::Deny, rules }];
    Lane::new()
        .prompt("deploy it")
        .reply(calls([call("t1", "deploy", "prod")]))
        .allow_with_input(0, "staging")
        .returns(0, "deployed")
        .reply(calls([call("t2", "deploy", "prod")]))
        .send_command(InboxCommand::Answer {
            question: 2,
            answer: HumanAnswer::allow().with_permission_updates(updates),
            answered_by: Some(AnswerSource::new(AnswerChannel::Sdk)),
        })
        .returns(0, "deployed")
        .reply(calls([call("t3", "deploy", "x"), call("t4", "send", "mail")]))
        .answer(HumanAnswer::deny_and_interrupt("enough"))
}

/// Another mode, more folders and another model, in the middle of a run.
fn session_changes() -> Lane {
    let model = ModelSpec::with_defaults("other");
    let models = RunModels {
        model,
        fallback: None,
        further_fallbacks: Vec::new(),
        temperature: None,
        cache: None,
    };
    let folders = vec![Arc::from("/srv")];
    Lane::new()
        .prompt("look around")
        .set_model(models.into())
        .reply(calls([call("t1", "read", "/a")]))
        .set_mode(PermissionMode::Plan)
        .update_permissions([PermissionUpdate::AddFolders { folders }])
        .returns(0, "A")
        .reply(calls([call("t2", "write", "/a")]))
        .reply(text("done"))
        .prompt("again")
        .reply(text("done"))
}

/// A turn is taken back, and another one takes its place.
fn rewind() -> Lane {
    let lane = Lane::new().prompt("look").reply(calls([call("t1", "read", "/a")])).returns(0, "A");
    let lane = lane.reply(text("one"));
    let end = lane.live.head;
    lane.prompt("again").reply(text("two")).rewind_to(end).prompt("other").reply(text("three"))
}

fn hook_stop() -> Lane {
    Lane::with(|settings| settings.hooks.after_tool = HookPresence::Present)
        .prompt("hi")
        .reply(calls([call("t1", "bash", "a"), call("t2", "bash", "b"), call("t3", "bash", "c")]))
        .returns(0, "A")
        .hook_stops(0, HookDecision::Pass {}, "that is enough")
        .returns(1, "B")
        .hook(1, HookDecision::Pass {})
        .prompt("go on")
}

fn hook_defer() -> Lane {
    Lane::with(|settings| settings.hooks.before_tool = HookPresence::Present)
        .prompt("hi")
        .reply(calls([call("t1", "write", "/a"), call("t2", "deploy", "prod")]))
        .hook(0, HookDecision::Ask { reason: Some(Arc::from("it is Friday")) })
        .hook(1, HookDecision::Defer {})
        .prompt("go on")
        .reply(text("done"))
}

fn verbatim() -> Lane {
    let surrogate = r#"{"type":"text","text":"a\ud800b"}"#;
    let future = r#"{ "type" : "hologram", "x" : 1.50e1, "nested":{"b":1,"a":[ ] } }"#;
    let hebrew = "שָׁלוֹם \u{1f468}\u{200d}\u{1f469}\u{200d}\u{1f467}";
    let image = ContentBlock::new(
        RawJson::parse(r#"{"type":"image","source":{"type":"url","url":"x"}}"#).unwrap(),
    );
    Lane::with(|settings| settings.limits.result_chars = 200)
        .prompt_blocks(vec![ContentBlock::text(hebrew), image])
        .reply(calls([call("id with spaces", "read", "/ש")]).json(future).json(surrogate))
        .returns(0, &"\u{5e9}\u{5b8}".repeat(150))
        .reply(nothing().json(surrogate).json(future))
}
