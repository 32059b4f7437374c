//! The SDK channel of the real binary: lines in, lines out.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Stdio};

use serde_json::{Value, json};

use super::test_home::TestHome;

const ANSWERS: &str = r#"
when user contains "write" and results 0
  call Write {"file_path": "note.txt", "content": "hello"}

when user contains "write"
  say "It said: ${result}"

when user contains "forever"
  pace 1000ms
  say "one two three four five six seven eight nine ten eleven twelve"

when any
  say "You said ${user}."
"#;

/// A program at the other end of the channel.
pub(crate) struct Host {
    child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
}

impl Host {
    pub(crate) fn start(home: &TestHome, more: &[&str]) -> Self {
        Self::start_with_env(home, more, &[])
    }

    /// Starts the binary with additional environment variables.
    pub(crate) fn start_with_env(
        home: &TestHome,
        more: &[&str],
        variables: &[(&str, &str)],
    ) -> Self {
        let store = home.path("w.db");
        let flags = ["--input-format", "stream-json", "--output-format=stream-json", "--verbose"];
        let fixed = ["--script", "a.script", "--store", store.to_str().unwrap()];
        let mut command = home.command(&[&flags[..], &fixed, more].concat());
        command.env("CLAUDE_AGENT_SDK_VERSION", "0.0.0").envs(variables.iter().copied());
        command.env("CLAUDE_CONFIG_DIR", home.path("claude"));
        let command = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let (input, output) = (child.stdin.take(), child.stdout.take().unwrap());
        Self { child, input, output: BufReader::new(output) }
    }

    pub(crate) fn send(&mut self, message: &Value) {
        self.send_text(&format!("{message}\n"));
    }

    fn send_text(&mut self, text: &str) {
        let input = self.input.as_mut().unwrap();
        input.write_all(text.as_bytes()).and_then(|()| input.flush()).unwrap();
    }

    pub(crate) fn prompt(&mut self, text: &str) {
        self.send(&json!({"type": "user", "message": {"role": "user", "content": text}}));
    }

    pub(crate) fn request(&mut self, id: &str, request: &Value) {
        self.send(&json!({"type": "control_request", "request_id": id, "request": request}));
    }

    pub(crate) fn respond(&mut self, request: &Value, response: &Value) {
        let id = &request["request_id"];
        let response = json!({"subtype": "success", "request_id": id, "response": response});
        self.send(&json!({"type": "control_response", "response": response}));
    }

    pub(crate) fn next(&mut self) -> Option<Value> {
        let mut line = String::new();
        let read = self.output.read_line(&mut line).unwrap();
        (read > 0).then(|| serde_json::from_str(&line).unwrap())
    }

    /// Reads up to the first frame of this type.
    pub(crate) fn wait_for(&mut self, kind: &str) -> Value {
        loop {
            let frame = self.next();
            assert!(frame.is_some(), "the output ended before {kind}");
            if let Some(frame) = frame.filter(|frame| frame.get("type") == Some(&json!(kind))) {
                return frame;
            }
        }
    }

    /// Kills the process as `kill -9` does.
    pub(crate) fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Closes standard input and reads the rest: frames, exit code, standard error.
    pub(crate) fn finish(mut self) -> (Vec<Value>, i32, String) {
        drop(self.input.take());
        let frames = std::iter::from_fn(|| self.next()).collect();
        let ended = self.child.wait_with_output().unwrap();
        (frames, ended.status.code().unwrap_or(-1), String::from_utf8(ended.stderr).unwrap())
    }
}

