//! A run that waits for a person says so everywhere, with the command that lets it continue.

use std::fs::File;
use std::process::{Child, Stdio};

use serde_json::Value;

use crate::test_home::{CommandOutput, TestHome};

/// The command waits for the file `go`, and nothing says afterwards whether it took effect.
const LOST_CALL: &str = r#"
when user is "parent" and results 0
  call Agent {"description": "x", "prompt": "one", "subagent_type": "general-purpose"}

when user is "one" and results 0
  call Bash {"command": "touch begun; until test -e go; do sleep 0.05; done"}

when any
  say "said ${user}"
"#;

const ASKING: &str = r#"
when user is "parent" and results 0
  call Agent {"description": "x", "prompt": "one", "subagent_type": "general-purpose"}

when user is "one" and results 0
  call Bash {"command": "touch made"}

when any
  say "said ${user}"
"#;

/// A process of the test, with its output in files.
fn start(home: &TestHome, args: &[&str], name: &str) -> Child {
    let file = |kind: &str| File::create(home.path(&format!("{name}.{kind}"))).unwrap();
    let mut command = home.command(args);
    command.args(["--store", "w.db"]).stdin(Stdio::null());
    command.stdout(file("out")).stderr(file("err")).spawn().unwrap()
}

fn printed(home: &TestHome, name: &str) -> String {
    std::fs::read_to_string(home.path(name)).unwrap()
}

fn state_of(home: &TestHome, prompt: &str) -> Value {
    let runs = home.json(&["runs"]);
    runs.iter().find(|run| run["prompt"] == prompt).unwrap()["state"].clone()
}

/// Kills a process in the middle of a call, and cancels its run; `lane` is the conversation that
/// asks about the call.
fn cancel_lost_call(prompt: &str, lane: &str) {
    let home = TestHome::new(LOST_CALL);
    let run = ["-p", prompt, "--conversation", "c", "--script", "a.script"];
    let flags = ["--allowedTools", "Bash,Agent"];
    let mut killed = start(&home, &[&run[..], &flags].concat(), "killed");
    home.wait_for_file("begun");
    killed.kill().unwrap();
    killed.wait().unwrap();
    let mut cancel = start(&home, &["cancel", "c"], "cancel");
    home.wait_until("the notice", || {
        printed(&home, "cancel.err").contains("it ends when this is answered, at the latest in ")
    });
    let notice = printed(&home, "cancel.err");
    let answer = format!("`windlass answer {lane} 1 ANSWER`: retry, mark-done or abandon");
    assert!(notice.contains("Did it take effect?") && notice.contains(&answer), "{notice}");
    let ran = home.run(&["answer", lane, "1", "abandon", "--script", "a.script"]);
    assert!(ran.out.contains("the process that drives it continues it"), "{}{}", ran.out, ran.err);
    assert_eq!(cancel.wait().unwrap().code(), Some(0), "{}", printed(&home, "cancel.err"));
    assert_eq!(state_of(&home, prompt), "cancelled");
    home.write("go", "");
}

// spec: CLI-12
#[test]
fn a_cancel_that_waits_for_an_answer_says_for_which() {
    cancel_lost_call("one", "c");
}

#[test]
fn a_cancel_that_waits_for_an_answer_to_a_sub_agent_says_for_which() {
    cancel_lost_call("parent", "c/1.0-0");
}

// spec: CLI-12
#[test]
fn an_approval_with_a_time_limit_is_asked_for_at_once() {
    let home = TestHome::new(ASKING);
    let run = ["-p", "one", "--conversation", "c", "--script", "a.script", "--when-asked", "park"];
    let mut asking = start(&home, &[&run[..], &["--set", "approval_ms=3600000"]].concat(), "one");
    home.wait_until("the notice", || printed(&home, "one.err").contains("the call is denied in "));
    let notice = printed(&home, "one.err");
    assert!(notice.contains("`windlass answer c 1 ANSWER`: allow or deny"), "{notice}");
    assert_eq!(home.run(&["approve", "c", "1", "--script", "a.script"]).code, 0);
    assert_eq!(asking.wait().unwrap().code(), Some(0), "{}", printed(&home, "one.err"));
    assert_eq!(printed(&home, "one.out"), "said one\n");
    assert!(home.path("made").exists());
}

