//! Hooks as commands, from a settings file to what the model sees. The commands are real.

use std::path::Path;
use std::sync::{Arc, Mutex};

use windlass::core::message::transcript::Role;
use windlass::core::run::review::{Review, ReviewResult};
use windlass::core::settings::conversation_settings::{HookPoints, HookPresence};
use windlass::core::stop::StopCause;
use windlass::memory::MemoryStore;
use windlass::ports::{
    BoxFuture, HookContext, HookMessage, HookMessageLevel, Hooks, SessionEndReason,
};
use windlass::tools::{CommandHooks, HookConfig};
use windlass::{RunOutcome, StreamItem, SystemClock, WindlassBuilder};

use crate::kit::{ProbeTool, windlass_builder};

const ONE_CALL: &str = "when user is \"go\" and results 0\n  call Send {\"to\": \"all\"}\nwhen result\n  say \"${result}\"\nwhen any\n  say \"${user}\"\n";

fn hooks(event: &str, command: &str, folder: &Path) -> CommandHooks {
    let hook = serde_json::json!({"type": "command", "command": command, "timeout": 1});
    let text = serde_json::json!({"hooks": {event: [{"matcher": "*", "hooks": [hook]}]}});
    let config = HookConfig::parse(&text.to_string()).unwrap();
    CommandHooks::new(config, folder, Arc::new(SystemClock::start()))
}

struct World {
    folder: tempfile::TempDir,
    send: ProbeTool,
}

impl World {
    fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap(), send: ProbeTool::once_only("Send") }
    }

    fn builder(&self, event: &str, command: &str) -> WindlassBuilder {
        windlass_builder(ONE_CALL, MemoryStore::new(), std::slice::from_ref(&self.send))
            .command_hooks(hooks(event, command, self.folder.path()))
    }

    async fn run(&self, event: &str, command: &str) -> (StopCause, String) {
        go(self.builder(event, command)).await
    }

    fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.folder.path().join(name)).unwrap_or_default()
    }
}

async fn go(builder: WindlassBuilder) -> (StopCause, String) {
    let w = builder.start().await.unwrap();
    let end = w.session("lane").send("go").await.unwrap().wait_for_end().await.unwrap();
    match end {
        RunOutcome::Finished(ended) => (ended.cause, ended.text.to_string()),
        other => panic!("{other:?}"),
    }
}

// spec: HOOKS-03
#[tokio::test]
async fn exit_code_two_prevents_the_call_and_the_model_sees_why() {
    let world = World::new();
    let (_, text) = world.run("PreToolUse", "echo not on a Friday >&2; exit 2").await;
    assert!(text.contains("not on a Friday"), "{text}");
    assert_eq!(world.send.run_count(), 0);
}

const WARNING: HookMessageLevel = HookMessageLevel::Warning;

const BROKEN: [&str; 5] =
    ["sleep 30", "kill -9 $$", "exit 1", "no-such-program-here", "printf '{\"decision\": '"];

#[tokio::test]
async fn a_hook_that_hangs_crashes_or_fails_blocks_nothing_and_the_user_is_told() {
    for command in BROKEN {
        let world = World::new();
        let told: Arc<Mutex<Vec<HookMessage>>> = Arc::default();
        let keep = Arc::clone(&told);
        let hooks = hooks("PreToolUse", command, world.folder.path());
        let hooks = hooks.with_user_messages(move |message| keep.lock().unwrap().push(message));
        let builder =
            windlass_builder(ONE_CALL, MemoryStore::new(), std::slice::from_ref(&world.send));
        go(builder.command_hooks(hooks)).await;
        assert_eq!(world.send.run_count(), 1, "{command}");
        let told = told.lock().unwrap();
        assert_eq!((told[0].label().as_str(), told[0].level), ("PreToolUse:Send", WARNING));
        assert!(told[0].text.starts_with('`'), "{:?}", told[0]);
    }
}

#[tokio::test]
async fn a_hook_that_is_there_for_safety_blocks_when_it_fails() {
    for command in BROKEN {
        let world = World::new();
        let hook = serde_json::json!({"type": "command", "command": command, "timeout": 1});
        let group = serde_json::json!([{"onFailure": "block", "hooks": [hook]}]);
        let config = serde_json::json!({"PreToolUse": group}).to_string();
        let config = HookConfig::parse(&config).unwrap();
        let clock = Arc::new(SystemClock::start());
        let hooks = CommandHooks::new(config, world.folder.path(), clock);
        let builder =
            windlass_builder(ONE_CALL, MemoryStore::new(), std::slice::from_ref(&world.send));
        let (_, text) = go(builder.command_hooks(hooks)).await;
        assert!(text.contains("the hook `"), "{command}: {text}");
        assert_eq!(world.send.run_count(), 0, "{command}");
    }
}

