//! Whatever a server sends: a typed failure with advice, no secret in it, bounded memory, and never
//! a panic.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use windlass_core::log::input::{FailureClass, ModelFailure};
use windlass_core::message::reply::ModelReply;
use windlass_providers::catalog::provider_table::WireFormat;
use windlass_providers::{CallOptions, RemoteModel, ReplyDelivery};
use windlass_runtime::ports::Model;

use crate::adapter::{KEY, endpoint, prompt, remote, request, shared};
use crate::byte_server::{ByteServer, ServerAction, stream_head, streamed, whole};
use crate::format_scenarios::{FORMATS, cassette};
use crate::recording_stream::RecordingStream;

async fn ask(format: WireFormat, url: &str) -> Result<ModelReply, ModelFailure> {
    ask_with(format, url, CallOptions::default()).await
}

async fn ask_with(
    format: WireFormat,
    url: &str,
    options: CallOptions,
) -> Result<ModelReply, ModelFailure> {
    let model = remote(format, url, options);
    model.call(request(prompt("go")), RecordingStream::new()).await
}

async fn refused(format: WireFormat, status: &str, headers: &str, body: &str) -> ModelFailure {
    let (status, headers, body) = (status.to_owned(), headers.to_owned(), body.to_owned());
    let server = ByteServer::start(move |_, _| whole(&status, &headers, &body)).await;
    ask(format, &server.url).await.unwrap_err()
}

/// An error object in each format.
fn error_body(format: WireFormat, kind: &str, message: &str) -> String {
    match format {
        WireFormat::AnthropicMessages => {
            format!(r#"{{"type":"error","error":{{"type":"{kind}","message":"{message}"}}}}"#)
        }
        WireFormat::OpenAiChat | WireFormat::OpenAiResponses => {
            format!(r#"{{"error":{{"message":"{message}","type":"{kind}","code":null}}}}"#)
        }
    }
}

#[tokio::test]
async fn a_wrong_key_is_said_and_not_shown() {
    for format in FORMATS {
        let body = error_body(format, "authentication_error", &format!("invalid key {KEY} given"));
        let failure = refused(format, "401 Unauthorized", "", &body).await;
        assert_eq!(failure.class, FailureClass::Permanent);
        assert!(failure.message.contains("check the API key"), "{}", failure.message);
        assert!(failure.message.contains("invalid key [redacted] given"), "{}", failure.message);
    }
}

/// A key is redacted, wherever in a response a server sends it back.
#[tokio::test]
async fn a_key_that_comes_back_is_not_shown() {
    for format in FORMATS {
        let error = error_body(format, "overloaded_error", &format!("busy with {KEY}"));
        let page = format!("<!DOCTYPE html><title>Hello {KEY}</title>");
        let torn = format!("data: {{\"type\":\"{KEY}\n\n");
        let answers = [
            whole("500 No", "", &error),
            whole("500 No", "", KEY),
            whole("200 OK", "", &page),
            whole("200 OK", "content-type: application/json\r\n", &format!("{{\"{KEY}\"")),
            streamed(format!("event: error\ndata: {error}\n\n").as_bytes()),
            streamed(torn.as_bytes()),
        ];
        for answer in answers {
            let server = ByteServer::start(move |_, _| answer.clone()).await;
            let failure = ask(format, &server.url).await.unwrap_err();
            assert!(!failure.message.contains(KEY), "{format:?}: {}", failure.message);
        }
        let model = remote(format, "http://127.0.0.1:1", CallOptions::default());
        let output = format!("{model:?} {:?}", model.endpoint());
        assert!(output.contains("[redacted]") && !output.contains(KEY), "{output}");
    }
}

#[tokio::test]
async fn an_unknown_model_is_said() {
    for format in FORMATS {
        let body = error_body(format, "not_found_error", "model: test-model");
        let failure = refused(format, "404 Not Found", "", &body).await;
        assert_eq!(failure.class, FailureClass::Permanent);
        assert!(failure.message.contains("check the model's name"), "{}", failure.message);
    }
}

// spec: FAULT-30, FAULT-31
#[tokio::test]
async fn a_status_has_its_class_in_every_format() {
    let passing = [408, 409, 425, 429, 500, 502, 503, 504, 529];
    let lasting = [400, 401, 402, 403, 404, 405, 422];
    for format in FORMATS {
        for (statuses, class) in
            [(&passing[..], FailureClass::Transient), (&lasting[..], FailureClass::Permanent)]
        {
            for status in statuses {
                let body = error_body(format, "some_error", "no");
                let failure = refused(format, &format!("{status} No"), "", &body).await;
                assert_eq!(failure.class, class, "{format:?} {status}");
            }
        }
        let body = error_body(format, "invalid_request_error", "prompt is too long: 9 > 8 maximum");
        assert_eq!(refused(format, "400 No", "", &body).await.class, FailureClass::ContextTooLong);
        assert_eq!(refused(format, "413 No", "", "").await.class, FailureClass::ContextTooLong);
    }
    let failure = ask(WireFormat::OpenAiChat, "http://127.0.0.1:1").await.unwrap_err();
    assert_eq!(failure.class, FailureClass::ServerNotRunning);
}

#[tokio::test]
async fn a_spent_account_is_not_a_matter_of_waiting() {
    let body = r#"{"error":{"message":"You exceeded your quota","type":"insufficient_quota","code":"insufficient_quota"}}"#;
    let failure = refused(WireFormat::OpenAiChat, "429 Too Many Requests", "", body).await;
    assert_eq!(failure.class, FailureClass::Permanent);
}

// spec: FAULT-29
#[tokio::test]
async fn how_long_to_wait_is_passed_on_if_it_makes_sense() {
    let cases = [
        ("retry-after: 7\r\n", Some(7_000)),
        ("retry-after-ms: 250\r\nretry-after: 9\r\n", Some(250)),
        ("retry-after: Wed, 21 Oct 2015 07:28:00 GMT\r\n", Some(0)),
        ("retry-after: 1000000000\r\n", Some(1_000_000_000_000)),
        ("retry-after: -5\r\n", None),
        ("retry-after: soon\r\n", None),
        ("", None),
    ];
    for (header, wanted) in cases {
        let failure = refused(WireFormat::AnthropicMessages, "429 Slow", header, "{}").await;
        assert_eq!(failure.retry_after_ms, wanted, "{header}");
        assert_eq!(failure.class, FailureClass::Transient);
    }
}

#[tokio::test]
async fn a_refused_connection_says_what_to_do() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    drop(listener);
    let failure = ask(WireFormat::AnthropicMessages, &url).await.unwrap_err();
    assert_eq!(failure.class, FailureClass::ServerNotRunning);
    assert!(failure.message.contains("start the server, or"), "{}", failure.message);
}

#[tokio::test]
async fn a_server_that_does_not_encrypt_is_not_trusted() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("https://{}", listener.local_addr().unwrap());
    tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        stream.write_all(b"HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\n\r\n").await.unwrap();
        let _ = stream.read(&mut [0; 1_000]).await;
    });
    let failure = ask(WireFormat::AnthropicMessages, &url).await.unwrap_err();
    assert_eq!(failure.class, FailureClass::Permanent);
    assert!(failure.message.contains("TLS connection to"), "{}", failure.message);
}

