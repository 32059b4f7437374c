//! `windlass runs`: which runs are listed, and how the table fits the terminal.

use std::process::Stdio;

use crate::test_home::TestHome;

const SCRIPT: &str = "when user is \"park\"\n  call Bash {\"command\": \"touch x\"}\n\
     when user is \"fail\"\n  fail 400 \"bad\"\n\
     when any\n  say \"said ${user}\"\n";

fn list_runs(home: &TestHome, args: &[&str]) -> Vec<String> {
    let runs = home.json(&[&["runs"], args].concat());
    runs.iter().map(|run| run["prompt"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn a_run_is_listed_with_what_it_is_about() {
    let home = TestHome::new(SCRIPT);
    std::fs::create_dir(home.path("home")).unwrap();
    home.write("home/config.toml", "[profiles.careful]\n");
    let ran = home.run_prompt("Fix the parser\nand tell me why", &["--profile", "careful"]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    let run = &home.json(&["runs"])[0];
    let folder = home.path("").canonicalize().unwrap();
    assert_eq!(run["prompt"], "Fix the parser");
    assert_eq!(run["folder"], folder.to_str().unwrap());
    assert_eq!((&run["agent"], &run["profile"]), (&"default".into(), &"careful".into()));
    assert_eq!(run["model"], "scripted");
    // A model without a price has no cost, which is not the same as costing nothing.
    assert!(run["cost_usd"].is_null(), "{run}");
    let output = home.run(&["runs"]).out;
    for expected in ["ID", "STATE", "done", "Fix the parser", "COST"] {
        assert!(output.contains(expected), "{expected}: {output}");
    }
    assert!(!output.contains("why"), "{output}");
}

#[test]
fn filters_leave_the_others_out() {
    let home = TestHome::new(SCRIPT);
    for prompt in ["one", "park", "fail", "two"] {
        home.run_prompt(prompt, &[]);
    }
    std::fs::create_dir(home.path("other")).unwrap();
    home.run_prompt("away", &["--workspace", "other"]);
    assert_eq!(list_runs(&home, &[]), ["away", "two", "fail", "park", "one"]);
    assert_eq!(list_runs(&home, &["--limit", "2"]), ["away", "two"]);
    assert_eq!(list_runs(&home, &["--waiting"]), ["park"]);
    assert_eq!(list_runs(&home, &["--failed"]), ["fail"]);
    assert_eq!(list_runs(&home, &["--failed", "--waiting"]), ["fail", "park"]);
    assert_eq!(list_runs(&home, &["--here"]), ["two", "fail", "park", "one"]);
    assert_eq!(list_runs(&home, &["SAID T"]), ["two"]);
    assert_eq!(list_runs(&home, &["--agent", "default"]).len(), 5);
    assert!(list_runs(&home, &["--agent", "nobody"]).is_empty());
    assert_eq!(list_runs(&home, &["--since", "1h"]).len(), 5);
    assert!(list_runs(&home, &["--since", "0s"]).is_empty());
    let ran = home.run(&["runs", "nothing like it"]);
    assert!(ran.code == 0 && ran.out.contains("no matching runs"), "{}", ran.out);
    for wrong in [["--since", "soon"], ["--limit", "0"]] {
        assert_eq!(home.run(&[&["runs"], &wrong[..]].concat()).code, 2, "{wrong:?}");
    }
    let ran = home.run(&["runs", "--waiting"]);
    assert!(ran.out.contains("needs answer"), "{}", ran.out);
    assert!(ran.err.contains("windlass explain ID"), "{}", ran.err);
}

#[test]
fn the_list_fits_the_terminal() {
    let home = TestHome::new(SCRIPT);
    home.run_prompt(&"a prompt that is longer than every line ".repeat(9), &[]);
    home.run_prompt("fail", &["--conversation", "a-name-that-somebody-gave"]);
    for width in ["20", "40", "60", "100", "200"] {
        let store = home.path("w.db");
        let args = ["runs", "--store", store.to_str().unwrap()];
        let ran = home.run_with_env(&args, &[("COLUMNS", width)]);
        let limit: usize = width.parse().unwrap();
        assert!(ran.out.lines().all(|line| line.chars().count() <= limit), "{width}:\n{}", ran.out);
        assert_eq!(ran.out.lines().count(), 3, "{width}:\n{}", ran.out);
    }
}

#[test]
fn the_stop_causes_in_the_list_are_explained_below_it() {
    let home = TestHome::new(SCRIPT);
    for prompt in ["one", "fail"] {
        home.run_prompt(prompt, &[]);
    }
    home.run_prompt("long", &["--max-budget-tokens", "5"]);
    let ran = home.run(&["runs"]);
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
    let home = TestHome::new("when any\n  call Bash {\"command\": \"touch began; sleep 60\"}\n");
    let flags = ["--script", "a.script", "--allowedTools", "Bash", "--store", "w.db"];
    let mut command = home.command(&[&["-p", "go", "--conversation", "c"], &flags[..]].concat());
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let mut child = command.spawn().unwrap();
    home.wait_for_file("began");
    child.kill().unwrap();
    child.wait().unwrap();
    let ran = home.run(&["runs"]);
    assert!(ran.out.contains("interrupted"), "{}", ran.out);
    assert_eq!(
        ran.err,
        "interrupted: no process is driving it; continue with `windlass resume ID`\n"
    );
    for (command, resume) in [
        (&["explain", "c"][..], "windlass resume c`"),
        (&["doctor"], "1 run interrupted: c; continue with `windlass resume ID`"),
    ] {
        let ran = home.run(command);
        let output = ran.out.split_whitespace().collect::<Vec<_>>().join(" ");
        assert_eq!(output.matches("windlass resume").count(), 1, "{command:?}: {output}");
        assert!(output.contains(resume), "{command:?}: {output}");
        assert!(!output.contains("windlass worker`"), "{command:?}: {output}");
    }
    // A prompt that never started waits for a worker.
    home.run_prompt("later", &["--detach", "--conversation", "d"]);
    let ran = home.run(&["runs", "later"]);
    assert_eq!(ran.err.lines().count(), 1, "{}", ran.err);
    assert!(ran.err.contains("start one with `windlass worker --workspace /"), "{}", ran.err);
}
