//! What a running command prints, while it runs: as messages for programs, as a tail at a terminal.

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

// spec: FEED-01
#[test]
fn the_output_of_a_command_arrives_while_it_runs() {
    let home = TestHome::new(&script("for n in 1 2 3; do echo line$n; sleep 0.5; done"));
    let frames = frames(&home, &["--include-partial-messages"]);
    let live = progress(&frames);
    assert!(live.len() >= 2, "{live:?}");
    let printed: String = live.iter().map(|frame| frame["output"].as_str().unwrap()).collect();
    assert_eq!(printed, "line1\nline2\nline3\n");
    for frame in &live {
        assert_eq!(
            (&frame["tool_use_id"], &frame["tool_name"]),
            (&Value::from("toolu_slow"), &Value::from("Bash"))
        );
        assert!(frame["elapsed_time_seconds"].as_f64().unwrap() > 0.2, "{frame}");
        assert_eq!(frame["parent_tool_use_id"], Value::Null);
    }
    let last = frames.iter().rposition(|frame| frame["type"] == "tool_progress").unwrap();
    let result =
        frames.iter().position(|frame| frame["message"]["content"][0]["type"] == "tool_result");
    assert!(last < result.unwrap(), "progress comes before the result");
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
