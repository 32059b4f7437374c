//! Hooks that are web services or questions to a model, hooks that nothing waits for, and the events
//! of approvals, rounds, compactions and failures.

use std::process::Stdio;

use serde_json::{Value, json};

use crate::recording_server::RecordingServer;
use crate::test_home::{CommandOutput, TestHome};

/// The model calls a tool once, and answers what a hook asks.
const SCRIPT: &str = "when user contains \"Is this safe\" and user contains \"one > made\"\n  say \"{\\\"ok\\\": false, \\\"reason\\\": \\\"it writes\\\"}\"\n\
                      when user contains \"Is this safe\"\n  say \"{\\\"ok\\\": true}\"\n\
                      when user contains \"Say anything\"\n  say \"hard to say\"\n\
                      when user is \"twice\" and results 0\n  call Bash {\"command\": \"echo a\"}\n  call Bash {\"command\": \"echo b\"}\n\
                      when user is \"break\"\n  fail 401\n\
                      when user contains \"go\" and results 0\n  call Bash {\"command\": \"echo one > made\"}\n\
                      when any\n  say \"done\"\n";

/// Settings with one group of hooks for an event.
fn settings(event: &str, group: &Value) -> String {
    json!({"hooks": {event: [group]}}).to_string()
}

fn run(home: &TestHome, prompt: &str, settings: &str, more: &[&str]) -> CommandOutput {
    home.run_prompt_unattended(prompt, &[&["--settings", settings], more].concat())
}

const ALLOWED: &[&str] = &["--allowedTools", "Bash"];

