//! Sub-agents in the background of `windlass -p`.

use std::process::Stdio;

use crate::test_home::{CommandOutput, TestHome};

const BACKGROUND: &str = r#"
when user contains "inner job" and results 0
  call Bash {"command": "echo begun >> begun; while [ ! -e go ]; do sleep 0.1; done"}

when user contains "inner job"
  say "inner answer"

when user contains "outer job" and results 0
  call Agent {"description": "an inner job", "prompt": "do the inner job", "run_in_background": true}

when user contains "task-notification"
  say "heard: ${user}"

when results 1
  say "started it: ${result}"

when any
  say "You said ${user}."
"#;

const RULES: [&str; 4] = ["--allowedTools", "Agent,Bash", "--conversation", "c"];

fn start(home: &TestHome) -> std::process::Child {
    let store = home.path("w.db");
    let args = ["-p", "outer job", "--script", "a.script", "--store", store.to_str().unwrap()];
    let mut command = home.command(&[&args[..], &RULES].concat());
    let child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
    let child = child.unwrap();
    home.wait_for_file("begun");
    child
}

// spec: CHILDREN-08
#[test]
fn the_process_stays_until_the_sub_agent_has_returned() {
    let home = TestHome::new(BACKGROUND);
    let child = start(&home);
    // The first answer is complete while the sub-agent still works.
    home.wait_until("the first answer", || {
        home.path("w.db").exists()
            && !home.run(&["show", "c"]).out.is_empty()
            && home.run(&["show", "c"]).out.contains("started it")
    });
    home.write("go", "");
    let ran = CommandOutput::from(child.wait_with_output().unwrap());
    assert_eq!(ran.code, 0, "{}", ran.err);
    let first = ran.out.find("started it").expect(&ran.out);
    let second = ran.out.find("heard: ").expect(&ran.out);
    assert!(first < second && ran.out.contains("inner answer"), "{}", ran.out);
    assert!(ran.err.contains("waiting for a sub-agent in the background"), "{}", ran.err);
}

// spec: CHILDREN-08
#[test]
fn the_work_in_the_background_survives_kill_9() {
    let home = TestHome::new(BACKGROUND);
    let mut child = start(&home);
    child.kill().unwrap();
    child.wait().unwrap();
    home.write("go", "");
    // The command that was running may have taken effect: it does not run twice by itself.
    let more = ["--allowedTools", "Agent,Bash", "--resume", "c"];
    let ran = home.run_prompt_unattended("hello", &more);
    assert!(ran.out.contains("You said hello."), "{}{}", ran.out, ran.err);
    assert_eq!(std::fs::read_to_string(home.path("begun")).unwrap(), "begun\n", "never twice");
}

#[test]
fn a_program_that_reads_one_result_has_no_background() {
    let home = TestHome::new(BACKGROUND);
    let more = [&RULES[..], &["--output-format", "json"]].concat();
    let ran = home.run_prompt_unattended("outer job", &more);
    assert!(ran.out.contains("sub-agents cannot run in the background here"), "{}", ran.out);
    assert!(!home.path("begun").exists());
}

// spec: CHILDREN-08
#[test]
fn a_sub_agent_works_in_the_background_of_a_worker_and_survives_its_kill() {
    let home = TestHome::new(BACKGROUND);
    let queued = home.run(&["-p", "outer job", "--detach", "--conversation", "c"]);
    assert_eq!(queued.code, 0, "{}", queued.err);
    let store = home.path("w.db");
    let worker = || {
        let mut command = home.command(&[
            "worker",
            "--script",
            "a.script",
            "--store",
            store.to_str().unwrap(),
            "--allowedTools",
            "Agent,Bash",
        ]);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        command.spawn().unwrap()
    };
    let mut first = worker();
    home.wait_for_file("begun");
    home.wait_until("the first answer", || home.run(&["show", "c"]).out.contains("started it"));
    first.kill().unwrap();
    first.wait().unwrap();
    home.write("go", "");
    let mut second = worker();
    // The interrupted command may have taken effect: a person is asked, and says that it did not.
    let asked = home.query("SELECT id FROM lane WHERE id LIKE '%/%'").concat();
    home.wait_until("the question", || {
        let answer = ["answer", &asked, "1", "retry", "--script", "a.script"];
        home.run(&answer).code == 0
    });
    home.wait_until("the second answer", || home.run(&["show", "c"]).out.contains("heard: "));
    second.kill().unwrap();
    second.wait().unwrap();
    assert_eq!(std::fs::read_to_string(home.path("begun")).unwrap(), "begun\nbegun\n");
}

const WATCH: &str = r#"
when user contains "inner job" and results 0
  call Bash {"command": "echo begun >> begun; while [ ! -e go ]; do sleep 0.1; done"}

when user contains "task-notification"
  say "heard: ${user}"

when result of Bash
  call TaskOutput {"task_id": "agent_1_0"}

when result of Agent
  call Bash {"command": "while [ ! -e begun ]; do sleep 0.1; done"}

when result of TaskOutput contains "running"
  call TaskStop {"task_id": "agent_1_0"}

when result of TaskStop
  say "stop: ${result}"

when user is "watch it" and results 0
  call Agent {"description": "an inner job", "prompt": "do the inner job", "run_in_background": true}

when user is "nobody" and results 0
  call TaskOutput {"task_id": "agent_9_9"}

when any
  say "You said ${user}: ${result}"
"#;

// spec: TOOLS-11
#[test]
fn a_sub_agent_in_the_background_is_shown_and_stopped_by_the_tools_for_tasks() {
    let home = TestHome::new(WATCH);
    let ran = home.run_prompt_unattended("watch it", &RULES);
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert!(ran.out.contains("stop: agent_1_0 is being stopped"), "{}{}", ran.out, ran.err);
    assert!(ran.out.contains("<status>failed</status>"), "{}{}", ran.out, ran.err);
    assert!(!ran.err.contains("another prompt"), "{}", ran.err);
    let shown = home.run(&["show", "c"]).out;
    assert!(shown.contains("[running, 0 rounds of tool calls]"), "{shown}");
    let ran = home.run_prompt_unattended("nobody", &["--allowedTools", "Agent"]);
    assert!(ran.out.contains("unknown_agent"), "{}", ran.out);
}

// spec: TOOLS-11
#[test]
fn the_tools_for_tasks_are_known_by_their_old_names() {
    let home = TestHome::new(
        "when tools include TaskOutput\n  say \"output\"\nwhen tools include TaskStop\n  say \"stop\"\nwhen any\n  say \"none\"\n",
    );
    for (flag, value, says) in [
        ("--tools", "BashOutput", "output"),
        ("--tools", "KillShell", "stop"),
        ("--disallowedTools", "BashOutput", "stop"),
        ("--disallowedTools", "BashOutput KillShell", "none"),
    ] {
        let ran = home.run_prompt_unattended("hi", &[flag, value]);
        assert_eq!(ran.out, format!("{says}\n"), "{flag} {value}: {}", ran.err);
    }
}
