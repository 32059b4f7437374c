//! MCP servers that ask the user in the middle of a call: over both transports, with and without
//! someone to answer, and after the process was killed.

use std::process::Stdio;

use serde_json::{Value, json};

use crate::terminal::TerminalSession;
use crate::test_home::{CommandOutput, TestHome};

const SCRIPT: &str = "when results 0\n  call mcp__desk__order {\"what\": \"tea\"}\n\
                      when any\n  say \"It said: ${result}\"\n";

/// A server with one tool that asks before it acts. `ASKS` says what.
const SERVER: &str = include_str!("../asking_server.py");

fn home() -> TestHome {
    let home = TestHome::new(SCRIPT);
    home.write("server.py", SERVER);
    home
}

fn config(asks: &str) -> String {
    let server = json!({"command": "python3", "args": ["server.py"], "env": {"ASKS": asks}});
    json!({"mcpServers": {"desk": server}}).to_string()
}

/// The flags of every run.
fn flags(config: &str) -> Vec<&str> {
    vec!["--mcp-config", config, "--allowedTools", "mcp__desk"]
}

fn run_unattended(home: &TestHome, asks: &str) -> CommandOutput {
    home.run_prompt_unattended("go", &flags(&config(asks)))
}

fn lines(home: &TestHome, name: &str) -> Vec<Value> {
    let text = std::fs::read_to_string(home.path(name)).unwrap_or_default();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// Parks a run at the question of the server.
fn park(home: &TestHome, config: &str) -> Value {
    let more = ["--conversation", "c", "--json"];
    let ran = home.run_prompt("go", &[&flags(config)[..], &more].concat());
    assert_eq!(ran.code, 3, "{} {}", ran.out, ran.err);
    let result: Value = serde_json::from_str(&ran.out).unwrap();
    result.pointer("/questions/0").unwrap().clone()
}

fn answer(home: &TestHome, config: &str, words: &[&str]) -> CommandOutput {
    let fixed = ["answer", "c", "1"];
    home.run(&[&fixed[..], words, &["--script", "a.script"], &flags(config)].concat())
}

// spec: TOOLS-06
#[test]
fn without_anyone_to_answer_defaults_are_sent_if_they_are_enough() {
    for (asks, ordered, told) in [
        ("defaults", json!({"action": "accept", "content": {"n": 7}}), "got the default values"),
        ("size", json!({"action": "decline"}), "was declined"),
        ("page", json!({"action": "decline"}), "was declined"),
        ("bad", json!("refused"), "refused"),
    ] {
        let home = home();
        let ran = run_unattended(&home, asks);
        assert_eq!(ran.code, 0, "{asks}: {}", ran.err);
        assert!(ran.out.contains(told), "{asks}: {}", ran.out);
        assert_eq!(lines(&home, "ordered"), [json!([ordered])], "{asks}");
    }
    let home = home();
    run_unattended(&home, "defaults");
    assert_eq!(lines(&home, "hellos")[0]["elicitation"], json!({"form": {}, "url": {}}));
}

#[test]
fn a_run_parks_and_its_answer_reaches_the_server_that_is_asked_again() {
    let home = home();
    let config = config("size");
    let question = park(&home, &config);
    assert_eq!(question["text"], "desk asks: Which size?");
    assert_eq!(question["choices"], json!(["text", "continue", "deny"]));
    let explained = home.run(&["explain", "c"]);
    assert!(explained.out.contains("Which size?"), "{}", explained.out);
    let shown = home.run(&["show", "c"]).out;
    assert!(shown.contains("size (required, one of small, large)"), "{shown}");
    for (words, problem) in [
        (&["text", "size=huge"][..], "must be one of the values"),
        (&["continue"], "`size` is missing"),
        (&["text", "colour=red"], "no field"),
        (&["text", "size=small; count=0"], "below what the form allows"),
        (&["allow"], "accepts"),
    ] {
        let refused = answer(&home, &config, words);
        assert_ne!(refused.code, 0, "{words:?}");
        assert!(refused.err.contains(problem), "{words:?}: {}", refused.err);
    }
    assert!(lines(&home, "ordered").is_empty());
    let ran = answer(&home, &config, &["text", "size=large"]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    let accepted = json!({"action": "accept", "content": {"size": "large", "count": 2}});
    assert_eq!(lines(&home, "ordered"), [json!([accepted])]);
    // The first process has ended with its server: the call was sent again, with the same key.
    let calls = lines(&home, "calls");
    let key = "/_meta/windlass~1idempotencyKey";
    assert_eq!(calls.len(), 2);
    assert_eq!(calls[0].pointer(key), calls[1].pointer(key));
    let late = answer(&home, &config, &["text", "size=small"]);
    assert!(late.code != 0 && late.err.contains("question"), "{}", late.err);
}

#[test]
fn a_request_that_is_declined_is_told_to_a_server_that_waits_and_sends_no_call_again() {
    let home = home();
    let config = config("size");
    park(&home, &config);
    let ran = answer(&home, &config, &["deny"]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert!(ran.out.contains("it no longer waits for the answer"), "{}", ran.out);
    assert_eq!((lines(&home, "calls").len(), lines(&home, "ordered").len()), (1, 0));
    let more = flags(&config);
    let mut seat = TerminalSession::start(&home, &[&["-p", "go"][..], &more].concat());
    seat.wait_for_text("n` to decline");
    seat.type_in("n\n");
    let (status, output) = seat.end();
    assert!(status.success(), "{output}");
    assert_eq!(lines(&home, "ordered"), [json!([{"action": "decline"}])]);
}

#[test]
fn a_cancelled_run_says_that_the_call_was_not_answered() {
    let home = home();
    let config = config("size");
    park(&home, &config);
    let ran = home.run(&[&["cancel", "c", "--script", "a.script"][..], &flags(&config)].concat());
    assert_eq!(ran.code, 0, "{}", ran.err);
    home.wait_until("the end", || !home.run(&["show", "c"]).out.contains("answer with"));
    let shown = home.run(&["explain", "c"]).out;
    assert!(shown.contains("cancel"), "{shown}");
    assert_eq!(lines(&home, "calls").len(), 1);
}

#[test]
fn several_questions_of_one_call_are_asked_one_after_the_other() {
    let home = home();
    let config = config("size,page,defaults");
    park(&home, &config);
    let next = |number: &str, words: &[&str]| {
        let fixed = ["answer", "c", number];
        let park = ["--script", "a.script", "--when-asked", "park"];
        home.run(&[&fixed[..], words, &park, &flags(&config)].concat())
    };
    let asked = next("1", &["text", "{\"size\": \"small\"}"]);
    assert_eq!(asked.code, 3, "{}", asked.err);
    assert!(asked.err.contains("https://pay.example.com/1"), "{}", asked.err);
    assert_eq!(next("2", &["continue"]).code, 3);
    assert_eq!(next("3", &["text", "9"]).code, 0);
    let said = json!([
        {"action": "accept", "content": {"size": "small", "count": 2}},
        {"action": "accept"},
        {"action": "accept", "content": {"n": 9}},
    ]);
    assert_eq!(lines(&home, "ordered"), [said]);
}

#[test]
fn a_call_that_requires_a_page_is_sent_again_once_it_was_opened() {
    let home = home();
    let config = config("pages");
    let question = park(&home, &config);
    assert_eq!(question["text"], "desk asks you to open https://pay.example.com/2: Log in");
    let ran = answer(&home, &config, &["continue"]);
    assert_eq!((ran.code, lines(&home, "ordered")), (0, vec![json!([])]), "{}", ran.err);
}

#[test]
fn at_a_terminal_the_form_is_filled_in_and_the_same_call_goes_on() {
    let home = home();
    let config = config("size");
    let more = flags(&config);
    let mut seat = TerminalSession::start(&home, &[&["-p", "go"][..], &more].concat());
    seat.wait_for_text("n` to decline");
    assert!(seat.screen_text().contains("desk asks: Which size?"), "{}", seat.screen_text());
    seat.type_in("size=huge\n");
    seat.wait_for_text("must be one of the values");
    seat.type_in("size=small\n");
    let (status, output) = seat.end();
    assert!(status.success(), "{output}");
    let accepted = json!({"action": "accept", "content": {"size": "small", "count": 2}});
    assert_eq!(lines(&home, "ordered"), [json!([accepted])]);
    assert_eq!(lines(&home, "calls").len(), 1, "the server still waited");
}

/// A server over HTTP; it is killed with the test.
struct WebServer(std::process::Child);

impl WebServer {
    fn start(home: &TestHome) -> (Self, String) {
        let mut command = home.program("python3");
        command.args(["server.py", "--http"]).stdout(Stdio::null()).stderr(Stdio::null());
        let child = command.spawn().unwrap();
        home.wait_for_file("port");
        let port = std::fs::read_to_string(home.path("port")).unwrap();
        let server = json!({"type": "http", "url": format!("http://127.0.0.1:{port}/mcp")});
        (Self(child), json!({"mcpServers": {"desk": server}}).to_string())
    }
}

impl Drop for WebServer {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn a_server_over_http_asks_in_the_stream_of_its_call() {
    let home = home();
    let (_web, config) = WebServer::start(&home);
    let ran = home.run_prompt_unattended("go", &flags(&config));
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert_eq!(lines(&home, "ordered"), [json!([{"action": "decline"}])]);
    let question = park(&home, &config);
    assert_eq!(question["text"], "desk asks: Which size?");
    let ran = answer(&home, &config, &["text", "size=large; count=1"]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    let accepted = json!({"action": "accept", "content": {"size": "large", "count": 1}});
    assert_eq!(lines(&home, "ordered")[1], json!([accepted]));
}