#[test]
fn an_address_that_is_none_is_said_at_once() {
    let endpoint = endpoint(WireFormat::OpenAiChat, "localhost:8080");
    let failure = RemoteModel::new(endpoint, shared(), CallOptions::default()).unwrap_err();
    assert_eq!(failure.class, FailureClass::Permanent);
    assert!(failure.message.contains("write one like"), "{}", failure.message);
}

#[tokio::test]
async fn a_web_page_is_no_model() {
    let page = "<!DOCTYPE html><html><head><title>Sign in to Wi-Fi</title></head></html>";
    for format in FORMATS {
        for kind in ["content-type: text/html\r\n", "content-type: application/json\r\n", ""] {
            let failure = refused(format, "200 OK", kind, page).await;
            assert_eq!(failure.class, FailureClass::Permanent);
            assert!(failure.message.contains("Sign in to Wi-Fi"), "{}", failure.message);
        }
        let failure = refused(format, "502 Bad Gateway", "content-type: text/html\r\n", page).await;
        assert_eq!(failure.class, FailureClass::Transient);
        assert!(failure.message.contains("a web page"), "{}", failure.message);
    }
}

// spec: FAULT-47, FAULT-48
#[tokio::test]
async fn a_line_without_end_is_given_up() {
    let sent = Arc::new(AtomicUsize::new(0));
    for format in FORMATS {
        let written = Arc::clone(&sent);
        let server = ByteServer::start(move |_, _| {
            let mut acts = vec![stream_head(), ServerAction::Chunk(b"data: ".to_vec())];
            acts.extend((0..100).map(|_| ServerAction::Chunk(vec![b'x'; 1 << 20])));
            written.fetch_add(1, Ordering::SeqCst);
            acts
        })
        .await;
        let failure = ask(format, &server.url).await.unwrap_err();
        assert_eq!(failure.class, FailureClass::Permanent);
        assert!(failure.message.contains("an event exceeds"), "{}", failure.message);
    }
}