#[test]
fn a_prompt_without_a_handshake_is_answered() {
    let home = TestHome::new(ANSWERS);
    let mut host = Host::start(&home, &[]);
    host.prompt("hello");
    let (frames, code, said) = host.finish();
    let kinds: Vec<&str> = frames.iter().map(|frame| frame["type"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["system", "assistant", "result"]);
    assert_eq!((frames[0]["subtype"].as_str(), code, said.as_str()), (Some("init"), 0, ""));
    assert_eq!(frames[2]["result"], "You said hello.");
}

#[test]
fn a_prompt_sent_with_the_handshake_waits_for_it() {
    let home = TestHome::new(ANSWERS);
    let mut host = Host::start(&home, &[]);
    // The TypeScript SDK writes both at once.
    let initialize = json!({"type": "control_request", "request_id": "i",
        "request": {"subtype": "initialize", "systemPrompt": [""], "fromTomorrow": 1}});
    let prompt = json!({"type": "user", "message": {"role": "user",
        "content": [{"type": "text", "text": "hello"}]}});
    host.send_text(&format!("{initialize}\n{prompt}\n"));
    let first = host.next().unwrap();
    assert_eq!(
        (&first["type"], &first["response"]["request_id"]),
        (&json!("control_response"), &json!("i"))
    );
    assert_eq!(first["response"]["response"]["hook_on_failure_supported"], true);
    assert_eq!(host.wait_for("result")["result"], "You said hello.");
    assert_eq!(host.finish().1, 0);
}

#[test]
fn the_end_of_the_input_is_not_an_error() {
    let home = TestHome::new(ANSWERS);
    for lines in ["", "\n\n", "{\"type\":\"keep_alive\"}\n", "{\"type\":\"from_tomorrow\"}\n[1]\n"]
    {
        let mut host = Host::start(&home, &[]);
        host.send_text(lines);
        let (frames, code, said) = host.finish();
        assert_eq!((frames.len(), code, said.as_str()), (0, 0, ""), "{lines:?}");
    }
}

#[test]
fn a_line_that_is_not_json_ends_the_process_with_one_line() {
    let home = TestHome::new(ANSWERS);
    for lines in ["hello\n", "{\"type\":\"user\"", "{\"type\":\"keep_alive\"}\n{\n"] {
        let mut host = Host::start(&home, &[]);
        host.send_text(lines);
        let (frames, code, said) = host.finish();
        assert_eq!((frames.len(), code, said.lines().count()), (0, 1, 1), "{lines:?}: {said}");
        assert!(said.contains("not JSON"), "{said}");
    }
}

#[test]
fn lines_may_be_large_and_arrive_in_pieces() {
    let home = TestHome::new(ANSWERS);
    let mut host = Host::start(&home, &[]);
    let agents: serde_json::Map<String, Value> = (0..50)
        .map(|n| (format!("agent-{n}"), json!({"description": "d", "prompt": "p".repeat(8_000)})))
        .collect();
    let request = json!({"subtype": "initialize", "agents": agents});
    let line =
        json!({"type": "control_request", "request_id": "i", "request": request}).to_string();
    for piece in line.as_bytes().chunks(50_000) {
        host.send_text(std::str::from_utf8(piece).unwrap());
    }
    host.send_text("\n");
    assert_eq!(host.wait_for("control_response")["response"]["subtype"], "success");
    host.prompt("hello");
    let init = host.wait_for("system");
    assert!(init["agents"].as_array().unwrap().contains(&json!("agent-49")));
    assert_eq!(host.finish().1, 0);
}

#[test]
fn a_request_that_is_not_known_gets_an_error_and_the_session_goes_on() {
    let home = TestHome::new(ANSWERS);
    let mut host = Host::start(&home, &[]);
    host.request("i", &json!({"subtype": "initialize"}));
    host.wait_for("control_response");
    for (id, request) in [("a", json!({"subtype": "fly"})), ("b", json!({})), ("c", json!(7))] {
        host.request(id, &request);
        let answer = host.wait_for("control_response");
        assert_eq!(answer["response"]["request_id"], id);
        let error = answer["response"]["error"].as_str().unwrap();
        assert!(error.starts_with("Unsupported control request subtype:"), "{error}");
    }
    // An answer to a request that was never made.
    host.respond(&json!({"request_id": "nobody"}), &json!({}));
    host.prompt("hello");
    assert_eq!(host.wait_for("result")["result"], "You said hello.");
    assert_eq!(host.finish().1, 0);
}

#[test]
fn the_program_approves_and_denies_calls() {
    let home = TestHome::new(ANSWERS);
    let mut host = Host::start(&home, &["--permission-prompt-tool", "stdio"]);
    host.prompt("write it");
    let asked = host.wait_for("control_request");
    assert_eq!(asked["request"]["subtype"], "can_use_tool");
    assert_eq!(asked["request"]["tool_name"], "Write");
    host.respond(&asked, &json!({"behavior": "deny", "message": "not today"}));
    let result = host.wait_for("result");
    assert!(result["result"].as_str().unwrap().contains("not today"), "{result}");
    assert_eq!(result["permission_denials"][0]["tool_name"], "Write");
    host.prompt("write it again");
    let asked = host.wait_for("control_request");
    let changed = json!({"file_path": "other.txt", "content": "changed"});
    host.respond(&asked, &json!({"behavior": "allow", "updatedInput": changed}));
    host.wait_for("result");
    assert_eq!(std::fs::read_to_string(home.path("other.txt")).unwrap(), "changed");
    assert!(!home.path("note.txt").exists());
    assert_eq!(host.finish().1, 0);
}

#[test]
fn a_call_is_denied_when_the_program_closes_its_end() {
    let home = TestHome::new(ANSWERS);
    let mut host = Host::start(&home, &["--permission-prompt-tool", "stdio"]);
    host.prompt("write it");
    host.wait_for("control_request");
    let (frames, code, _) = host.finish();
    let result = frames.last().unwrap();
    assert!(result["result"].as_str().unwrap().contains("the program that approves calls is gone"));
    assert_eq!((code, home.path("note.txt").exists()), (0, false));
}

#[test]
fn an_interrupt_ends_the_turn_and_the_session_takes_the_next_prompt() {
    let home = TestHome::new(ANSWERS);
    let mut host = Host::start(&home, &[]);
    host.prompt("talk forever");
    host.wait_for("system");
    host.request("stop", &json!({"subtype": "interrupt"}));
    assert_eq!(host.wait_for("control_response")["response"]["subtype"], "success");
    let result = host.wait_for("result");
    assert_eq!(result["subtype"], "error_during_execution");
    host.prompt("hello");
    assert_eq!(host.wait_for("result")["result"], "You said hello.");
    assert_eq!(host.finish().1, 0);
}

#[test]
fn hooks_of_the_program_are_called_and_can_deny() {
    let home = TestHome::new(ANSWERS);
    let mut host = Host::start(&home, &["--allowedTools", "Write"]);
    let hooks = json!({"PreToolUse": [{"matcher": "Write", "hookCallbackIds": ["h0"]}]});
    host.request("i", &json!({"subtype": "initialize", "hooks": hooks}));
    host.wait_for("control_response");
    host.prompt("write it");
    let called = host.wait_for("control_request");
    assert_eq!(called["request"]["callback_id"], "h0");
    assert_eq!(called["request"]["input"]["tool_name"], "Write");
    host.respond(
        &called,
        &json!({"hookSpecificOutput": {"hookEventName": "PreToolUse",
        "permissionDecision": "deny", "permissionDecisionReason": "never"}}),
    );
    let result = host.wait_for("result");
    assert!(result["result"].as_str().unwrap().contains("never"), "{result}");
    assert!(!home.path("note.txt").exists());
    host.finish();
}

#[test]
fn clear_starts_a_new_session_in_the_same_process() {
    let home = TestHome::new(ANSWERS);
    let mut host = Host::start(&home, &[]);
    host.prompt("hello");
    let old = host.wait_for("result")["session_id"].clone();
    host.prompt("/clear");
    let reset = host.wait_for("conversation_reset");
    assert_eq!(reset["session_id"], old);
    let result = host.wait_for("result");
    assert_eq!(result["local_command"], "clear");
    assert_eq!(result["session_id"], reset["new_conversation_id"]);
    host.finish();
}

// spec: SDK-07
#[test]
fn a_session_is_resumed_by_its_id_and_an_unknown_one_is_a_result() {
    let home = TestHome::new(ANSWERS);
    let mut host = Host::start(&home, &[]);
    host.prompt("first");
    let (frames, ..) = host.finish();
    let id = frames[0]["session_id"].as_str().unwrap();
    let mut host = Host::start(&home, &[&format!("--resume={id}")]);
    host.prompt("second");
    let (frames, code, _) = host.finish();
    assert_eq!((frames[0]["session_id"].as_str(), code), (Some(id), 0));

    let unknown = "00000000-0000-4000-8000-000000000000";
    let mut host = Host::start(&home, &[&format!("--resume={unknown}")]);
    host.request("i", &json!({"subtype": "initialize"}));
    let (frames, code, said) = host.finish();
    assert_eq!((frames.len(), code), (1, 1));
    let error = format!("No conversation found with session ID: {unknown}");
    assert_eq!(frames[0]["errors"], json!([error]));
    assert!(said.contains(&error), "{said}");
}
