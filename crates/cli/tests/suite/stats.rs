//! `windlass stats`.

use crate::test_home::TestHome;

#[test]
fn an_empty_store_has_no_runs() {
    let ran = TestHome::new("").run(&["stats"]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert!(ran.out.starts_with("no runs yet"), "{}", ran.out);
}

#[test]
fn shares_and_histogram_are_computed_on_the_trace() {
    let home = TestHome::new(
        "when user is \"odd\"\n  say \"?\"\n  stop something_new\n\
         when user is \"two\" and results 0\n  call Read {\"file_path\": \"a\"}\n\
         when user is \"loop\"\n  call Read {\"file_path\": \"a\"}\n\
         when any\n  say \"x\"\n",
    );
    home.write("a", "x");
    for prompt in ["one", "one", "two", "odd"] {
        home.run_prompt(prompt, &[]);
    }
    home.run_prompt("loop", &["--max-turns", "2"]);
    let ran = home.run(&["stats"]);
    assert_eq!((ran.code, ran.err.as_str()), (0, ""));
    for expected in [
        "5 runs ended",
        "stopped at a limit          1   20.00 %",
        "unexpected stops            1   20.00 %  above the target of 0.3 %",
        "iterations to end_turn (3 runs; median 1, 95 % within 2, longest 2)",
        "1 │████████████████████████████████████████████████████████████ 2",
        "2 │██████████████████████████████ 1",
    ] {
        assert!(ran.out.contains(expected), "{expected:?} is missing in\n{}", ran.out);
    }
    let json = &home.json(&["stats", "--days", "1"])[0];
    assert_eq!((&json["runs"], &json["stopped_at_cap"]), (&5.into(), &1.into()));
    assert_eq!(
        (&json["unexpected"], &json["unexpected_within_target"]),
        (&1.into(), &false.into())
    );
    assert_eq!(json["iterations_to_end_turn"]["1"], 2);
    assert_eq!(json["reasons"]["max_iters"], 1);
    let none = &home.json(&["stats", "--days", "0"])[0];
    assert_eq!(none["runs"], 0, "nothing ended in the last zero days");
}

/// Retries of a busy provider do not make a run look longer than it was.
// spec: TRACE-01
#[test]
fn four_overloads_and_one_answer_are_one_iteration() {
    let home =
        TestHome::new("when ask 1\n  times 4\n  fail 529 \"overloaded\"\nwhen any\n  say \"x\"\n");
    let fast = ["--set", "model_retry_ms=1", "--conversation", "c"];
    let ran = home.run_prompt("go", &fast);
    assert_eq!(ran.code, 0, "{}", ran.err);
    let json = &home.json(&["stats"])[0];
    assert_eq!(json["iterations_to_end_turn"], serde_json::json!({ "1": 1 }));
    let ran = home.run(&["stats"]);
    let title = "iterations to end_turn (1 run; median 1, 95 % within 1, longest 1)";
    assert!(ran.out.contains(title), "{}", ran.out);
    let iterations: Vec<u64> =
        home.json(&["trace", "c"]).iter().map(|row| row["iter"].as_u64().unwrap()).collect();
    assert_eq!(iterations, [1]);
    let ran = home.run(&["explain", "c"]);
    assert!(ran.out.contains("1 iteration, 1 of 110 model calls and 4 retries"), "{}", ran.out);
    let store = rusqlite::Connection::open(home.path("w.db")).unwrap();
    let row =
        store.query_row("SELECT iter, job_id = run_id FROM agent_loop_trace, run", [], |row| {
            Ok((row.get::<_, u32>(0)?, row.get::<_, bool>(1)?))
        });
    assert_eq!(row, Ok((1, true)));
}

/// A run that reads many files is detected and not stopped: that is neither an escalation nor a
/// warning.
// spec: GUARDS-03
#[test]
fn only_what_escalates_counts_as_an_escalation_and_is_a_warning() {
    let reads: String = (1..=8)
        .map(|n| format!("when ask {n}\n  call Read {{\"file_path\": \"f{n}\"}}\n"))
        .collect();
    let home = TestHome::new(&format!(
        "when user is \"loop\"\n  call Read {{\"file_path\": \"f1\"}}\n{reads}when any\n  say \"x\"\n"
    ));
    (1..=8).for_each(|n| home.write(&format!("f{n}"), &format!("text {n}")));
    let log = ["--log", "warn", "--log-format", "json"];
    let warnings = |prompt: &str| {
        let ran = home.run_prompt(prompt, &[&log[..], &["--conversation", prompt]].concat());
        ran.err.matches("agent.loop.detected").count()
    };
    assert_eq!(warnings("calm"), 0);
    let events = home.json(&["logs", "calm"]);
    assert!(events.iter().any(|event| event["name"] == "agent.loop.detected"), "{events:?}");
    let stats = &home.json(&["stats"])[0];
    assert_eq!(stats["agents"][0]["escalations"], serde_json::json!({}), "{stats}");
    assert!(warnings("loop") > 0);
    let events = home.json(&["logs", "loop"]);
    let escalated = events.iter().filter(|event| event["fields"]["escalated"] == true).count();
    let stats = &home.json(&["stats"])[0];
    let counted = &stats["agents"][0]["escalations"]["agent.loop.detected"];
    assert_eq!(counted.as_u64(), Some(escalated as u64), "{stats}");
}

/// How often which tools were called, and which agent needed help.
// spec: TRACE-07, TRACE-10
#[test]
fn tools_and_agents_are_counted() {
    let home = TestHome::new(
        "when user is \"loop\"\n  call Read {\"file_path\": \"a\"}\n\
         when results 0\n  call Read {\"file_path\": \"a\"}\n  call Read {\"file_path\": \"none\"}\n\
         when any\n  say \"x\"\n",
    );
    home.write("a", "x");
    home.run_prompt("once", &[]);
    home.run_prompt("loop", &["--max-turns", "6", "--profile", "builder"]);
    let json = &home.json(&["stats"])[0];
    let read = &json["tools"][0];
    assert_eq!(read["tool"], "Read", "{json}");
    assert!(read["failed"].as_u64().unwrap() > 0, "{json}");
    assert_eq!(read["calls"], read["attempts"], "{json}");
    let agents = json["agents"].as_array().unwrap();
    let profiles: Vec<&str> = agents.iter().map(|of| of["profile"].as_str().unwrap()).collect();
    assert_eq!(profiles, ["builder", "default"], "{json}");
    assert_eq!(
        (&agents[1]["runs"], &agents[1]["escalations"]),
        (&1.into(), &serde_json::json!({}))
    );
    assert!(agents[0]["escalations"]["agent.loop.detected"].as_u64().unwrap() > 0, "{json}");
    let ran = home.run(&["stats"]);
    assert!(ran.out.contains("runs by agent (profile)"), "{}", ran.out);
    assert!(ran.out.contains("agent.loop.detected"), "{}", ran.out);
    assert!(ran.out.contains("attempts  retried  failed"), "{}", ran.out);
    let logged = home.run(&["logs", "--json"]);
    assert!(logged.out.contains("\"profile\":\"builder\""), "{}", logged.out);
}