// spec: CLI-12
#[test]
fn a_prompt_behind_a_question_is_told_what_to_answer() {
    let home = TestHome::new(ASKING);
    let ran = home.run_prompt("one", &["--conversation", "c"]);
    assert_eq!(ran.code, 3, "{}", ran.err);
    let how = "`windlass approve c 1`, or `windlass answer c 1 deny`";
    let ran = home.run_prompt("two", &["--conversation", "c"]);
    assert_eq!((ran.code, ran.out.as_str()), (3, ""), "{}", ran.err);
    assert!(ran.err.contains("stays queued: the run before it needs an answer"), "{}", ran.err);
    assert!(ran.err.contains("`windlass answer c 1 ANSWER`: allow or deny"), "{}", ran.err);
    let ran = home.run_prompt("three", &["--conversation", "c", "--output-format", "json"]);
    let result: Value = serde_json::from_str(&ran.out).unwrap();
    assert_eq!((ran.code, &result["terminal_reason"]), (3, &"waiting_on_human".into()));
    assert_eq!(result["usage"]["output_tokens"], 0, "that of the run before it: {}", ran.out);
    let errors = result["errors"].to_string();
    assert!(errors.contains("stays queued") && errors.contains("windlass answer c 1"), "{errors}");
    // A prompt that is in the log, and one that is not.
    home.run_prompt_unattended("four", &["--conversation", "c", "--detach"]);
    let need = format!("queued behind a run that needs an answer; answer question 1 with {how}");
    let runs = home.json(&["runs"]);
    for prompt in ["two", "three", "four"] {
        let run = runs.iter().find(|run| run["prompt"] == prompt).unwrap();
        assert_eq!(run["waits_for"], need.as_str());
        let ran = home.run(&["explain", run["run"].as_str().unwrap()]);
        let text = ran.out.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(text.contains(&format!("It is {need}.")), "{prompt}: {}", ran.out);
    }
    let ran = home.run(&["runs"]);
    assert!(ran.err.contains(&need), "{}", ran.err);
    let ran = home.run(&["doctor"]);
    assert!(format!("{}{}", ran.out, ran.err).contains(&need), "{}", ran.out);
}

// spec: CLI-12
#[test]
fn the_question_of_a_sub_agent_is_asked_in_the_name_of_the_conversation() {
    let home = TestHome::new(ASKING);
    let flags = ["--conversation", "c", "--allowedTools", "Agent"];
    let ran = home.run_prompt("parent", &flags);
    assert_eq!((ran.code, ran.out.as_str()), (3, ""), "{}", ran.err);
    assert!(ran.err.contains("touch made"), "{}", ran.err);
    assert!(ran.err.contains("`windlass answer c/1.0-0 1 ANSWER`: allow or deny"), "{}", ran.err);
    let ran = home.run(&["runs"]);
    assert!(!ran.out.contains("interrupted"), "{}", ran.out);
    let need = "waiting for a sub-agent, which needs an answer; answer question 1 with `windlass \
                approve c/1.0-0 1`, or `windlass answer c/1.0-0 1 deny`";
    assert!(ran.err.contains(need) && !ran.err.contains("windlass resume"), "{}", ran.err);
    let ran = home.run(&["explain", "c"]);
    assert!(ran.out.contains("of c needs an answer"), "{}", ran.out);
    let text = ran.out.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(text.contains(&format!("It is {need}.")), "{}", ran.out);
    let resume = ["resume", "c", "--script", "a.script", "--when-asked", "park"];
    let ran = home.run(&[&resume[..], &["--output-format", "json"]].concat());
    let result: Value = serde_json::from_str(&ran.out).unwrap();
    assert_eq!((ran.code, &result["questions"][0]["conversation"]), (3, &"c/1.0-0".into()));
    // The answer is for the conversation, whose own answer follows.
    let ran = home.run(&["answer", "c/1.0-0", "1", "allow", "--script", "a.script"]);
    assert_eq!((ran.code, ran.out.as_str()), (0, "said parent\n"), "{}", ran.err);
    assert!(home.path("made").exists());
    assert_eq!(state_of(&home, "parent"), "completed");
}

#[test]
fn a_run_whose_sub_agent_is_at_work_is_not_interrupted() {
    let home = TestHome::new(LOST_CALL);
    let run = ["-p", "parent", "--conversation", "c", "--script", "a.script"];
    let child = start(&home, &[&run[..], &["--allowedTools", "Bash,Agent"]].concat(), "run");
    home.wait_for_file("begun");
    let listed = home.run(&["runs"]);
    let explained = home.run(&["explain", "c"]);
    home.write("go", "");
    let ended = CommandOutput::from(child.wait_with_output().unwrap());
    assert_eq!(ended.code, 0, "{}", printed(&home, "run.err"));
    assert!(!listed.out.contains("interrupted"), "{}{}", listed.out, listed.err);
    assert!(!explained.out.contains("interrupted"), "{}", explained.out);
}