fn lines(home: &TestHome, name: &str) -> Vec<Value> {
    let text = std::fs::read_to_string(home.path(name)).unwrap_or_default();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

// spec: HOOKS-13
#[test]
fn a_web_service_gets_the_event_and_decides() {
    let deny = r#"{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"not on Fridays"}}"#;
    let server = RecordingServer::start_failing(&[("200 OK", deny)]);
    let home = TestHome::new(SCRIPT);
    let hook = json!({
        "type": "http", "url": format!("{}/check", server.url),
        "headers": {"Authorization": "Bearer ${HOOK_TOKEN}"}, "allowedEnvVars": ["HOOK_TOKEN"],
    });
    let settings = settings("PreToolUse", &json!({"hooks": [hook]}));
    let args =
        ["-p", "go", "--script", "a.script", "--settings", &settings, "--allowedTools", "Bash"];
    let ran =
        home.run_with_env(&[&args[..], &["--store", "w.db"]].concat(), &[("HOOK_TOKEN", "s3")]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert!(
        ran.err.contains("denied, not on Fridays") && !home.path("made").exists(),
        "{}",
        ran.err
    );
    let sent = server.recorded_requests();
    assert_eq!(sent[0].body["hook_event_name"], "PreToolUse");
    assert_eq!(sent[0].body["tool_input"]["command"], "echo one > made");
    let head = sent[0].head.to_lowercase();
    assert!(
        head.starts_with("post /check ") && head.contains("authorization: bearer s3"),
        "{head}"
    );
}

// spec: HOOKS-13
#[test]
fn a_web_service_that_fails_blocks_only_if_it_is_said_to() {
    for (strict, status) in [(false, "500 Oops"), (true, "500 Oops"), (false, "302 Found")] {
        let server = RecordingServer::start_failing(&[(status, "{}")]);
        let home = TestHome::new(SCRIPT);
        let mut group = json!({"hooks": [{"type": "http", "url": server.url}]});
        if strict {
            group["onFailure"] = json!("block");
        }
        let ran = run(&home, "go", &settings("PreToolUse", &group), ALLOWED);
        assert_eq!((ran.code, home.path("made").exists()), (0, !strict), "{}", ran.err);
        assert!(ran.err.contains(&format!("answered with status {}", &status[..3])), "{}", ran.err);
    }
    // No one listens; the variable of a header is missing.
    for (hook, says) in [
        (json!({"type": "http", "url": "http://127.0.0.1:9/x"}), "did not answer"),
        (
            json!({"type": "http", "url": "http://127.0.0.1:9/x", "headers": {"x": "$NO_SUCH"}, "allowedEnvVars": ["NO_SUCH"]}),
            "needs the variable NO_SUCH",
        ),
    ] {
        let home = TestHome::new(SCRIPT);
        let ran = run(&home, "go", &settings("PreToolUse", &json!({"hooks": [hook]})), ALLOWED);
        assert_eq!((ran.code, home.path("made").exists()), (0, true), "{}", ran.err);
        assert!(ran.err.contains(says), "{}", ran.err);
    }
}

/// The tokens of a run, as its result counts them.
fn output_tokens(ran: &CommandOutput) -> u64 {
    let result: Value = serde_json::from_str(&ran.out).unwrap();
    result.pointer("/usage/output_tokens").and_then(Value::as_u64).unwrap()
}

// spec: HOOKS-14
#[test]
fn a_question_to_a_model_decides_and_is_charged() {
    let ask =
        |prompt: &str| json!({"matcher": "Bash", "hooks": [{"type": "prompt", "prompt": prompt}]});
    let home = TestHome::new(SCRIPT);
    let json = [ALLOWED, &["--output-format", "json"]].concat();
    let plain = output_tokens(&run(&home, "go", "{}", &json));
    std::fs::remove_file(home.path("made")).unwrap();
    let asked = run(&home, "go", &settings("PreToolUse", &ask("Is this safe? $ARGUMENTS")), &json);
    assert!(!home.path("made").exists(), "{}", asked.err);
    assert!(output_tokens(&asked) > plain, "the question is not charged: {}", asked.out);
    assert!(asked.out.contains("\"permission_denials\":[{"), "{}", asked.out);
    // An answer that decides nothing is a failure of the hook.
    let ran = run(&home, "go", &settings("PreToolUse", &ask("Say anything")), ALLOWED);
    assert!(
        ran.err.contains("without a clear decision") && home.path("made").exists(),
        "{}",
        ran.err
    );
}

// spec: HOOKS-14
#[test]
fn a_question_that_the_budget_does_not_cover_is_not_asked() {
    let home = TestHome::new(SCRIPT);
    let group = json!({"onFailure": "block", "hooks": [{"type": "prompt", "prompt": format!("Is this safe? {}", "x".repeat(60_000))}]});
    let more = [ALLOWED, &["--set", "run_tokens=40000"]].concat();
    let ran = run(&home, "go", &settings("PreToolUse", &group), &more);
    assert!(ran.err.contains("the budget does not cover it"), "{}", ran.err);
    assert!(!home.path("made").exists(), "{}", ran.err);
}

// spec: HOOKS-15
#[test]
fn nothing_waits_for_an_asynchronous_hook_but_the_end_of_the_process() {
    let home = TestHome::new(SCRIPT);
    // The hook waits for what the tool makes: if it were awaited, neither would end.
    let command =
        "while [ ! -e made ]; do sleep 0.05; done; sleep 0.3; cat > late; echo no >&2; exit 2";
    let hook = json!({"type": "command", "command": command, "async": true, "timeout": 30});
    let ran = run(&home, "go", &settings("PreToolUse", &json!({"hooks": [hook]})), ALLOWED);
    assert_eq!((ran.code, ran.out.as_str()), (0, "done\n"), "{}", ran.err);
    assert_eq!(lines(&home, "late")[0]["hook_event_name"], "PreToolUse");
}

// spec: HOOKS-15
#[test]
fn a_hook_can_run_once_in_a_conversation() {
    for (once, times) in [(true, 1), (false, 2)] {
        let home = TestHome::new(SCRIPT);
        let hook = json!({"type": "command", "command": "echo x >> times", "once": once});
        let ran = run(&home, "twice", &settings("PreToolUse", &json!({"hooks": [hook]})), ALLOWED);
        assert_eq!(ran.code, 0, "{}", ran.err);
        let text = std::fs::read_to_string(home.path("times")).unwrap();
        assert_eq!(text.lines().count(), times);
    }
}

/// Settings with a hook that answers permission requests.
fn permission_settings(command: &str) -> String {
    settings("PermissionRequest", &json!({"hooks": [{"type": "command", "command": command}]}))
}

fn decision(decision: &Value) -> String {
    let output =
        json!({"hookSpecificOutput": {"hookEventName": "PermissionRequest", "decision": decision}});
    permission_settings(&format!("cat >> heard; echo >> heard; echo '{output}'"))
}

// spec: HOOKS-16
#[test]
fn a_hook_approves_a_call_where_no_one_else_is_available() {
    let home = TestHome::new(SCRIPT);
    let ran = run(&home, "go", &decision(&json!({"behavior": "allow"})), &[]);
    assert_eq!((ran.code, ran.out.as_str()), (0, "done\n"), "{}", ran.err);
    assert!(home.path("made").exists(), "{}", ran.err);
    let heard = lines(&home, "heard");
    assert_eq!((heard.len(), &heard[0]["tool_name"]), (1, &json!("Bash")));
    // With other arguments.
    let changed = json!({"behavior": "allow", "updatedInput": {"command": "echo two > other"}});
    let home = TestHome::new(SCRIPT);
    let ran = run(&home, "go", &decision(&changed), &[]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert!(home.path("other").exists() && !home.path("made").exists(), "{}", ran.err);
    // A rule that denies wins.
    let home = TestHome::new(SCRIPT);
    let more = ["--disallowedTools", "Bash(echo:*)"];
    let ran = run(&home, "go", &decision(&json!({"behavior": "allow"})), &more);
    assert!(!home.path("made").exists() && !home.path("heard").exists(), "{}", ran.err);
}

// spec: HOOKS-16
#[test]
fn what_a_hook_leaves_open_is_denied_or_waits_for_a_person() {
    for command in ["exit 0", "echo oops >&2; exit 1", "kill -9 $$"] {
        let home = TestHome::new(SCRIPT);
        let ran = run(&home, "go", &permission_settings(command), &[]);
        assert_eq!((ran.code, ran.out.as_str()), (0, "done\n"), "{command}: {}", ran.err);
        assert!(!home.path("made").exists(), "{command}: {}", ran.err);
        assert!(ran.err.contains("no one is available"), "{command}: {}", ran.err);
        let parked = home.run_prompt("go", &["--settings", &permission_settings(command)]);
        assert_eq!(parked.code, 3, "{command}: {}", parked.err);
    }
    let home = TestHome::new(SCRIPT);
    let deny = json!({"behavior": "deny", "message": "not in this house"});
    let ran = home.run_prompt("go", &["--settings", &decision(&deny)]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert!(!home.path("made").exists() && ran.err.contains("not in this house"), "{}", ran.err);
}

// spec: HOOKS-17
#[test]
fn hooks_see_denials_rounds_compactions_and_failures() {
    let keep = |event: &str| {
        settings(
            event,
            &json!({"hooks": [{"type": "command", "command": "cat >> heard; echo >> heard"}]}),
        )
    };
    let home = TestHome::new(SCRIPT);
    let ran = run(&home, "go", &keep("PermissionDenied"), &[]);
    let heard = lines(&home, "heard");
    assert_eq!(heard.len(), 1, "{}", ran.err);
    assert_eq!(heard[0]["tool_input"]["command"], "echo one > made");
    assert!(heard[0]["reason"].as_str().unwrap().contains("requires approval"), "{}", heard[0]);

    let home = TestHome::new(SCRIPT);
    let ran = run(&home, "twice", &keep("PostToolBatch"), ALLOWED);
    let heard = lines(&home, "heard");
    assert_eq!(heard.len(), 1, "{}", ran.err);
    let calls = heard[0]["tool_calls"].as_array().unwrap();
    let commands: Vec<&Value> = calls.iter().map(|call| &call["tool_input"]["command"]).collect();
    assert_eq!(commands, ["echo a", "echo b"]);
    assert!(calls[1]["tool_response"].to_string().contains('b'), "{}", calls[1]);

    let home = TestHome::new(SCRIPT);
    let ran = run(&home, "break", &keep("StopFailure"), &[]);
    let heard = lines(&home, "heard");
    assert_eq!((ran.code, heard.len()), (1, 1), "{}", ran.err);
    assert_eq!(heard[0]["error"], "provider_failed");

    let home = TestHome::new(SCRIPT);
    for prompt in ["1", "2", "3", "4", "5", "6", "7", "8", "9"] {
        let ran = home.run_prompt_unattended(prompt, &["--conversation", "c"]);
        assert_eq!(ran.code, 0, "{}", ran.err);
    }
    assert_eq!(home.run(&["-p", "/compact", "--resume", "c"]).code, 0);
    std::fs::create_dir_all(home.path("user/.claude")).unwrap();
    home.write("user/.claude/settings.json", &keep("PostCompact"));
    let more = ["--set", "kept_messages=4", "--resume", "c"];
    let ran = home.run_prompt_unattended("and now?", &more);
    let heard = lines(&home, "heard");
    assert_eq!(heard.len(), 1, "{}{}", ran.out, ran.err);
    assert_eq!(heard[0]["trigger"], "manual");
    assert!(heard[0]["compact_summary"].is_string(), "{}", heard[0]);
}

// spec: HOOKS-09
#[test]
fn a_hook_around_a_call_ends_the_run() {
    for (event, made) in [("PreToolUse", false), ("PostToolUse", true)] {
        let home = TestHome::new(SCRIPT);
        let output = json!({"continue": false, "stopReason": "enough for today"});
        let hook = json!({"type": "command", "command": format!("echo '{output}'")});
        let more = [ALLOWED, &["--conversation", "c"]].concat();
        let ran = run(&home, "go", &settings(event, &json!({"hooks": [hook]})), &more);
        assert_eq!(home.path("made").exists(), made, "{event}: {}", ran.err);
        assert!(!ran.out.contains("done"), "{event}: the model was called again: {}", ran.out);
        assert!(ran.err.contains("hook_stopped"), "{event}: {}", ran.err);
        let explained = home.run(&["explain", "c"]);
        assert!(explained.out.contains("enough for today"), "{event}: {}", explained.out);
    }
}

// spec: HOOKS-16
#[test]
fn a_hook_that_answers_runs_again_after_kill_9() {
    let home = TestHome::new(SCRIPT);
    let output = json!({"hookSpecificOutput": {"hookEventName": "PermissionRequest", "decision": {"behavior": "allow"}}});
    let command = format!("echo run >> runs; if [ -e slow ]; then sleep 30; fi; echo '{output}'");
    let settings = permission_settings(&command);
    home.write("slow", "");
    let store = home.path("w.db");
    let flags = ["--script", "a.script", "--settings", &settings, "--store"];
    let prompt = ["-p", "go", "--conversation", "c"];
    let args = [&prompt[..], &flags, &[store.to_str().unwrap()]].concat();
    let mut child = home.command(&args).stdin(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    home.wait_for_file("runs");
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(!home.path("made").exists());
    std::fs::remove_file(home.path("slow")).unwrap();
    let flags = ["resume", "c", "--script", "a.script", "--settings", &settings];
    let ran = home.run(&flags);
    assert_eq!((ran.code, ran.out.as_str()), (0, "done\n"), "{}", ran.err);
    assert!(home.path("made").exists(), "{}", ran.err);
    assert_eq!(std::fs::read_to_string(home.path("runs")).unwrap(), "run\nrun\n");
    let explained = home.run(&["explain", "c"]);
    assert!(explained.out.contains("was answered (by a hook): allow"), "{}", explained.out);
}

// spec: HOOKS-13
#[test]
fn a_web_service_that_never_answers_is_given_up() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let home = TestHome::new(SCRIPT);
    let hook = json!({"type": "http", "url": url, "timeout": 0.3});
    let ran = run(&home, "go", &settings("PreToolUse", &json!({"hooks": [hook]})), ALLOWED);
    assert_eq!((ran.code, home.path("made").exists()), (0, true), "{}", ran.err);
    assert!(ran.err.contains("took longer than 300 ms"), "{}", ran.err);
}