// spec: FAULT-48
#[tokio::test]
async fn a_body_without_end_is_given_up() {
    let server = ByteServer::start(move |_, _| {
        let head = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n";
        let mut acts = vec![ServerAction::Write(head.as_bytes().to_vec()), ServerAction::Chunk(b"{\"a\":\"".to_vec())];
        acts.extend((0..100).map(|_| ServerAction::Chunk(vec![b'x'; 1 << 20])));
        acts
    })
    .await;
    let failure = ask(WireFormat::OpenAiResponses, &server.url).await.unwrap_err();
    assert!(failure.message.contains("the reply exceeds"), "{}", failure.message);
}

// spec: FAULT-48
#[tokio::test]
async fn deep_json_instead_of_an_answer_is_a_failure() {
    let deep = "[".repeat(100_000);
    for format in FORMATS {
        let failure = refused(format, "200 OK", "content-type: application/json\r\n", &deep).await;
        assert_eq!(failure.class, FailureClass::Transient, "{}", failure.message);
        assert!(failure.message.ends_with("check that the base URL points to a model API"));
        refused(format, "500 No", "", &deep).await;
    }
}

#[tokio::test]
async fn a_line_that_drops_is_a_fault() {
    for format in FORMATS {
        let bytes = cassette(format, "calls");
        let half = bytes[..bytes.len() / 2].to_vec();
        let server = ByteServer::start(move |_, _| {
            vec![stream_head(), ServerAction::Chunk(half.clone()), ServerAction::Close]
        })
        .await;
        let failure = ask(format, &server.url).await.unwrap_err();
        assert_eq!(failure.class, FailureClass::StreamCut, "{}", failure.message);
    }
    let server = ByteServer::start(|_, _| vec![stream_head(), ServerAction::Close]).await;
    let failure = ask(WireFormat::AnthropicMessages, &server.url).await.unwrap_err();
    assert_eq!(failure.class, FailureClass::Transient);
}

#[tokio::test]
async fn an_answer_that_is_not_streamed_is_read_all_the_same() {
    let bodies = [
        (
            WireFormat::AnthropicMessages,
            r#"{"id":"m","type":"message","content":[{"type":"text","text":"Hi."}],"stop_reason":"end_turn","usage":{"input_tokens":3,"output_tokens":2}}"#,
        ),
        (
            WireFormat::OpenAiChat,
            r#"{"id":"c","choices":[{"index":0,"message":{"role":"assistant","content":"Hi."},"finish_reason":"stop"}],"usage":{"prompt_tokens":3,"completion_tokens":2}}"#,
        ),
        (
            WireFormat::OpenAiResponses,
            r#"{"id":"r","status":"completed","error":null,"output":[{"type":"message","content":[{"type":"output_text","text":"Hi."}]}],"usage":{"input_tokens":3,"output_tokens":2}}"#,
        ),
    ];
    for (format, body) in bodies {
        let server = ByteServer::start(move |_, _| {
            whole("200 OK", "content-type: application/json\r\n", body)
        })
        .await;
        for delivery in [ReplyDelivery::Streamed, ReplyDelivery::Whole] {
            let options = CallOptions { delivery, ..CallOptions::default() };
            let reply = ask_with(format, &server.url, options).await.unwrap();
            assert_eq!(
                (reply.text().as_str(), reply.usage.total_tokens()),
                ("Hi.", 5),
                "{format:?}"
            );
            let streams = server.asked().last().unwrap().body.contains("\"stream\":true");
            assert_eq!(streams, delivery == ReplyDelivery::Streamed);
        }
    }
}

#[tokio::test]
async fn a_call_the_server_closed_itself_is_not_run() {
    let body = r#"{"content":[{"type":"tool_use","id":"t","name":"Write","input":{"a":1}}],"stop_reason":"max_tokens"}"#;
    let server =
        ByteServer::start(move |_, _| whole("200 OK", "content-type: application/json\r\n", body))
            .await;
    let reply = ask(WireFormat::AnthropicMessages, &server.url).await.unwrap();
    assert!(reply.blocks.is_empty());
    assert_eq!(&*reply.truncated_block.unwrap().name, "Write");
}

#[tokio::test]
async fn nothing_but_pings_and_comments_is_no_reply() {
    let server = ByteServer::start(|_, _| {
        streamed(b": hello\n\nevent: ping\ndata: {\"type\":\"ping\"}\n\n")
    })
    .await;
    let failure = ask(WireFormat::AnthropicMessages, &server.url).await.unwrap_err();
    assert_eq!(failure.class, FailureClass::Transient);
}
