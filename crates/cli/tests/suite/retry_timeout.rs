//! An unreachable model: the client that waits for the answer gives up in time, and the run stays
//! resumable.

use std::net::TcpListener;

use serde_json::Value;

use crate::scripted::ScriptedServer;
use crate::test_home::TestHome;

const HELLO: &str = "when any\n  say \"hello\"\n";

/// A port on which nothing listens.
fn free_port() -> u16 {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

#[test]
fn a_server_that_is_not_there_is_told_in_seconds_and_the_run_goes_on_once_it_is() {
    let home = TestHome::new(HELLO);
    let port = free_port();
    let address = format!("http://127.0.0.1:{port}/v1");
    let variables = [("OLLAMA_BASE_URL", address.as_str())];
    let store = ["--store", "w.db"];
    let quick = ["--set", "local_wait_ms=400", "--set", "model_retry_ms=100"];
    let begin = ["-p", "hi", "--model", "ollama:llama3", "--conversation", "c"];
    let ran = home.run_with_env(&[&begin[..], &quick, &store].concat(), &variables);
    assert_eq!((ran.code, ran.out.as_str()), (1, ""), "{}", ran.err);
    let last = ran.err.lines().last().unwrap();
    for part in [
        format!("nothing is listening on 127.0.0.1:{port}; start the server, or"),
        "`windlass resume c`".to_owned(),
        "local_wait_ms".to_owned(),
    ] {
        assert!(last.contains(&part), "{}", ran.err);
    }
    assert!(ran.err.contains(", giving up in "), "{}", ran.err);
    // A program gets the same message, once.
    let json = ["resume", "c", "--model", "ollama:llama3", "--output-format", "json"];
    let ran = home.run_with_env(&[&json[..], &quick, &store].concat(), &variables);
    let result: Value = serde_json::from_str(&ran.out).unwrap();
    assert_eq!((ran.code, &result["is_error"]), (1, &true.into()), "{result}");
    assert_eq!(result["terminal_reason"], "waiting_on_provider", "{result}");

    let server = ScriptedServer::start(&home, &["--port", &port.to_string()]);
    let resume = ["resume", "c", "--model", "ollama:llama3"];
    let ran = home.run_with_env(&[&resume[..], &store].concat(), &variables);
    assert_eq!((ran.code, ran.out.trim()), (0, "hello"), "{} at {}", ran.err, server.address);
}

#[test]
fn a_busy_provider_is_waited_for_until_the_named_limit() {
    let home = TestHome::new("when any\n  fail 529\n");
    let quick = ["--set", "answer_wait_ms=300", "--set", "model_retry_ms=100"];
    let ran = home.run_prompt_unattended("hi", &[&quick[..], &["--conversation", "c"]].concat());
    assert_eq!(ran.code, 1, "{}", ran.err);
    let last = ran.err.lines().last().unwrap();
    assert!(last.contains("continue with `windlass resume c`"), "{}", ran.err);
    assert!(last.contains("to wait longer than 300 ms: --set answer_wait_ms=…"), "{}", ran.err);
    // The run has not ended.
    let runs = home.json(&["runs"]);
    assert_eq!(runs.len(), 1);
    assert_ne!(runs[0]["state"], "failed", "{}", runs[0]);
    assert_eq!(runs[0]["driven"], false, "{}", runs[0]);
    let ran = home.run(&["runs"]);
    assert!(
        ran.out.contains("interrupted") && ran.err.contains("windlass resume"),
        "{} {}",
        ran.out,
        ran.err
    );
}
