//! Provider responses are stored completely, even if they could not be parsed.

use serde_json::Value;

use crate::recording_server::RecordingServer;
use crate::test_home::TestHome;

const CUT: &str = "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"id\":\"msg_cut\",\"usage\":{}}}\n\n";
const STREAM: &str = "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"id\":\"msg_7\",\"usage\":{\"input_tokens\":9}}}\n\n\
event: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"text\",\"text\":\"\"}}\n\n\
event: ping\ndata: {\"type\":\"ping\"}\n\n\
event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\"Hi \\u001b[31mthere.\"}}\n\n\
event: content_block_stop\ndata: {\"type\":\"content_block_stop\",\"index\":0}\n\n\
event: message_delta\ndata: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"end_turn\"},\"usage\":{\"output_tokens\":3}}\n\n\
event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n";

fn new_home() -> TestHome {
    let home = TestHome::new("");
    std::fs::create_dir(home.path("home")).unwrap();
    home
}

fn with_fast_retries<'a>(more: &[&'a str]) -> Vec<&'a str> {
    let quick = ["--set", "model_retry_ms=1", "--set", "model_retry_most_ms=1"];
    [&["-p", "hi", "--store", "w.db", "--conversation", "c", "--model", "sonnet"], &quick[..], more]
        .concat()
}

// spec: TRACE-13
#[test]
fn every_answer_is_kept_as_it_came_and_can_be_read() {
    let leak = "{\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\",\"message\":\"busy\"},\"api_key\":\"hunter22hunter22\"}";
    let first = [
        ("529 Overloaded", leak),
        ("200 OK", "this is not a message"),
        ("200 OK", CUT),
        ("200 OK", STREAM),
    ];
    let (wire, home) = (RecordingServer::start_failing(&first), new_home());
    let ran = home.run_with_env(&with_fast_retries(&[]), &wire.keys());
    assert_eq!((ran.code, wire.recorded_requests().len()), (0, 4), "{}", ran.err);
    let rows = home.json(&["raw", "c"]);
    let kept = |row: &Value| row["answer"]["response"].as_str().unwrap_or_default().to_owned();
    let told: Vec<(Value, Value, bool)> = rows
        .iter()
        .map(|row| (row["iter"].clone(), row["attempt"].clone(), row["failed"].is_string()))
        .collect();
    let wanted = [(1, 1, true), (1, 2, true), (1, 3, true), (1, 4, false)];
    let wanted = wanted.map(|(iter, attempt, failed)| (iter.into(), attempt.into(), failed));
    assert_eq!(told, wanted, "{rows:?}");
    assert!(kept(&rows[0]).contains("\"overloaded_error\""), "{}", kept(&rows[0]));
    assert!(!kept(&rows[0]).contains("hunter22"), "secrets are not kept: {}", kept(&rows[0]));
    assert_eq!(kept(&rows[1]), "this is not a message");
    assert_eq!((kept(&rows[2]), kept(&rows[3])), (CUT.to_owned(), STREAM.to_owned()));
    // For people: the body, without control sequences.
    let ran = home.run(&["raw", "c", "--iter", "1"]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert!(
        ran.out.contains("iteration 1, attempt 2, ") && ran.out.contains("failed: "),
        "{}",
        ran.out
    );
    assert!(ran.out.contains("event: message_stop"), "{}", ran.out);
    // A run is named by its id, and a missing iteration is an error.
    let run = rows[0]["run"].as_str().unwrap().to_owned();
    assert_eq!(home.json(&["raw", &run]).len(), 4);
    let ran = home.run(&["raw", "c", "--iter", "2"]);
    assert_eq!(ran.code, 1, "{}", ran.err);
    assert!(ran.err.contains("no iteration 2: the run has 1 iteration"), "{}", ran.err);
    // The log itself has no raw responses.
    let store = rusqlite::Connection::open(home.path("w.db")).unwrap();
    let logged: i64 = store
        .query_row("SELECT count(*) FROM entry WHERE body LIKE '%msg_7%'", [], |row| row.get(0))
        .unwrap();
    assert_eq!(logged, 0);
}

/// A scripted model has no provider response to store.
#[test]
fn a_script_leaves_no_answer_to_read() {
    let home = TestHome::new("when any\n  say \"hi\"\n");
    home.run_prompt_unattended("go", &["--conversation", "c"]);
    let ran = home.run(&["raw", "c"]);
    assert_eq!(ran.code, 1, "{}", ran.err);
    assert!(ran.err.contains("no raw responses are stored"), "{}", ran.err);
}

/// What is missing is said: a response, an iteration, or what was stored of it.
#[test]
fn an_iteration_that_does_not_exist_is_not_one_that_was_deleted() {
    let home = TestHome::new("when any\n  say \"hi\"\n");
    home.run_prompt_unattended("go", &["--conversation", "c"]);
    for (iteration, sentence) in [
        ("0", "there is no iteration 0: the run has 1 iteration;"),
        ("1", "no raw responses of iteration 1 are stored"),
        ("9", "there is no iteration 9: the run has 1 iteration;"),
    ] {
        let ran = home.run(&["raw", "c", "--iter", iteration]);
        assert_eq!((ran.code, ran.err.contains(sentence)), (1, true), "{}", ran.err);
    }
    home.run_prompt_unattended("later", &["--conversation", "d", "--detach"]);
    let ran = home.run(&["raw", "d"]);
    assert!(ran.err.contains("the model has not answered in d yet"), "{}", ran.err);
}
