//! `windlass -p`.

use crate::test_home::TestHome;

const LOOK: &str = r#"
when results 0
  say "Let me look."
  call Read {"file_path": "a.txt"}
  call Bash {"command": "echo from the shell"}

when result of Read contains "42" and result of Bash contains "from the shell"
  say "The answer is 42."
"#;

#[test]
fn a_scripted_conversation_runs_with_a_read_and_a_shell_tool() {
    let home = TestHome::new(LOOK);
    home.write("a.txt", "the answer: 42\n");
    let ran = home.run_prompt("what is it?", &["--allow", "Read", "--allow", "Bash"]);
    assert_eq!((ran.code, ran.out.as_str()), (0, "The answer is 42.\n"), "{}", ran.err);
    assert!(ran.err.starts_with("Let me look.\n"), "{}", ran.err);
    assert!(ran.err.contains("✓ Read a.txt"), "{}", ran.err);
    assert!(ran.err.contains("✓ Bash echo from the shell"), "{}", ran.err);
}

#[test]
fn json_is_one_object_with_the_result() {
    let home = TestHome::new(LOOK);
    home.write("a.txt", "the answer: 42\n");
    let more = ["--allow", "*", "--output-format", "json", "--conversation", "c1"];
    let ran = home.run_prompt("what is it?", &more);
    let result: serde_json::Value = serde_json::from_str(&ran.out).unwrap();
    assert_eq!(result["subtype"], "success");
    assert_eq!(result["result"], "The answer is 42.");
    assert_eq!(result["num_turns"], 3, "the prompt and two results");
    assert_eq!(result["session_id"], "c1");
    assert_eq!(result["terminal_reason"], "end_turn");
}

// spec: CLI-01
#[test]
fn what_would_be_asked_parks_the_run_with_one_result_and_the_answer_goes_on() {
    let home = TestHome::new(&LOOK.replace("echo from", "touch b.txt; echo from"));
    home.write("a.txt", "42");
    let park = ["--conversation", "c1"];
    let json = ["--allow", "Read", "--output-format", "json"];
    let ran = home.run_prompt("go", &[json.as_slice(), &park].concat());
    assert_eq!(ran.code, 3);
    let result: serde_json::Value = serde_json::from_str(&ran.out).unwrap();
    assert_eq!(result["subtype"], "error_during_execution");
    assert_eq!(result["terminal_reason"], "waiting_on_human");
    let question = result["questions"][0]["id"].to_string();
    let how = result["errors"][0].as_str().unwrap();
    assert!(
        how.contains("Allow Bash to run this command?")
            && how.contains("`windlass answer c1 1 ANSWER`: allow"),
        "{how}"
    );
    assert_eq!(ran.out.lines().count(), 1, "{}", ran.out);
    let answer = ["answer", "c1", &question, "allow", "--script", "a.script", "--allow", "Read"];
    let ran = home.run(&answer);
    assert_eq!((ran.code, ran.out.as_str()), (0, "The answer is 42.\n"), "{}", ran.err);
}

#[test]
fn truncated_text_is_continued_and_joined() {
    let home = TestHome::new(
        "when ask 1\n  say \"One, two, \"\n  stop max_tokens\n\
         when user contains \"truncated\"\n  say \"three.\"\n\
         when any\n  say \"One, two, \"\n  stop max_tokens\n",
    );
    let ran = home.run_prompt("count", &["--output-format", "json"]);
    let result: serde_json::Value = serde_json::from_str(&ran.out).unwrap();
    assert_eq!(result["result"], "One, two, three.", "{}", ran.out);
}

#[test]
fn the_round_cap_stops_with_its_own_subtype() {
    let home = TestHome::new("when any\n  call Read {\"file_path\": \"a.txt\"}\n");
    home.write("a.txt", "x");
    let ran = home
        .run_prompt("loop", &["--allow", "Read", "--max-turns", "3", "--output-format", "json"]);
    let result: serde_json::Value = serde_json::from_str(&ran.out).unwrap();
    assert_eq!(result["subtype"], "error_max_turns");
    assert_eq!(result["num_turns"], 4, "the prompt and a result each");
    assert!(result.get("result").is_none());
    assert_eq!(ran.code, 1);
}

#[test]
fn a_conversation_goes_on_where_it_was() {
    let home = TestHome::new("when ask 1\n  say \"first\"\nwhen any\n  say \"later\"\n");
    assert_eq!(home.run_prompt("one", &["--conversation", "c"]).out, "first\n");
    assert_eq!(home.run_prompt("two", &["--conversation", "c"]).out, "later\n");
}

#[test]
fn a_refusal_is_a_result_that_says_so() {
    let home = TestHome::new("when any\n  call Read {\"file_path\": \"a\"}\n  stop refusal\n");
    let ran = home.run_prompt("do it", &["--output-format", "json"]);
    let result: serde_json::Value = serde_json::from_str(&ran.out).unwrap();
    assert_eq!(result["result"], "I can't help with that request.");
    assert_eq!(result["refusal"], true);
    assert_eq!(ran.code, 0);
}

#[test]
fn an_unknown_stop_reason_finishes_with_the_text_and_a_flag() {
    let home = TestHome::new("when any\n  say \"so far\"\n  stop something_new\n");
    let ran = home.run_prompt("do it", &["--output-format", "json"]);
    let result: serde_json::Value = serde_json::from_str(&ran.out).unwrap();
    assert_eq!((&result["result"], &result["unexpected"]), (&"so far".into(), &true.into()));
    assert_eq!(result["subtype"], "success");
}

/// The provider's message is in the log, the event, the trace and the explanation, so that the
/// cause can be found.
// spec: STOP-16
#[test]
fn an_unknown_stop_reason_is_a_warning_with_its_value() {
    let home = TestHome::new("when any\n  say \"so far\"\n  stop something_new\n");
    let log = ["--log", "warn", "--log-format", "json", "--conversation", "c"];
    let ran = home.run_prompt("do it", &log);
    let lines = ran.err.lines().filter_map(|line| serde_json::from_str(line).ok());
    let mut lines = lines.filter(|line: &serde_json::Value| line["event"] == "agent.reply.anomaly");
    let logged = lines.next().unwrap();
    assert_eq!(logged["level"], "WARN", "{logged}");
    assert_eq!(logged["fields"]["value"], "something_new", "{logged}");
    let events = home.json(&["logs", "c"]);
    let event = events.iter().find(|event| event["name"] == "agent.reply.anomaly").unwrap();
    assert_eq!(event["fields"]["anomaly"], "unknown_stop_reason", "{event}");
    assert_eq!(event["fields"]["value"], "something_new", "{event}");
    let trace = home.json(&["trace", "c"]);
    assert_eq!(trace[0]["stop_reason"], "unexpected");
    assert_eq!(trace[0]["reply_stop_reason"], "something_new");
    let trace = home.run(&["trace", "c"]).out;
    assert!(trace.contains("stop reason was `something_new`"), "{trace}");
    for look in ["show", "explain"] {
        let ran = home.run(&[look, "c"]);
        assert!(ran.out.contains("`something_new`"), "{look}: {}", ran.out);
    }
    let stored = home.query(
        "SELECT t.stop_reason || ' ' || i.reply_stop_reason || ' ' || i.model FROM agent_loop_trace t
         JOIN agent_loop_iteration i ON i.trace_id = t.id",
    );
    assert_eq!(stored, ["unexpected something_new scripted"]);
}
