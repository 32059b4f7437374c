//! Faults that the script causes, in every format.

use std::time::Duration;

use serde_json::{Value, json};
use tokio::time::timeout;
use windlass_scripted::server::ServedOutcome;

use crate::client::ResponseEnd;
use crate::events::{events, named};
use crate::test_server::TestServer;

const SCRIPT: &str = r#"
when user is "busy"
  fail 529 retry-after 2 "come back later"

when user is "limited"
  fail 429 retry-after "Wed, 21 Oct 2026 07:28:00 GMT"

when user is "late"
  say "some words before"
  fail 500 "it broke"

when user is "cut"
  say "one two"
  cut

when user is "cut at once"
  cut

when user is "cut inside"
  say "one two three four"
  cut inside

when user is "cut call"
  call Write as t {"content": "abcdefghijklmnopqrstuvwxyz"}
  cut inside

when user is "silence"
  fail timeout

when user is "stall"
  say "so far"
  fail timeout

when user is "closed"
  fail connect

when user is "slow"
  delay 50ms
  pace 20ms
  say "a b c d"
"#;

/// A path and the request for it.
type Asking = (&'static str, Value);

fn ask(text: &str, stream: bool) -> [Asking; 3] {
    let messages = json!([{"role": "user", "content": text}]);
    [
        (
            "/v1/messages",
            json!({"model": "m", "max_tokens": 9, "stream": stream, "messages": messages}),
        ),
        ("/v1/chat/completions", json!({"model": "m", "stream": stream, "messages": messages})),
        ("/v1/responses", json!({"model": "m", "stream": stream, "input": messages})),
    ]
}

#[tokio::test]
async fn a_refused_request_has_its_status_and_its_error() {
    let server = TestServer::new(SCRIPT).await;
    for stream in [false, true] {
        for (path, request) in ask("busy", stream) {
            let response = server.post(path, &request).await;
            assert_eq!(
                (response.status, response.header("retry-after")),
                (529, Some("2")),
                "{path}"
            );
            let error = response.json();
            assert_eq!(error["error"]["message"], "come back later", "{path}");
            let kind = if path == "/v1/messages" { "overloaded_error" } else { "server_error" };
            assert_eq!(error["error"]["type"], kind);
        }
        for (path, request) in ask("limited", stream) {
            let response = server.post(path, &request).await;
            let date = Some("Wed, 21 Oct 2026 07:28:00 GMT");
            assert_eq!((response.status, response.header("retry-after")), (429, date), "{path}");
            assert_eq!(response.json()["error"]["type"], "rate_limit_error");
        }
    }
}

#[tokio::test]
async fn an_error_after_a_block_comes_inside_the_stream() {
    let server = TestServer::new(SCRIPT).await;
    for (path, request) in ask("late", true) {
        let response = server.post(path, &request).await;
        assert_eq!((response.status, response.end), (200, ResponseEnd::Complete), "{path}");
        let events = events(&response.body);
        let error = match path {
            "/v1/messages" => named(&events, "error")[0]["error"]["message"].clone(),
            "/v1/responses" => named(&events, "error")[0]["message"].clone(),
            _ => events.last().unwrap().1["error"]["message"].clone(),
        };
        assert_eq!(error, "it broke", "{path}");
    }
    let served = server.served(3).await;
    assert!(served.iter().all(|served| served.outcome == ServedOutcome::Failed { status: 500 }));
    for (path, request) in ask("late", false) {
        let response = server.post(path, &request).await;
        assert_eq!(
            (response.status, &response.json()["error"]["message"]),
            (500, &json!("it broke")),
            "{path}"
        );
    }
}

#[tokio::test]
async fn a_cut_drops_the_connection_after_what_was_said() {
    let server = TestServer::new(SCRIPT).await;
    for (path, request) in ask("cut", true) {
        let response = server.post(path, &request).await;
        assert_eq!((response.status, response.end), (200, ResponseEnd::Broken), "{path}");
        assert!(response.body.contains("two"), "{}", response.body);
        assert!(!response.body.contains("[DONE]") && !response.body.contains("message_stop"));
    }
    let (path, request) = &ask("cut", true)[0];
    let whole = events(&server.post(path, request).await.body);
    assert_eq!(whole.last().unwrap().0, "content_block_stop");
    let served = server.served(4).await;
    assert!(served.iter().all(|served| served.outcome == ServedOutcome::Cut));
}

#[tokio::test]
async fn a_cut_inside_leaves_half_a_block() {
    let server = TestServer::new(SCRIPT).await;
    for (path, request) in ask("cut inside", true) {
        let response = server.post(path, &request).await;
        assert_eq!(response.end, ResponseEnd::Broken, "{path}");
        assert!(
            response.body.contains("two") && !response.body.contains("four"),
            "{}",
            response.body
        );
    }
    let (path, request) = &ask("cut call", true)[0];
    let events = events(&server.post(path, request).await.body);
    assert!(named(&events, "content_block_stop").is_empty());
    let deltas = named(&events, "content_block_delta").into_iter();
    let partial: String =
        deltas.filter_map(|delta| delta["delta"]["partial_json"].as_str()).collect();
    assert_eq!(partial, r#"{"content": "abcdefg"#);
}

#[tokio::test]
async fn a_cut_at_once_is_a_stream_that_says_nothing() {
    let server = TestServer::new(SCRIPT).await;
    for (path, request) in ask("cut at once", true) {
        let response = server.post(path, &request).await;
        assert_eq!((response.status, response.end), (200, ResponseEnd::Broken), "{path}");
    }
}

#[tokio::test]
async fn a_cut_document_is_half_a_document() {
    let server = TestServer::new(SCRIPT).await;
    for (path, request) in ask("cut", false) {
        let response = server.post(path, &request).await;
        assert_eq!((response.status, response.end), (200, ResponseEnd::Broken), "{path}");
        let promised: usize = response.header("content-length").unwrap().parse().unwrap();
        assert!(!response.body.is_empty() && response.body.len() < promised);
    }
}

#[tokio::test]
async fn a_connection_that_cannot_be_made_closes_without_a_word() {
    let server = TestServer::new(SCRIPT).await;
    for (path, request) in ask("closed", true) {
        assert!(server.try_post(path, &request).await.is_none(), "{path}");
    }
    let served = server.served(3).await;
    assert!(served.iter().all(|served| served.outcome == ServedOutcome::Closed));
}

#[tokio::test]
async fn a_timeout_is_silence_until_the_client_leaves() {
    let server = TestServer::new(SCRIPT).await;
    for text in ["silence", "stall"] {
        for (path, request) in ask(text, true) {
            let mut connection = server.connect().await;
            let request = request.to_string();
            let answer = connection.post(path, &request);
            let answer = timeout(Duration::from_millis(150), answer).await.ok();
            assert!(answer.is_none(), "{path} {text}");
        }
    }
    let served = server.served(6).await;
    assert!(served.iter().all(|served| served.outcome == ServedOutcome::ClientLeft), "{served:?}");
}

#[tokio::test]
async fn delay_and_pace_take_their_time() {
    let server = TestServer::new(SCRIPT).await;
    for stream in [true, false] {
        for (path, request) in ask("slow", stream) {
            let response = server.post(path, &request).await;
            assert_eq!((response.status, response.end), (200, ResponseEnd::Complete), "{path}");
        }
    }
    let served = server.served(6).await;
    assert!(served.iter().all(|served| served.took_ms >= 50 + 3 * 20), "{served:?}");
}

#[tokio::test]
async fn a_rule_once_used_steps_aside_for_all_connections() {
    let server = TestServer::new("when any\n  once\n  fail 529\nwhen any\n  say \"fine\"").await;
    let (path, request) = &ask("x", false)[0];
    assert_eq!(server.post(path, request).await.status, 529);
    assert_eq!(server.post(path, request).await.status, 200);
}
