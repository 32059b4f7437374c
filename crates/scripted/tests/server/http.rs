//! HTTP itself: persistent connections, limits, unusual requests, stopping.

use serde_json::json;
use windlass_scripted::server::limits::{MAX_BODY_BYTES, MAX_CONNECTIONS, MAX_HEAD_BYTES};
use windlass_scripted::server::{ScriptedServer, ServedOutcome, ServerError};

use crate::client::ResponseEnd;
use crate::test_server::TestServer;

const HELLO: &str = "when user is \"cut\"\n  cut\nwhen any\n  say \"hello\"\n";
const PATH: &str = "/v1/chat/completions";

fn ask(stream: bool) -> String {
    let messages = json!([{"role": "user", "content": "hi"}]);
    json!({"model": "m", "stream": stream, "messages": messages}).to_string()
}

#[tokio::test]
async fn a_connection_is_kept() {
    let server = TestServer::new(HELLO).await;
    let mut connection = server.connect().await;
    for _ in 0..20 {
        let response = connection.post(PATH, &ask(true)).await.unwrap();
        assert_eq!((response.status, response.end), (200, ResponseEnd::Complete));
        let response = connection.post(PATH, &ask(false)).await.unwrap();
        assert!(response.body.contains("hello"));
        assert_eq!(connection.post(PATH, "{").await.unwrap().status, 400);
    }
}

#[tokio::test]
async fn a_body_may_come_in_chunks() {
    let server = TestServer::new(HELLO).await;
    let mut connection = server.connect().await;
    let head =
        format!("POST {PATH} HTTP/1.1\r\nhost: 127.0.0.1\r\ntransfer-encoding: chunked\r\n\r\n");
    connection.send(head.as_bytes()).await;
    for byte in ask(false).bytes() {
        connection.send(&[b'1', b'\r', b'\n', byte, b'\r', b'\n']).await;
    }
    connection.send(b"0\r\n\r\n").await;
    assert_eq!(connection.response().await.unwrap().status, 200);
}

#[tokio::test]
async fn models_are_listed_for_both_services() {
    let server = TestServer::new(HELLO).await;
    let mut connection = server.connect().await;
    let openai = connection.get("/v1/models", "").await.unwrap().json();
    assert_eq!(
        (&openai["object"], &openai["data"][0]["object"]),
        (&json!("list"), &json!("model"))
    );
    let version = "anthropic-version: 2023-06-01\r\n";
    let anthropic = connection.get("/v1/models", version).await.unwrap().json();
    assert_eq!(
        (&anthropic["has_more"], &anthropic["data"][0]["type"]),
        (&json!(false), &json!("model"))
    );
    let one = connection.get("/v1/models/claude-x", version).await.unwrap().json();
    assert_eq!(one["id"], "claude-x");
}

#[tokio::test]
async fn unknown_paths_and_methods_are_refused_in_the_format_of_the_path() {
    let server = TestServer::new(HELLO).await;
    let mut connection = server.connect().await;
    let lost = connection.get("/v2/nothing?key=secret", "").await.unwrap();
    assert_eq!((lost.status, &lost.json()["error"]["code"]), (404, &json!("not_found")));
    let wrong = connection.get("/v1/messages", "").await.unwrap();
    assert_eq!((wrong.status, &wrong.json()["type"]), (405, &json!("error")));
    let served = server.served(2).await;
    assert_eq!((served[0].method.as_str(), served[0].path.as_str()), ("GET", "/v2/nothing"));
    assert!(matches!(served[1].outcome, ServedOutcome::Answered { status: 405, .. }));
}

#[tokio::test]
async fn a_body_over_its_bound_is_refused_and_the_connection_lives() {
    let server = TestServer::new(HELLO).await;
    let mut connection = server.connect().await;
    let long = "x".repeat(MAX_BODY_BYTES + 1);
    let response = connection.post("/v1/messages", &long).await.unwrap();
    assert_eq!(response.status, 413);
    assert_eq!(response.json()["error"]["type"], "request_too_large");
    assert_eq!(connection.post(PATH, &ask(false)).await.unwrap().status, 200);
}

#[tokio::test]
async fn a_body_at_its_bound_is_read() {
    let server = TestServer::new(HELLO).await;
    let bare = json!({"model": "m", "messages": [{"role": "user", "content": ""}]}).to_string();
    let content = "x".repeat(MAX_BODY_BYTES - bare.len());
    let request = json!({"model": "m", "messages": [{"role": "user", "content": content}]});
    assert_eq!(server.post(PATH, &request).await.status, 200);
}

