//! What a running command prints, while it runs: as messages for programs, as a tail at a terminal.

use std::io::{BufRead, BufReader};
use std::process::Stdio;

use serde_json::Value;

use crate::terminal::TerminalSession;
use crate::test_home::TestHome;

const STREAM: [&str; 5] = ["--output-format", "stream-json", "--verbose", "--allowedTools", "Bash"];

fn script(command: &str) -> String {
    format!(
        "when results 0\n  call Bash as toolu_slow {{\"command\": \"{command}\"}}\nwhen any\n  say \"All over.\"\n"
    )
}

fn frames(home: &TestHome, more: &[&str]) -> Vec<Value> {
    let ran = home.run_prompt_unattended("go", &[&STREAM[..], more].concat());
    assert_eq!(ran.code, 0, "{}", ran.err);
    ran.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn progress(frames: &[Value]) -> Vec<&Value> {
    frames.iter().filter(|frame| frame["type"] == "tool_progress").collect()
}

#[test]
fn the_output_of_a_command_comes_before_its_result() {
    let home = TestHome::new(&script("for n in 1 2 3; do echo line$n; sleep 0.5; done"));
    let frames = frames(&home, &["--include-partial-messages"]);
    let live = progress(&frames);
    assert!(live.len() >= 2, "{live:?}");
    let printed: String = live.iter().map(|frame| frame["output"].as_str().unwrap()).collect();
    assert_eq!(printed, "line1\nline2\nline3\n");
    for frame in &live {
        let names = (&frame["tool_use_id"], &frame["tool_name"]);
        assert_eq!(names, (&Value::from("toolu_slow"), &Value::from("Bash")));
        assert!(frame["elapsed_time_seconds"].as_f64().unwrap() > 0.2, "{frame}");
        assert_eq!(frame["parent_tool_use_id"], Value::Null);
    }
    let last = frames.iter().rposition(|frame| frame["type"] == "tool_progress").unwrap();
    let is_result = |frame: &Value| frame["message"]["content"][0]["type"] == "tool_result";
    assert!(last < frames.iter().position(is_result).unwrap());
}

const DELEGATED: &str = r#"
when user contains "inner job" and results 0
  call Bash as toolu_inner {"command": "echo inside; while [ ! -e inner-seen ]; do sleep 0.1; done"}

when user contains "inner job"
  say "inner answer"

when results 0
  call Bash as toolu_slow {"command": "echo outside; while [ ! -e outer-seen ]; do sleep 0.1; done"}

when result contains "outside"
  call Agent as toolu_agent {"description": "x", "prompt": "the inner job"}

when any
  say "done"
"#;

/// Each command waits until this reader has seen its output: whatever is held back hangs the run.
// spec: FEED-01
#[test]
fn every_message_arrives_as_it_happens_also_from_inside_a_call() {
    let home = TestHome::new(DELEGATED);
    let args =
        ["-p", "go", "--script", "a.script", "--store", "w.db", "--include-partial-messages"];
    let mut child =
        home.command(&[&args[..], &STREAM].concat()).stdout(Stdio::piped()).spawn().unwrap();
    let mut kinds = Vec::new();
    for line in BufReader::new(child.stdout.take().unwrap()).lines() {
        let frame: Value = serde_json::from_str(&line.unwrap()).unwrap();
        match (frame["type"].as_str().unwrap(), frame["output"].as_str()) {
            ("tool_progress", Some("outside\n")) => home.write("outer-seen", ""),
            ("tool_progress", Some("inside\n")) => home.write("inner-seen", ""),
            _ => {}
        }
        kinds.push(frame["type"].as_str().unwrap().to_owned());
    }
    assert!(child.wait().unwrap().success(), "{kinds:?}");
    assert_eq!(kinds.last().unwrap(), "result");
    assert_eq!(kinds.iter().filter(|kind| *kind == "tool_progress").count(), 2);
}

#[test]
fn live_output_is_delivered_on_request_only() {
    let home = TestHome::new(&script("echo here; sleep 0.6"));
    assert_eq!(progress(&frames(&home, &[])), Vec::<&Value>::new());
}

#[test]
fn of_much_output_readers_get_the_tail() {
    let home = TestHome::new(&script("yes | head -c 3000000; echo the end; sleep 0.6"));
    let frames = frames(&home, &["--include-partial-messages"]);
    let live = progress(&frames);
    assert!((1..10).contains(&live.len()), "{}", live.len());
    for frame in &live {
        assert!(frame["output"].as_str().unwrap().len() <= 16 * 1024);
    }
    let omitted: u64 = live.iter().filter_map(|frame| frame["omitted_bytes"].as_u64()).sum();
    let shown: usize = live.iter().map(|frame| frame["output"].as_str().unwrap().len()).sum();
    assert_eq!(omitted + shown as u64, 3_000_000 + "the end\n".len() as u64);
    assert!(live.last().unwrap()["output"].as_str().unwrap().ends_with("the end\n"));
}

#[test]
fn the_output_of_a_sub_agent_names_its_call() {
    let home = TestHome::new(
        "when user contains \"inner job\" and results 0\n  call Bash as toolu_inner {\"command\": \"echo inside; sleep 0.6\"}\n\
         when user contains \"inner job\"\n  say \"inner answer\"\n\
         when results 0\n  call Agent as toolu_agent {\"description\": \"x\", \"prompt\": \"the inner job\"}\n\
         when any\n  say \"done\"\n",
    );
    let frames = frames(&home, &["--include-partial-messages"]);
    let [live] = progress(&frames)[..] else { panic!("{frames:?}") };
    assert_eq!(live["output"], "inside\n");
    assert_eq!(live["tool_use_id"], "toolu_inner");
    assert_eq!(live["parent_tool_use_id"], "toolu_agent");
}

#[test]
fn a_terminal_shows_the_tail_of_the_output_and_erases_it() {
    let home = TestHome::new(&script(
        "for n in 1 2 3 4 5 6 7; do echo row$n; done; while [ ! -e go ]; do sleep 0.1; done",
    ));
    let args = ["-p", "go", "--allowedTools", "Bash"];
    let mut seat = TerminalSession::start(&home, &args);
    seat.wait_for_text("│ row7");
    assert!(!seat.screen_text().contains("│ row2"), "{}", seat.screen_text());
    home.write("go", "");
    let (status, screen) = seat.end();
    assert!(status.success() && screen.contains("All over."), "{screen}");
    let (_, after) = screen.rsplit_once("│ row7").unwrap();
    assert_eq!(after.matches("\u{1b}[1A\r\u{1b}[2K").count(), 5, "all lines are erased: {screen}");
}
