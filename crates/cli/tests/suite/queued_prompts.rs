//! A prompt queued behind another: a process that has its own result does not interrupt the other
//! runs.

use std::process::Stdio;

use serde_json::Value;

use crate::test_home::{CommandOutput, TestHome};

const WORK: &str = r#"
when user is "one" and results 0
  call Bash {"command": "touch one"}

when user is "two" and results 0
  call Bash {"command": "sleep 0.5; touch two"}

when any
  say "said ${user}"
"#;

const LEAVE: &[&str] =
    &["answer", "c", "1", "allow", "--script", "a.script", "--allowedTools", "Bash"];

/// The first prompt waits for approval, the second one is queued behind it.
fn new_home() -> TestHome {
    let home = TestHome::new(WORK);
    let rules = r#"{"permissions": {"ask": ["Bash(touch one)"]}}"#;
    home.run_prompt("one", &["--conversation", "c", "--allowedTools", "Bash", "--settings", rules]);
    let ran = home.run_prompt_unattended("two", &["--conversation", "c", "--detach"]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    home
}

#[test]
fn what_waits_is_seen_to_its_end_and_everything_is_said_once() {
    let home = new_home();
    let ran = home.run(LEAVE);
    assert_eq!((ran.code, ran.out.as_str()), (0, "said one\n"), "{}", ran.err);
    assert!(ran.err.contains("\nsaid two\n"), "another prompt's answer is progress: {}", ran.err);
    assert!(ran.err.contains("another prompt was waiting; running it now"), "{}", ran.err);
    assert!(home.path("two").exists());
    for run in home.json(&["runs"]) {
        assert_eq!(run["state"], "completed", "{run}");
    }
}

/// Two processes: the first one drives its run, the second one is queued behind it and interrupted.
#[test]
fn ctrl_c_of_a_prompt_that_waits_behind_another_process_cancels_only_its_own() {
    let home = TestHome::new(
        "when user is \"one\" and results 0
  call Bash {\"command\": \"touch begun; until test -e go; do sleep 0.05; done; touch finished\"}

when any
  say \"said ${user}\"
",
    );
    let start = |prompt: &str| {
        let flags = ["--script", "a.script", "--store", "w.db", "--allowedTools", "Bash"];
        let mut command = home.command(&["-p", prompt, "--conversation", "c"]);
        command.args(flags).stdin(Stdio::null());
        command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
    };
    let first = start("one");
    home.wait_until("the first command", || home.path("begun").exists());
    let second = start("two");
    home.wait_until("the second prompt", || home.json(&["runs"]).len() == 2);
    let pid = rustix::process::Pid::from_child(&second);
    rustix::process::kill_process(pid, rustix::process::Signal::INT).unwrap();
    let second = second.wait_with_output().unwrap();
    assert_eq!(second.status.code(), Some(130), "{second:?}");
    assert_eq!(String::from_utf8(second.stdout).unwrap(), "", "that answer is the other's");
    let first_state = || {
        let runs = home.json(&["runs"]);
        runs.iter().find(|run| run["prompt"] == "one").unwrap().clone()
    };
    assert_eq!(first_state()["state"], "running");
    assert_ne!(first_state()["cancel_requested"], true);
    home.write("go", "");
    let first = first.wait_with_output().unwrap();
    assert_eq!(first.status.code(), Some(0), "{first:?}");
    assert_eq!(String::from_utf8(first.stdout).unwrap(), "said one\n");
    assert!(home.path("finished").exists());
    let states: Vec<String> =
        home.json(&["runs"]).iter().map(|run| run["state"].to_string()).collect();
    assert_eq!(states.len(), 2);
    assert!(states.contains(&"\"completed\"".into()), "{states:?}");
    assert!(states.contains(&"\"cancelled\"".into()), "{states:?}");
}

/// The queued prompt needs no time: its run may end before this process looks for it.
#[test]
fn a_queued_prompt_that_ends_at_once_is_said_too() {
    let home = TestHome::new(
        "when user is \"one\" and results 0
  call Bash {\"command\": \"touch one\"}

when any
  say \"said ${user}\"
",
    );
    let rules = r#"{"permissions": {"ask": ["Bash(touch one)"]}}"#;
    home.run_prompt("one", &["--conversation", "c", "--allowedTools", "Bash", "--settings", rules]);
    for prompt in ["two", "three"] {
        home.run_prompt_unattended(prompt, &["--conversation", "c", "--detach"]);
    }
    let ran = home.run(LEAVE);
    assert_eq!((ran.code, ran.out.as_str()), (0, "said one\n"), "{}", ran.err);
    let said: Vec<&str> = ran.err.lines().filter(|line| line.starts_with("said")).collect();
    assert_eq!(said, ["said two", "said three"], "{}", ran.err);
    let unreleased = home.query("SELECT owner FROM lane WHERE owner IS NOT NULL");
    assert_eq!(unreleased, [""; 0], "the next process need not wait");
}

/// Four processes: the first one drives all prompts, and has ended them before the others look.
#[test]
fn prompts_that_another_process_ends_at_once_are_answered_in_every_format() {
    let home = TestHome::new(
        "when user is \"one\" and results 0
  call Bash {\"command\": \"touch begun; until test -e go; do sleep 0.05; done\"}

when any
  say \"said ${user}\"
",
    );
    let start = |prompt: &str, format: &[&str]| {
        let flags = ["--script", "a.script", "--store", "w.db", "--allowedTools", "Bash"];
        let mut command = home.command(&["-p", prompt, "--conversation", "c"]);
        command.args(flags).args(format).stdin(Stdio::null());
        command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
    };
    let first = start("one", &[]);
    home.wait_for_file("begun");
    let formats: [(&str, &[&str]); 3] = [
        ("two", &["--output-format", "stream-json", "--verbose"]),
        ("three", &["--output-format", "json"]),
        ("four", &[]),
    ];
    let queued = formats.map(|(prompt, format)| {
        let child = start(prompt, format);
        // In this order, and read by the first process before it has its own result.
        let read = format!("SELECT body FROM entry WHERE body LIKE '%\"text\":\"{prompt}\"%'");
        home.wait_until(prompt, || !home.query(&read).is_empty());
        child
    });
    home.write("go", "");
    let first = CommandOutput::from(first.wait_with_output().unwrap());
    assert_eq!((first.code, first.out.as_str()), (0, "said one\n"), "{}", first.err);
    let [two, three, four] =
        queued.map(|child| CommandOutput::from(child.wait_with_output().unwrap()));
    for ran in [&two, &three, &four] {
        assert_eq!(ran.code, 0, "{}{}", ran.out, ran.err);
    }
    let two: Vec<Value> = two.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let said: Vec<&Value> =
        two.iter().map(|message| &message["message"]["content"][0]["text"]).collect();
    assert_eq!(said, [&Value::Null, &"said two".into(), &Value::Null], "init, answer, result");
    let three: Value = serde_json::from_str(&three.out).unwrap();
    for (result, text) in [(&two[2], "said two"), (&three, "said three")] {
        assert_eq!((&result["type"], &result["result"]), (&"result".into(), &text.into()));
        assert_eq!((&result["num_turns"], &result["stop_reason"]), (&1.into(), &"end_turn".into()));
        let used = &result["modelUsage"]["scripted"]["outputTokens"];
        assert_eq!(used, &result["usage"]["output_tokens"], "only that of its own run");
    }
    assert_eq!(four.out, "said four\n", "{}", four.err);
}

#[test]
fn a_program_gets_one_result() {
    let home = new_home();
    let ran = home.run(&[LEAVE, &["--output-format", "json"]].concat());
    let result: Value = serde_json::from_str(&ran.out).unwrap();
    assert_eq!((ran.code, &result["result"]), (0, &"said one".into()), "{}", ran.err);
    assert!(home.path("two").exists());
}