#[tokio::test]
async fn a_head_over_its_bound_is_refused() {
    let server = TestServer::new(HELLO).await;
    let mut connection = server.connect().await;
    let header = format!("x-long: {}\r\n", "y".repeat(4 * MAX_HEAD_BYTES));
    let response = connection.get("/v1/models", &header).await;
    assert!(response.is_none_or(|response| response.status == 431));
}

#[tokio::test]
async fn json_as_deep_as_one_likes_is_no_danger() {
    let server = TestServer::new(HELLO).await;
    let mut connection = server.connect().await;
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    for body in [deep.clone(), format!(r#"{{"model":"m","max_tokens":1,"messages":{deep}}}"#)] {
        for path in ["/v1/messages", PATH, "/v1/responses"] {
            assert_eq!(connection.post(path, &body).await.unwrap().status, 400, "{path}");
        }
    }
}

#[tokio::test]
async fn bytes_that_are_no_text_are_refused() {
    let server = TestServer::new(HELLO).await;
    let mut connection = server.connect().await;
    connection
        .send(b"POST /v1/messages HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-length: 2\r\n\r\n\xff\xfe")
        .await;
    assert_eq!(connection.response().await.unwrap().status, 400);
}

#[tokio::test]
async fn a_client_that_leaves_in_its_body_is_noticed() {
    let server = TestServer::new(HELLO).await;
    let mut connection = server.connect().await;
    connection
        .send(b"POST /v1/messages HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-length: 9\r\n\r\n{")
        .await;
    drop(connection);
    assert_eq!(server.served(1).await[0].outcome, ServedOutcome::ClientLeft);
}

#[tokio::test]
async fn stopping_is_clean_with_connections_open() {
    let server = TestServer::new("when any\n  say \"a\"\n  fail timeout\n").await;
    let address = server.address;
    let idle = server.connect().await;
    let mut busy = server.connect().await;
    let body = ask(true);
    let head = format!(
        "POST {PATH} HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    );
    busy.send(head.as_bytes()).await;
    server.stop().await;
    assert!(tokio::net::TcpStream::connect(address).await.is_err());
    drop((idle, busy));
}

#[tokio::test]
async fn other_machines_are_kept_out() {
    for address in ["0.0.0.0:0", "192.0.2.1:0", "[::]:0"] {
        let refused = ScriptedServer::bind(address.parse().unwrap()).await.unwrap_err();
        assert!(matches!(refused, ServerError::NotLoopback { .. }), "{refused}");
    }
}

#[tokio::test]
async fn a_port_that_is_taken_is_named() {
    let server = TestServer::new(HELLO).await;
    let refused = ScriptedServer::bind(server.address).await.unwrap_err();
    assert!(refused.to_string().contains(&server.address.to_string()), "{refused}");
}

/// A web page in a browser must not be able to use the server, under whatever name it reaches it.
#[tokio::test]
async fn requests_of_other_machines_pages_are_refused() {
    let server = TestServer::new(HELLO).await;
    let body = ask(false);
    let status = async |headers: &str| {
        let mut connection = server.connect().await;
        let length = body.len();
        let head =
            format!("POST {PATH} HTTP/1.1\r\n{headers}content-length: {length}\r\n\r\n{body}");
        connection.send(head.as_bytes()).await;
        connection.response().await.unwrap().status
    };
    for fine in [
        "host: localhost\r\n",
        "host: 127.0.0.1:4000\r\n",
        "host: [::1]:4000\r\n",
        "host: LOCALHOST:1\r\norigin: http://localhost:3000\r\n",
    ] {
        assert_eq!(status(fine).await, 200, "{fine}");
    }
    for bad in [
        "host: evil.example\r\n",
        "host: 127.0.0.1.evil.example\r\n",
        "host: localhost.evil.example:80\r\n",
        "host: 127.0.0.1\r\norigin: https://evil.example\r\n",
        "host: 127.0.0.1\r\norigin: null\r\n",
    ] {
        assert_eq!(status(bad).await, 403, "{bad}");
    }
}

/// Connections that send nothing, or half of a head, do not keep others out.
#[tokio::test]
async fn half_open_connections_make_room() {
    let server = TestServer::new(HELLO).await;
    let mut silent = Vec::new();
    for number in 0..MAX_CONNECTIONS + 50 {
        let mut connection = server.connect().await;
        if number % 2 == 0 {
            connection.send(b"POST /v1/messages HTTP/1.1\r\nhost: 127").await;
        }
        silent.push(connection);
    }
    let mut connection = server.connect().await;
    let body = ask(false);
    let asked = connection.post(PATH, &body);
    let answered = tokio::time::timeout(std::time::Duration::from_secs(20), asked).await;
    assert_eq!(answered.expect("it is kept out").unwrap().status, 200);
}
