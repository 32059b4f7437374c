//! Lines about batches of tool calls, which a small model writes beside the run.

use std::io::{BufRead, BufReader};
use std::process::Stdio;
use std::time::Duration;

use serde_json::Value;

use crate::scripted::ScriptedServer;
use crate::sdk_channel::Host;
use crate::test_home::TestHome;

/// The second call waits until this reader has seen the line about the first one.
const WORK: &str = r#"
when user contains "Call: Read" and user contains "the notes"
  usage in 1000 out 10
  say "Read the notes\nand more"

when user contains "Call: "
  delay 600s
  say "Too late"

when results 0
  call Read as toolu_first {"file_path": "a.txt"}

when result of Read
  call Bash as toolu_second {"command": "while [ ! -e seen ]; do sleep 0.05; done"}

when any
  say "Done."
"#;

const STREAM: [&str; 5] = ["--output-format", "stream-json", "--verbose", "--allowedTools", "Bash"];

fn home_with_notes(script: &str) -> TestHome {
    let home = TestHome::new(script);
    home.write("a.txt", "the notes\n");
    home
}

fn frames(out: &str) -> Vec<Value> {
    out.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn run_on_server(home: &TestHome, server: &ScriptedServer, more: &[&str]) -> Vec<Value> {
    let args = ["-p", "go", "--model", "claude-sonnet-4-5", "--store", "w.db"];
    let address = format!("http://{}", server.address);
    let environment = [("ANTHROPIC_BASE_URL", address.as_str()), ("ANTHROPIC_API_KEY", "none")];
    let ran = home.run_with_env(&[&args[..], &STREAM, more].concat(), &environment);
    assert_eq!(ran.code, 0, "{} {}", ran.err, ran.out);
    frames(&ran.out)
}

// spec: FEED-07
#[test]
fn a_line_about_the_calls_comes_while_the_run_goes_on() {
    let home = home_with_notes(WORK);
    let args = ["-p", "go", "--script", "a.script", "--store", "w.db"];
    let flag = ["--include-tool-use-summaries"];
    let mut command = home.command(&[&args[..], &STREAM, &flag].concat());
    let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn().unwrap();
    let mut all = Vec::new();
    for line in BufReader::new(child.stdout.take().unwrap()).lines() {
        let frame: Value = serde_json::from_str(&line.unwrap()).unwrap();
        if frame["type"] == "tool_use_summary" {
            home.write("seen", "");
        }
        all.push(frame);
    }
    child.wait().unwrap();
    let summaries: Vec<_> = all.iter().filter(|one| one["type"] == "tool_use_summary").collect();
    assert_eq!(summaries.len(), 1, "the line about the second call does not come: {all:?}");
    assert_eq!(summaries[0]["summary"], "Read the notes");
    assert_eq!(summaries[0]["preceding_tool_use_ids"], serde_json::json!(["toolu_first"]));
    assert_eq!(summaries[0]["session_id"], all[0]["session_id"]);
    let result = all.last().unwrap();
    assert_eq!((&result["type"], &result["result"]), (&"result".into(), &"Done.".into()));
    assert!(result["usage"]["input_tokens"].as_u64().unwrap() >= 1_000, "it counts: {result}");
}

/// Every line hangs for ten minutes; the run takes no longer than without them, and what it ordered
/// is charged to the model that was asked.
// spec: FEED-07
#[test]
#[expect(clippy::disallowed_methods, reason = "the test measures a real process")]
fn a_summary_model_that_hangs_delays_nothing_and_is_charged() {
    let rounds: String = (1..8)
        .map(|n| format!("when ask {n}\n  call Read {{\"file_path\": \"a{n}.txt\"}}\n"))
        .collect();
    let hangs = "when user contains \"Call: \"\n  delay 600s\n  say \"Too late\"\n";
    let home = TestHome::new(&format!("{hangs}{rounds}when any\n  say \"Done.\"\n"));
    (1..8).for_each(|n| home.write(&format!("a{n}.txt"), &"chapter ".repeat(n * 40)));
    let server = ScriptedServer::start(&home, &[]);
    let begin = std::time::Instant::now();
    let with = run_on_server(&home, &server, &["--include-tool-use-summaries"]);
    assert!(begin.elapsed() < Duration::from_secs(60), "{:?}", begin.elapsed());
    assert!(with.iter().all(|frame| frame["type"] != "tool_use_summary"));
    let without = run_on_server(&home, &server, &[]);
    let cost = |frames: &[Value]| frames.last().unwrap()["total_cost_usd"].as_f64().unwrap();
    assert!(cost(&with) > cost(&without), "{} {}", cost(&with), cost(&without));
    let used = |frames: &[Value]| {
        let models = frames.last().unwrap()["modelUsage"].as_object().unwrap().clone();
        models.keys().any(|name| name.contains("haiku"))
    };
    assert!(used(&with) && !used(&without), "{:?}", with.last());
}

// spec: FEED-07
#[test]
fn nothing_is_summarised_unless_a_reader_asks() {
    let home = home_with_notes(WORK);
    home.write("seen", "");
    let ran = home.run_prompt_unattended("go", &STREAM);
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert!(!ran.out.contains("tool_use_summary") && !ran.out.contains("Read the notes"));
    let ran = home.run_prompt_unattended("go", &["--json", "--include-tool-use-summaries"]);
    assert_eq!(ran.out.lines().count(), 1, "{}", ran.out);
}

// spec: FEED-07
#[test]
fn the_channel_shows_them_when_the_environment_says_so() {
    let home = home_with_notes(WORK);
    let variables = [("CLAUDE_CODE_EMIT_TOOL_USE_SUMMARIES", "1")];
    let mut host = Host::start_with_env(&home, &["--allowedTools", "Bash"], &variables);
    host.prompt("go");
    assert_eq!(host.wait_for("tool_use_summary")["summary"], "Read the notes");
    // Interrupted while the line about the second call is being written.
    host.request("i", &serde_json::json!({"subtype": "interrupt"}));
    assert_eq!(host.wait_for("result")["subtype"], "error_during_execution");
    home.write("seen", "");
    host.prompt("again");
    assert_eq!(host.wait_for("result")["result"], "Done.");
    assert_eq!(host.finish().1, 0);
}
