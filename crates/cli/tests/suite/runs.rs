//! `windlass runs`: which runs are listed, and how the table fits the terminal.

use std::process::Stdio;

use crate::test_home::TestHome;

const SCRIPT: &str = "when user is \"park\"\n  call Bash {\"command\": \"touch x\"}\n\
     when user is \"fail\"\n  fail 400 \"bad\"\n\
     when any\n  say \"said ${user}\"\n";

fn list_runs(place: &TestHome, args: &[&str]) -> Vec<String> {
    let runs = place.json(&[&["runs"], args].concat());
    runs.iter().map(|run| run["prompt"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn a_run_is_listed_with_what_it_is_about() {
    let place = TestHome::new(SCRIPT);
    std::fs::create_dir(place.path("home")).unwrap();
    place.write("home/config.toml", "[profiles.careful]\n");
    let ran = place.run_prompt("Fix the parser\nand tell me why", &["--profile", "careful"]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    let run = &place.json(&["runs"])[0];
    let folder = place.path("").canonicalize().unwrap();
    assert_eq!(run["prompt"], "Fix the parser");
    assert_eq!(run["folder"], folder.to_str().unwrap());
    assert_eq!((&run["agent"], &run["profile"]), (&"default".into(), &"careful".into()));
    assert_eq!(run["model"], "scripted");
    // A model without a price has no cost, which is not the same as costing nothing.
    assert!(run["cost_usd"].is_null(), "{run}");
    let shown = place.run(&["runs"]).out;
    for expected in ["ID", "STATE", "done", "Fix the parser", "COST"] {
        assert!(shown.contains(expected), "{expected}: {shown}");
    }
    assert!(!shown.contains("why"), "{shown}");
}

#[test]
fn filters_leave_the_others_out() {
    let place = TestHome::new(SCRIPT);
    for prompt in ["one", "park", "fail", "two"] {
        place.run_prompt(prompt, &[]);
    }
    std::fs::create_dir(place.path("other")).unwrap();
    place.run_prompt("away", &["--workspace", "other"]);
    assert_eq!(list_runs(&place, &[]), ["away", "two", "fail", "park", "one"]);
    assert_eq!(list_runs(&place, &["--limit", "2"]), ["away", "two"]);
    assert_eq!(list_runs(&place, &["--waiting"]), ["park"]);
    assert_eq!(list_runs(&place, &["--failed"]), ["fail"]);
    assert_eq!(list_runs(&place, &["--failed", "--waiting"]), ["fail", "park"]);
    assert_eq!(list_runs(&place, &["--here"]), ["two", "fail", "park", "one"]);
    assert_eq!(list_runs(&place, &["SAID T"]), ["two"]);
    assert_eq!(list_runs(&place, &["--agent", "default"]).len(), 5);
    assert!(list_runs(&place, &["--agent", "nobody"]).is_empty());
    assert_eq!(list_runs(&place, &["--since", "1h"]).len(), 5);
    assert!(list_runs(&place, &["--since", "0s"]).is_empty());
    let ran = place.run(&["runs", "nothing like it"]);
    assert!(ran.code == 0 && ran.out.contains("no matching runs"), "{}", ran.out);
    for wrong in [["--since", "soon"], ["--limit", "0"]] {
        assert_eq!(place.run(&[&["runs"], &wrong[..]].concat()).code, 2, "{wrong:?}");
    }
    let ran = place.run(&["runs", "--waiting"]);
    assert!(ran.out.contains("needs answer"), "{}", ran.out);
    assert!(ran.err.contains("windlass explain ID"), "{}", ran.err);
}

#[test]
fn the_list_fits_the_terminal() {
    let place = TestHome::new(SCRIPT);
    place.run_prompt(&"a prompt that is longer than every line ".repeat(9), &[]);
    place.run_prompt("fail", &["--conversation", "a-name-that-somebody-gave"]);
    for width in ["20", "40", "60", "100", "200"] {
        let store = place.path("w.db");
        let args = ["runs", "--store", store.to_str().unwrap()];
        let ran = place.run_with_env(&args, &[("COLUMNS", width)]);
        let most: usize = width.parse().unwrap();
        assert!(ran.out.lines().all(|line| line.chars().count() <= most), "{width}:\n{}", ran.out);
        assert_eq!(ran.out.lines().count(), 3, "{width}:\n{}", ran.out);
    }
}

#[test]
fn the_stop_causes_in_the_list_are_explained_below_it() {
    let place = TestHome::new(SCRIPT);
    for prompt in ["one", "fail"] {
        place.run_prompt(prompt, &[]);
    }
    place.run_prompt("long", &["--max-budget-tokens", "5"]);
    let ran = place.run(&["runs"]);
    assert!(ran.out.contains("failed: budget_tokens"), "{}", ran.out);
    let told: Vec<&str> = ran.err.lines().collect();
    assert_eq!(
        told,
        [
            "budget_tokens: the budget in tokens is spent",
            "provider_failed: the model provider failed"
        ]
    );
}

#[test]
fn an_interrupted_run_is_told_with_the_one_thing_that_helps() {
    let place = TestHome::new("when any\n  call Bash {\"command\": \"touch began; sleep 60\"}\n");
    let flags = ["--script", "a.script", "--allowedTools", "Bash", "--store", "w.db"];
    let mut command = place.command(&[&["-p", "go", "--conversation", "c"], &flags[..]].concat());
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let mut child = command.spawn().unwrap();
    place.wait_for_file("began");
    child.kill().unwrap();
    child.wait().unwrap();
    let ran = place.run(&["runs"]);
    assert!(ran.out.contains("interrupted"), "{}", ran.out);
    assert_eq!(
        ran.err,
        "interrupted: no process is driving it; continue with `windlass resume ID`\n"
    );
    for (command, resume) in [
        (&["explain", "c"][..], "windlass resume c`"),
        (&["doctor"], "1 run interrupted: c; continue with `windlass resume ID`"),
    ] {
        let ran = place.run(command);
        let told = ran.out.split_whitespace().collect::<Vec<_>>().join(" ");
        assert_eq!(told.matches("windlass resume").count(), 1, "{command:?}: {told}");
        assert!(told.contains(resume), "{command:?}: {told}");
        assert!(!told.contains("windlass worker`"), "{command:?}: {told}");
    }
    // A prompt that never started waits for a worker.
    place.run_prompt("later", &["--detach", "--conversation", "d"]);
    let ran = place.run(&["runs", "later"]);
    assert_eq!(ran.err.lines().count(), 1, "{}", ran.err);
    assert!(ran.err.contains("start one with `windlass worker --workspace /"), "{}", ran.err);
}
