//! What is given with one prompt is its run's alone: after a crash, in a queue, and for a worker.

use std::process::Stdio;
use std::time::{Duration, Instant};

use crate::kit::Place;

const WORK: &str = r#"
when user is "one" and results 0
  call Bash {"command": "touch started; sleep 2; touch one"}

when user is "two" and results 0
  call Bash {"command": "touch two"}

when error of Bash
  say "not allowed ${user}"

when any
  say "said ${user}"
"#;

#[expect(clippy::disallowed_methods, reason = "the test watches a real process")]
fn until(what: &str, holds: impl Fn() -> bool) {
    let begin = Instant::now();
    while !holds() {
        assert!(begin.elapsed() < Duration::from_secs(30), "{what} did not come");
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// Starts a prompt of the conversation `c` that is not waited for.
fn start(place: &Place, prompt: &str, more: &[&str]) -> std::process::Child {
    let store = place.path("w.db");
    let args = ["-p", prompt, "--script", "a.script", "--conversation", "c", "--lease-ms", "1000"];
    let args =
        [&args[..], &["--beat-ms", "200", "--store", store.to_str().unwrap()], more].concat();
    let mut command = place.command(&args);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

const QUICK: &[&str] = &["--conversation", "c", "--lease-ms", "1000", "--beat-ms", "200"];

// spec: LANES-14
#[test]
fn rules_of_a_killed_run_are_not_those_of_the_next_prompt() {
    let place = Place::new(WORK);
    let mut first = start(&place, "one", &["--allow", "Bash"]);
    until("the first command", || place.path("started").exists());
    first.kill().unwrap();
    first.wait().unwrap();
    // The interrupted command may have happened: say so, and its run goes on with its own rules.
    place.alone("two", QUICK);
    let ran = place.run(&["answer", "c", "1", "mark-done", "--script", "a.script"]);
    assert!(ran.out.contains("said one"), "{}{}", ran.out, ran.err);
    let shown = place.run(&["show", "c"]).out;
    assert!(shown.contains("not allowed two"), "{shown}");
    assert!(!place.path("two").exists(), "a rule outlived its run");
}

// spec: LANES-14
#[test]
fn rules_of_a_prompt_that_waits_are_not_lost() {
    let place = Place::new(WORK);
    let rules = ["touch started", "sleep:*", "touch one"].map(|rule| format!("Bash({rule})"));
    let rules: Vec<&str> = rules.iter().flat_map(|rule| ["--allow", rule]).collect();
    let mut first = start(&place, "one", &rules);
    until("the first command", || place.path("started").exists());
    let ran = place.alone("two", &[QUICK, &["--allow", "Bash(touch two)"]].concat());
    assert!(ran.out.contains("said two"), "{}{}", ran.out, ran.err);
    assert!(place.path("two").exists(), "{}{}", ran.out, ran.err);
    assert_eq!(first.wait().unwrap().code(), Some(0));
}

// spec: LANES-14
#[test]
fn rules_of_a_run_are_not_those_of_a_prompt_that_waits_behind_it() {
    let place = Place::new(WORK);
    let mut first = start(&place, "one", &["--allow", "Bash"]);
    until("the first command", || place.path("started").exists());
    let ran = place.alone("two", QUICK);
    assert!(ran.out.contains("not allowed two"), "{}{}", ran.out, ran.err);
    assert_eq!(first.wait().unwrap().code(), Some(0));
    assert!(place.path("one").exists() && !place.path("two").exists());
    // Nor those of one that was left for whoever comes next.
    let mut first = start(&place, "one", &["--allow", "Bash"]);
    until("the run", || place.json(&["runs"]).iter().any(|run| run["state"] == "running"));
    let left = place.alone("two", &["--conversation", "c", "--detach"]);
    assert_eq!(left.code, 0, "{}", left.err);
    first.wait().unwrap();
    assert!(!place.path("two").exists());
}

// spec: LANES-14
#[test]
fn what_was_given_with_a_prompt_that_was_left_goes_with_it() {
    let place = Place::new(WORK);
    let left = ["--conversation", "c", "--detach", "--allow", "Bash(touch two)"];
    assert_eq!(place.alone("two", &left).code, 0);
    let worked = place.run(&["resume", "c", "--script", "a.script"]);
    assert!(place.path("two").exists(), "{}{}", worked.out, worked.err);
}
