//! `windlass answer`, `resume`, `cancel`: inbox commands and which process continues; and `replay`.

use std::process::{Child, Stdio};

use crate::scripted_runs;
use crate::test_home::TestHome;

const ASKS: &str =
    "when results 0\n  call Bash {\"command\": \"touch made\"}\nwhen any\n  say \"Made.\"\n";

/// A conversation that waits for approval to run a command.
fn home_with_parked_run() -> TestHome {
    let home = TestHome::new(ASKS);
    assert_eq!(home.run_prompt("go", &["--conversation", "c"]).code, 3);
    home
}

fn run_state(home: &TestHome) -> String {
    let runs = home.json(&["runs"]);
    runs.first().and_then(|run| run["state"].as_str()).unwrap().to_owned()
}

// spec: CLI-10
#[test]
fn an_answer_goes_on_unless_it_is_only_to_be_sent() {
    let home = home_with_parked_run();
    let ran = home.run(&["answer", "c", "1", "allow", "--detach"]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert!(ran.out.contains("the next worker will continue it"), "{}", ran.out);
    assert!(!home.path("made").exists() && run_state(&home) == "waiting_on_human");
    let ran = home.run(&["resume", "c", "--detach"]);
    assert!(
        ran.code == 0
            && ran.out.contains("the next worker will continue it, or `windlass resume c`"),
        "{}",
        ran.err
    );
    assert!(!home.path("made").exists());
    let ran = home.run(&["resume", "c", "--script", "a.script"]);
    assert_eq!((ran.code, ran.out.as_str()), (0, "Made.\n"), "{}", ran.err);
    assert!(home.path("made").exists());
}

// spec: CLI-10
#[test]
fn a_run_that_nobody_drives_is_ended_by_whoever_cancels_it_and_needs_no_model() {
    let home = home_with_parked_run();
    let ran = home.run(&["cancel", "c", "--detach"]);
    assert!(ran.code == 0 && ran.out.starts_with("requested cancellation of run "), "{}", ran.err);
    assert_eq!(run_state(&home), "waiting_on_human");
    let ran = home.run(&["cancel", "c"]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert_eq!(run_state(&home), "cancelled", "{}", ran.err);
    assert!(!home.path("made").exists());
    let ran = home.run(&["cancel", "c"]);
    assert!(ran.code == 0 && ran.out.contains("there is nothing to cancel"), "{}", ran.err);
}

// spec: CLI-10
#[test]
fn there_is_nothing_to_go_on_with_where_nobody_asked() {
    let home = TestHome::new(ASKS);
    scripted_runs::create_empty_lane(&home, "c");
    for _ in 0..2 {
        let ran = home.run(&["resume", "c", "--script", "a.script"]);
        assert!(ran.code == 1 && ran.err.contains("send one with `windlass -p"), "{}", ran.err);
    }
    assert_eq!(home.run_prompt("go", &["--conversation", "c"]).code, 3);
    assert_eq!(run_state(&home), "waiting_on_human");
}

// spec: CLI-10
#[test]
fn programs_are_told_in_json() {
    let home = home_with_parked_run();
    let sent = &home.json(&["answer", "c", "1", "deny", "--detach"])[0];
    assert_eq!((&sent["conversation"], &sent["question"]), (&"c".into(), &1.into()));
    assert_eq!(home.json(&["resume", "c", "--detach"])[0]["conversation"], "c");
    let result = &home.json(&["resume", "c", "--script", "a.script"])[0];
    assert_eq!((&result["type"], &result["result"]), (&"result".into(), &"Made.".into()));
    let report = &home.json(&["cancel", "c"])[0];
    assert!(report["message"].as_str().unwrap().contains("nothing to cancel"), "{report}");
    let cancelled = &home_with_parked_run().json(&["cancel", "c"])[0];
    assert_eq!(cancelled["terminal_reason"], "aborted", "{cancelled}");
}

// spec: CLI-10
#[test]
fn what_answers_no_open_question_is_told_before_anything_is_sent() {
    let home = home_with_parked_run();
    let refused = |answer: &[&str], says: &str| {
        // This error needs no model.
        let ran = home.run(&[&["answer", "c"], answer].concat());
        assert_eq!((ran.code, ran.out.as_str()), (1, ""), "{}", ran.err);
        assert!(ran.err.contains(says) && ran.err.lines().count() == 1, "{}", ran.err);
    };
    refused(&["7", "allow"], "no open question 7; open: 1");
    refused(&["1", "mark-done"], "question 1 accepts allow");
    home.run(&["answer", "c", "1", "deny", "--script", "a.script"]);
    refused(&["1", "deny"], "no open question 1");
}

fn start_busy_run(home: &TestHome, flags: &[&str]) -> Child {
    home.command(&["-p", "go", "--script", "a.script", "--store", "w.db", "--conversation", "c"])
        .args(["--allowedTools", "Bash"])
        .args(flags)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}

// spec: CLI-10
#[test]
fn what_a_process_has_that_stands_still_is_taken_by_whoever_resumes_it() {
    let home = TestHome::new(
        "when results 0\n  call Bash {\"command\": \"touch begun; sleep 1\"}\n\
         when any\n  say \"x\"\n",
    );
    let lease = ["--lease-ms", "400", "--beat-ms", "100"];
    let mut child = start_busy_run(&home, &lease);
    while !home.path("begun").exists() {
        assert!(child.try_wait().unwrap().is_none(), "it ended early");
    }
    let pid = rustix::process::Pid::from_child(&child);
    rustix::process::kill_process(pid, rustix::process::Signal::STOP).unwrap();
    let resume = [&["resume", "c", "--script", "a.script"], lease.as_slice()].concat();
    let ran = home.run(&resume);
    assert_eq!(ran.code, 3, "{}", ran.out);
    assert!(ran.err.contains("Did it take effect?"), "{}", ran.err);
    rustix::process::kill_process(pid, rustix::process::Signal::CONT).unwrap();
    // The frozen process finds that it no longer owns the conversation.
    assert!(!child.wait().unwrap().success());
    assert_eq!(run_state(&home), "waiting_on_human");
}

// spec: CLI-10
#[test]
fn a_run_that_somebody_drives_is_only_told() {
    let home = TestHome::new(
        "when results 0\n  call Bash {\"command\": \"touch begun; sleep 1\"}\n  \
         call Bash {\"command\": \"touch never\"}\nwhen any\n  say \"x\"\n",
    );
    let mut child = start_busy_run(&home, &[]);
    while !home.path("begun").exists() {
        assert!(child.try_wait().unwrap().is_none(), "it ended early");
    }
    let ran = home.run(&["cancel", "c"]);
    assert!(ran.code == 0 && ran.out.ends_with(" of c\n"), "{}", ran.err);
    assert_eq!(child.wait().unwrap().code(), Some(1));
    assert!(!home.path("never").exists());
    assert_eq!(run_state(&home), "cancelled");
}

// spec: CLI-09
#[test]
fn a_run_is_stepped_through_without_a_model_and_a_changed_past_is_noticed() {
    let home = TestHome::new(
        "when user is \"look\" and results 0\n  call Read {\"file_path\": \"a\"}\nwhen any\n  say \"x\"\n",
    );
    home.write("a", "x");
    home.run_prompt("one", &["--conversation", "c"]);
    home.run_prompt("look", &["--conversation", "c"]);
    std::fs::remove_file(home.path("a.script")).unwrap();
    let ran = home.run(&["replay", "c"]);
    assert_eq!((ran.code, ran.err.as_str()), (0, ""));
    assert!(ran.out.contains("commands_received → prompt_queued"), "{}", ran.out);
    assert!(ran.out.contains("tool_returned → call_returned"), "{}", ran.out);
    let last = ran.out.lines().last().unwrap();
    assert!(
        last.starts_with("replayed ") && last.ends_with("all decisions are identical"),
        "{last}"
    );
    let steps = home.json(&["replay", "c"]);
    assert_eq!(steps.len() + 1, ran.out.lines().count());
    // One run of it alone, by a prefix of its id.
    let run = home.json(&["runs"])[0]["run"].as_str().unwrap().to_owned();
    let own = home.json(&["replay", &run]);
    assert!(!own.is_empty() && own.len() < steps.len(), "{} of {}", own.len(), steps.len());
    // A reply that differs from the recorded decision.
    let log = rusqlite::Connection::open(home.path("w.db")).unwrap();
    let body: String =
        log.query_row("SELECT body FROM entry WHERE seq = 3", [], |row| row.get(0)).unwrap();
    drop(log);
    home.overwrite_entry(3, &body.replace("end_turn", "max_tokens"));
    let ran = home.run(&["replay", "c"]);
    assert_eq!(ran.code, 1, "{}", ran.out);
    assert!(ran.err.contains("entry 3"), "{}", ran.err);
}
