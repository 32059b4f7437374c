//! Sub-agents in the background, over the SDK channel of the real binary.

use serde_json::{Value, json};

use crate::sdk_channel::Host;
use crate::test_home::TestHome;

const BACKGROUND: &str = r#"
when user contains "inner job" and results 0
  call Bash as toolu_inner {"command": "echo begun >> begun; while [ ! -e go ]; do sleep 0.1; done"}

when user contains "inner job"
  say "inner answer"

when user contains "outer job" and results 0
  call Agent as toolu_agent {"description": "an inner job", "prompt": "do the inner job", "run_in_background": true}

when user contains "task-notification"
  say "heard: ${user}"

when results 1
  say "started it"

when any
  say "You said ${user}."
"#;

const FLAGS: [&str; 2] = ["--allowedTools", "Agent,Bash"];

fn of_subtype<'f>(frames: &'f [Value], subtype: &str) -> Vec<&'f Value> {
    frames.iter().filter(|frame| frame["subtype"] == subtype).collect()
}

#[test]
fn a_call_returns_at_once_and_the_answer_starts_a_turn() {
    let home = TestHome::new(BACKGROUND);
    let mut host = Host::start(&home, &FLAGS);
    host.prompt("outer job");
    assert_eq!(host.wait_for("result")["result"], "started it");
    // A prompt of the program comes first; the work in the background goes on.
    host.prompt("hello");
    assert_eq!(host.wait_for("result")["result"], "You said hello.");
    home.write("go", "");
    let (frames, code, said) = host.finish();
    assert_eq!((code, said.as_str()), (0, ""), "{frames:?}");
    let result = frames.last().unwrap();
    assert!(result["result"].as_str().unwrap().contains("inner answer"), "{result}");
    assert_eq!(result["origin"], json!({"kind": "task-notification"}));
    let [ended] = of_subtype(&frames, "task_notification")[..] else { panic!("{frames:?}") };
    assert_eq!(
        (&ended["status"], &ended["tool_use_id"]),
        (&json!("completed"), &json!("toolu_agent"))
    );
    let inner = frames.iter().filter(|frame| frame["parent_tool_use_id"] == "toolu_agent");
    assert!(inner.count() > 0, "the reader follows the sub-agent across turns: {frames:?}");
    assert_eq!(of_subtype(&frames, "init").len(), 1);
}

#[test]
fn stop_task_ends_a_sub_agent_in_the_background() {
    let home = TestHome::new(BACKGROUND);
    let mut host = Host::start(&home, &FLAGS);
    host.prompt("outer job");
    let started = loop {
        let frame = host.next().unwrap();
        if frame["subtype"] == "task_started" {
            break frame;
        }
    };
    assert_eq!(started["is_backgrounded"], true);
    home.wait_for_file("begun");
    host.request("s", &json!({"subtype": "stop_task", "task_id": started["task_id"]}));
    let (frames, _, _) = host.finish();
    let [ended] = of_subtype(&frames, "task_notification")[..] else { panic!("{frames:?}") };
    assert_eq!((&ended["status"], &ended["task_id"]), (&json!("failed"), &started["task_id"]));
    assert_eq!(frames.last().unwrap()["origin"]["kind"], "task-notification");
}

#[test]
fn a_sub_agent_in_the_background_survives_kill_9() {
    let home = TestHome::new(BACKGROUND);
    let id = "5f0c1b7e-2f43-4a8e-9d53-0c1f4f4a9b11";
    let mut host = Host::start(&home, &[&FLAGS[..], &["--session-id", id]].concat());
    host.prompt("outer job");
    assert_eq!(host.wait_for("result")["result"], "started it");
    home.wait_for_file("begun");
    host.kill();
    home.write("go", "");
    // The command that was running has unknown effects, and no one is there to decide: it is not
    // repeated, and the sub-agent is told so.
    let mut host = Host::start(&home, &[&FLAGS[..], &["--resume", id]].concat());
    host.prompt("hello");
    assert_eq!(host.wait_for("result")["result"], "You said hello.");
    let (frames, code, said) = host.finish();
    assert_eq!(code, 0, "{frames:?} {said}");
    assert_eq!(frames.last().unwrap()["origin"]["kind"], "task-notification", "{frames:?}");
    assert_eq!(std::fs::read_to_string(home.path("begun")).unwrap(), "begun\n", "never twice");
}
