//! `windlass logs`.

use std::io::{BufRead, BufReader};
use std::process::Stdio;

use crate::scripted_runs::{ScriptedTool, play_prompts};
use crate::test_home::TestHome;

const CALL: &str = "when results 0\n  call Look {}\nwhen any\n  say \"seen\"\n";

#[test]
fn retries_are_events_and_the_newest_stands_last() {
    let home = TestHome::new(CALL);
    play_prompts(&home, "c", &["go"], |b| {
        b.tool(ScriptedTool::read_only("Look", "text").fail_first(2))
            .settings(|settings| settings.limits.tool_retry_ms = vec![1, 1, 1])
    });
    let ran = home.run(&["logs", "c"]);
    assert_eq!((ran.code, ran.err.as_str()), (0, ""));
    let names: Vec<&str> = ran.out.lines().map(|l| l.split_whitespace().nth(3).unwrap()).collect();
    let expected =
        ["agent_run.started", "agent.tool.retry", "agent.tool.retry", "agent_run.completed"];
    assert_eq!(names, expected, "{}", ran.out);
    let json = home.json(&["logs", "c"]);
    assert_eq!(
        (&json[1]["name"], &json[1]["fields"]["call"]),
        (&"agent.tool.retry".into(), &"1.0".into())
    );
    assert_eq!(json[3]["fields"]["cause"], "end_turn");
    assert_eq!(home.json(&["logs", "c", "--last", "1"]).len(), 1);
    let output = home.run(&["explain", "c"]).out;
    assert!(output.contains("Look {} failed temporarily and was retried"), "{output}");
}

#[test]
fn without_a_name_all_conversations_are_told_in_order_of_time() {
    let home = TestHome::new("when any\n  say \"x\"\n");
    assert_eq!((home.run(&["logs"]).code, home.run(&["logs"]).out.as_str()), (0, ""));
    for conversation in ["a", "b", "a"] {
        home.run_prompt("hi", &["--conversation", conversation]);
    }
    let lanes: Vec<String> =
        home.json(&["logs"]).iter().map(|event| event["conversation"].to_string()).collect();
    assert_eq!(lanes, ["\"a\"", "\"a\"", "\"b\"", "\"b\"", "\"a\"", "\"a\""]);
    // The events of one run alone.
    let run = home.json(&["runs"])[0]["run"].as_str().unwrap().to_owned();
    assert_eq!(home.json(&["logs", &run]).len(), 2);
}

#[test]
fn following_shows_what_happens_meanwhile() {
    let home = TestHome::new("when any\n  say \"x\"\n");
    home.run_prompt("hi", &["--conversation", "a"]);
    let mut child = home
        .command(&["logs", "--follow", "--json", "--store", "w.db"])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut next = || lines.next().unwrap().unwrap();
    assert!(next().contains("agent_run.started") && next().contains("agent_run.completed"));
    home.run_prompt("again", &["--conversation", "b"]);
    let seen = (next(), next());
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(seen.0.contains("\"b\"") && seen.0.contains("agent_run.started"), "{seen:?}");
    assert!(seen.1.contains("agent_run.completed"), "{seen:?}");
}

/// More events of workers are stored than are read for the first output.
#[test]
fn following_shows_new_events_of_workers_however_many_there_are() {
    let home = TestHome::new("when any\n  say \"x\"\n");
    home.run_prompt("hi", &["--conversation", "a"]);
    let store = rusqlite::Connection::open(home.path("w.db")).unwrap();
    let record = |from: u32, to: u32| {
        let made = store.execute(
            "WITH RECURSIVE nth (n) AS (SELECT ?1 UNION ALL SELECT n + 1 FROM nth WHERE n < ?2)
             INSERT INTO worker_event (at, worker, name, fields)
             SELECT n, 'w', 'agent.test', json_object('nth', n) FROM nth",
            (from, to),
        );
        assert_eq!(made, Ok((to - from + 1) as usize));
    };
    record(1, 10_500);
    let mut child = home
        .command(&["logs", "--follow", "--json", "--last", "3", "--store", "w.db"])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut next = || {
        let line = lines.next().unwrap().unwrap();
        serde_json::from_str::<serde_json::Value>(&line).unwrap()
    };
    // Those of the workers are the oldest of all, by their time.
    let seen = [next(), next(), next()].map(|event| event["name"].to_string());
    assert_eq!(seen[1..], ["\"agent_run.started\"", "\"agent_run.completed\""], "{seen:?}");
    record(10_501, 10_501);
    assert_eq!(next()["fields"]["nth"], 10_501);
    // More than one page comes between two polls: none is left out, none shown twice.
    record(10_502, 21_000);
    for nth in 10_502..=21_000 {
        assert_eq!(next()["fields"]["nth"], nth);
    }
    child.kill().unwrap();
    child.wait().unwrap();
}

#[test]
fn the_newest_200_events_are_told_unless_more_are_asked_for() {
    let calls: String =
        (0..90).map(|n| format!("  call Bash {{\"command\": \"touch {n}\"}}\n")).collect();
    let home = TestHome::new(&format!("when results 0\n{calls}when any\n  say \"x\"\n"));
    for conversation in ["a", "b", "c"] {
        home.run_prompt_unattended("go", &["--conversation", conversation]);
    }
    let all = home.json(&["logs", "--last", "100000"]);
    assert!(all.len() > 220, "{} events are too few for this test", all.len());
    let usual = home.json(&["logs"]);
    assert_eq!(usual.len(), 200);
    assert_eq!(usual.as_slice(), &all[all.len() - 200..]);
    assert_eq!(home.run(&["logs"]).out.lines().count(), 200);
    assert_eq!(home.json(&["logs", "--last", "7"]).as_slice(), &all[all.len() - 7..]);
}