#[tokio::test]
async fn junk_and_floods_stand_in_nobodys_way() {
    for command in ["echo hello", "head -c 3000000 /dev/urandom", "cat"] {
        let world = World::new();
        world.run("PreToolUse", command).await;
        assert_eq!(world.send.run_count(), 1, "{command}");
    }
}

#[tokio::test]
async fn a_hook_is_told_what_happens() {
    let world = World::new();
    world.run("PreToolUse", "cat > seen.json").await;
    let seen: serde_json::Value = serde_json::from_str(&world.read("seen.json")).unwrap();
    assert_eq!(seen["hook_event_name"], "PreToolUse");
    assert_eq!(seen["session_id"], "lane");
    assert_eq!(seen["tool_name"], "Send");
    assert_eq!(seen["tool_input"]["to"], "all");
    assert_eq!(seen["permission_mode"], "default");
    assert_eq!(seen["cwd"], world.folder.path().to_string_lossy().as_ref());
}

#[tokio::test]
async fn new_arguments_are_what_runs() {
    let world = World::new();
    let answer = r#"echo '{"hookSpecificOutput": {"hookEventName": "PreToolUse", "updatedInput": {"to": "nobody"}}}'"#;
    let w = world.builder("PreToolUse", answer).start().await.unwrap();
    let session = w.session("lane");
    session.send("go").await.unwrap().wait_for_end().await.unwrap();
    assert_eq!(world.send.run_count(), 1);
    let log: String =
        session.read_log().await.unwrap().iter().map(|entry| entry.encode()).collect();
    assert!(log.contains(r#""to":"nobody""#), "{log}");
}

// spec: HOOKS-04
#[tokio::test]
async fn after_a_call_a_hook_sees_the_result_and_may_replace_it() {
    let world = World::new();
    let answer = r#"cat > seen.json; echo '{"hookSpecificOutput": {"hookEventName": "PostToolUse", "updatedToolOutput": "redacted"}}'"#;
    let (_, text) = world.run("PostToolUse", answer).await;
    assert_eq!(text, "redacted");
    let seen: serde_json::Value = serde_json::from_str(&world.read("seen.json")).unwrap();
    assert_eq!(seen["tool_response"], "probed");
}

#[tokio::test]
async fn a_blocked_prompt_is_never_sent() {
    let world = World::new();
    let (cause, text) = world.run("UserPromptSubmit", "echo no secrets >&2; exit 2").await;
    assert_eq!((cause, text.as_str()), (StopCause::HookStopped, "no secrets"));
    assert_eq!(world.send.run_count(), 0);
}

#[tokio::test]
async fn words_at_the_beginning_of_a_session_reach_the_model() {
    let world = World::new();
    let w = world.builder("SessionStart", "echo the branch is main").start().await.unwrap();
    let session = w.session("lane");
    session.send("go").await.unwrap().wait_for_end().await.unwrap();
    session.send("again").await.unwrap().wait_for_end().await.unwrap();
    let known = session.load_conversation().await.unwrap();
    let segments = known.transcript.segments().iter().filter(|s| s.role == Role::User);
    let blocks = segments.flat_map(|segment| segment.blocks.to_vec());
    let said = blocks.filter(|block| block.as_text() == Some("the branch is main")).count();
    assert_eq!(said, 1, "a session begins once");
}

// spec: HOOKS-07
#[tokio::test]
async fn a_session_that_ended_is_resumed_by_the_next_prompt() {
    let world = World::new();
    let path = world.folder.path();
    let note = "cat | tr -d '\\n' >> order; echo >> order";
    let builder = windlass_builder(ONE_CALL, MemoryStore::new(), std::slice::from_ref(&world.send))
        .command_hooks(hooks("SessionStart", note, path))
        .command_hooks(hooks("SessionEnd", note, path));
    let w = builder.start().await.unwrap();
    let session = w.session("conversation:7");
    session.send("go").await.unwrap().wait_for_end().await.unwrap();
    session.close(SessionEndReason::Clear).await;
    session.send("again").await.unwrap().wait_for_end().await.unwrap();
    session.send("once more").await.unwrap().wait_for_end().await.unwrap();
    session.close(SessionEndReason::Other).await;
    let seen: Vec<serde_json::Value> =
        world.read("order").lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let why = |of: &serde_json::Value| {
        assert_eq!(of["session_id"], "7");
        let why = if of["source"].is_null() { &of["reason"] } else { &of["source"] };
        format!("{} {why}", of["hook_event_name"]).replace('"', "")
    };
    let order: Vec<String> = seen.iter().map(why).collect();
    let expected =
        ["SessionStart startup", "SessionEnd clear", "SessionStart resume", "SessionEnd other"];
    assert_eq!(order, expected);
}

#[tokio::test]
async fn exit_code_two_at_the_beginning_of_a_session_or_a_child_blocks_nothing() {
    for event in ["SessionStart", "SubagentStart"] {
        let world = World::new();
        let (cause, _) = world.run(event, "echo no >&2; exit 2").await;
        assert_eq!((cause, world.send.run_count()), (StopCause::EndTurn, 1), "{event}");
    }
}

#[tokio::test]
async fn after_a_call_exit_code_two_tells_the_model_and_keeps_the_result() {
    let world = World::new();
    let w = world.builder("PostToolUse", "echo lint fails >&2; exit 2").start().await.unwrap();
    let session = w.session("lane");
    session.send("go").await.unwrap().wait_for_end().await.unwrap();
    let known = session.load_conversation().await.unwrap();
    let blocks = known.transcript.segments().iter().flat_map(|segment| segment.blocks.to_vec());
    let raw: Vec<String> = blocks.map(|block| block.raw().text().to_owned()).collect();
    let raw = raw.join("\n");
    assert!(raw.contains("probed"), "{raw}");
    assert!(raw.contains("PostToolUse:Send hook blocking error: lint fails"), "{raw}");
}

// spec: HOOKS-05
#[tokio::test]
async fn a_stop_hook_sends_the_run_on_after_whoever_heard_the_sample() {
    let world = World::new();
    let command = "grep -q '\"stop_hook_active\":true' || { echo tests first >&2; exit 2; }";
    let sampled = hooks("PostSampling", "echo sampled >> order", world.folder.path());
    let stop = hooks("Stop", &format!("echo stop >> order; {command}"), world.folder.path());
    let script = "when user contains \"tests first\"\n  say \"tested\"\nwhen any\n  say \"done\"\n";
    let builder = windlass_builder(script, MemoryStore::new(), &[]);
    let (_, text) = go(builder.command_hooks(sampled).command_hooks(stop)).await;
    assert_eq!(text, "tested");
    assert_eq!(
        world.read("order").split_whitespace().collect::<Vec<_>>(),
        ["sampled", "stop", "sampled", "stop"]
    );
}

#[tokio::test]
async fn the_command_of_a_gate_must_succeed() {
    let world = World::new();
    let gate = format!(
        "test -e {0}/ready || {{ touch {0}/ready; echo not ready; exit 1; }}",
        world.folder.path().display()
    );
    let script =
        "when user contains \"not ready\"\n  say \" and ready\"\nwhen any\n  say \"done\"\n";
    let builder = windlass_builder(script, MemoryStore::new(), &[]);
    let (cause, text) = go(builder.settings(|s| s.gate.command = Some(gate.into()))).await;
    assert_eq!((cause, text.as_str()), (StopCause::EndTurn, " and ready"));
}

// spec: HOOKS-02
#[tokio::test]
async fn a_child_has_events_of_its_own() {
    let world = World::new();
    let note = |event: &str| hooks(event, &format!("echo {event} >> order"), world.folder.path());
    let script = "when user is \"go\" and results 0\n  call Agent {\"description\": \"d\", \"prompt\": \"help\"}\nwhen any\n  say \"ok\"\n";
    let mut builder = windlass_builder(script, MemoryStore::new(), &[]).enable_sub_agents();
    for event in ["SessionStart", "SubagentStart", "SubagentStop", "Stop"] {
        builder = builder.command_hooks(note(event));
    }
    go(builder).await;
    let order = world.read("order");
    let order: Vec<&str> = order.split_whitespace().collect();
    assert_eq!(order, ["SessionStart", "SubagentStart", "SubagentStop", "Stop"]);
}

#[tokio::test]
async fn somebody_is_told_when_a_human_is_asked() {
    let world = World::new();
    let w = world
        .builder("Notification", "cat > told.json")
        .settings(|settings| settings.rules.default_decision = Default::default())
        .start()
        .await
        .unwrap();
    let end = w.session("lane").send("go").await.unwrap().wait_for_end().await.unwrap();
    assert!(matches!(end, RunOutcome::Parked(_)));
    while world.read("told.json").is_empty() {
        crate::kit::pause(5).await;
    }
    let message: serde_json::Value = serde_json::from_str(&world.read("told.json")).unwrap();
    assert_eq!(message["notification_type"], "permission_prompt");
    assert_eq!(message["message"], "Send needs your permission");
}

#[tokio::test]
async fn a_hook_that_edits_its_configuration_changes_nothing_for_this_process() {
    let world = World::new();
    let file = world.folder.path().join("settings.json");
    let command = format!("echo '{{}}' > {}; exit 2", file.display());
    let text = format!(
        r#"{{"hooks": {{"PreToolUse": [{{"hooks": [{{"type": "command", "command": "{command}"}}]}}]}}}}"#
    );
    std::fs::write(&file, &text).unwrap();
    let config = HookConfig::parse(&std::fs::read_to_string(&file).unwrap()).unwrap();
    let hooks = CommandHooks::new(config, world.folder.path(), Arc::new(SystemClock::start()));
    let hash = hooks.config_hash().to_owned();
    let w = windlass_builder(ONE_CALL, MemoryStore::new(), std::slice::from_ref(&world.send))
        .command_hooks(hooks)
        .start()
        .await
        .unwrap();
    for lane in ["a", "b"] {
        w.session(lane).send("go").await.unwrap().wait_for_end().await.unwrap();
    }
    assert_eq!(world.read("settings.json").trim(), "{}", "the file changed");
    assert_eq!(world.send.run_count(), 0, "what was read did not");
    assert_ne!(hash, HookConfig::parse("{}").unwrap().hash());
}

// spec: HOOKS-09
#[tokio::test]
async fn a_hook_after_a_call_ends_the_run_with_the_result_recorded() {
    let world = World::new();
    let answer = r#"echo '{"continue": false, "stopReason": "seen enough"}'"#;
    let w = world.builder("PostToolUse", answer).start().await.unwrap();
    let session = w.session("lane");
    let end = session.send("go").await.unwrap().wait_for_end().await.unwrap();
    let RunOutcome::Finished(ended) = end else { panic!("{end:?}") };
    assert_eq!((ended.cause, &*ended.text), (StopCause::HookStopped, ""));
    assert_eq!((world.send.run_count(), ended.counters.model_calls), (1, 1));
    let (cause, _) = {
        let end = session.send("next").await.unwrap().wait_for_end().await.unwrap();
        let RunOutcome::Finished(ended) = end else { panic!("{end:?}") };
        (ended.cause, ended.text.clone())
    };
    assert_eq!(cause, StopCause::EndTurn, "the history is valid");
}

// spec: HOOKS-10
#[tokio::test]
async fn a_deferred_call_is_named_by_the_end_of_the_run() {
    let world = World::new();
    let answer = r#"echo '{"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "defer"}}'"#;
    let w = world.builder("PreToolUse", answer).start().await.unwrap();
    let end = w.session("lane").send("go").await.unwrap().wait_for_end().await.unwrap();
    let RunOutcome::Finished(ended) = end else { panic!("{end:?}") };
    assert_eq!((ended.cause, ended.is_success()), (StopCause::ToolDeferred, true));
    assert_eq!(&*ended.deferred_tool_use.as_ref().unwrap().name, "Send");
    assert_eq!(world.send.run_count(), 0);
}

/// Hooks without a setting: they say which points they want.
struct Greeter;

impl Hooks for Greeter {
    fn points(&self) -> HookPoints {
        HookPoints { prompt: HookPresence::Present, ..HookPoints::default() }
    }

    fn review(&self, context: HookContext, _: Review) -> BoxFuture<'_, ReviewResult> {
        let message = HookMessage::new("UserPromptSubmit", HookMessageLevel::Info, "welcome");
        context.tell_user(message);
        Box::pin(std::future::ready(ReviewResult::Pass { context: None }))
    }
}

// spec: HOOKS-12
#[tokio::test]
async fn hooks_are_called_where_they_want_and_speak_to_the_readers_of_the_run() {
    let builder = windlass_builder(ONE_CALL, MemoryStore::new(), &[]).hooks(Greeter);
    let w = builder.start().await.unwrap();
    let mut run = w.session("lane").send("hello").await.unwrap();
    let mut told = Vec::new();
    while let Some(item) = run.next().await.unwrap() {
        if let StreamItem::HookMessage(message) = item {
            told.push(format!("{}: {}", message.label(), message.text));
        }
    }
    assert_eq!(told, ["UserPromptSubmit: welcome"]);
    let settings = w.session("lane").load_conversation().await.unwrap().settings.unwrap();
    assert_eq!(settings.hooks, Greeter.points(), "the points are recorded");
}
