//! Deadlines, and waiting for the rate limiter.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use windlass_core::log::input::FailureClass;
use windlass_providers::catalog::provider_table::WireFormat;
use windlass_providers::{CallDeadlines, CallOptions, RemoteModel};
use windlass_runtime::ports::Model;

use crate::adapter::{endpoint, prompt, remote, request, shared};
use crate::byte_server::{ByteServer, ServerAction, pause, stream_head, streamed, whole};
use crate::format_scenarios::{FORMATS, cassette};
use crate::recording_stream::RecordingStream;

fn hasty(idle_ms: u64, total_ms: u64) -> CallOptions {
    let deadlines = CallDeadlines { connect_ms: 1_000, idle_ms, total_ms };
    CallOptions { deadlines, ..CallOptions::default() }
}

const PING: &[u8] = b"event: ping\ndata: {\"type\": \"ping\"}\n\n: comment\n\n";

// spec: FAULT-32
#[tokio::test]
async fn pings_do_not_keep_a_silent_stream_alive() {
    for format in FORMATS {
        let text = String::from_utf8(cassette(format, "text")).unwrap();
        let begun: String = text.split_inclusive("\n\n").take(3).collect();
        let server = ByteServer::start(move |_, _| {
            let mut acts = vec![stream_head(), ServerAction::Chunk(begun.clone().into_bytes())];
            let ping = if format == WireFormat::AnthropicMessages { PING } else { b": ping\n\n" };
            acts.extend(
                (0..200)
                    .flat_map(|_| [ServerAction::Chunk(ping.to_vec()), ServerAction::Pause(10)]),
            );
            acts
        })
        .await;
        let model = remote(format, &server.url, hasty(150, 60_000));
        let failure = model.call(request(prompt("go")), RecordingStream::new()).await.unwrap_err();
        assert_eq!(failure.class, FailureClass::StreamCut);
        assert!(failure.message.contains("no data received for 150 ms"), "{}", failure.message);
    }
}

/// Bytes that never complete an event do not reset the idle timeout.
// spec: FAULT-32
#[tokio::test]
async fn a_stream_of_single_bytes_is_silent() {
    for format in FORMATS {
        let bytes = cassette(format, "text");
        let server = ByteServer::start(move |_, _| {
            let drip = bytes
                .iter()
                .flat_map(|byte| [ServerAction::Chunk(vec![*byte]), ServerAction::Pause(20)]);
            std::iter::once(stream_head()).chain(drip).collect()
        })
        .await;
        let model = remote(format, &server.url, hasty(150, 60_000));
        let failure = model.call(request(prompt("go")), RecordingStream::new()).await.unwrap_err();
        assert_eq!(failure.class, FailureClass::Transient, "{}", failure.message);
        assert!(failure.message.contains("no data received for 150 ms"), "{}", failure.message);
    }
}

/// A server that accepts the connection and never sends a TLS message.
// spec: FAULT-32
#[tokio::test]
async fn a_connection_that_does_not_come_about_ends_at_its_deadline() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("https://{}", listener.local_addr().unwrap());
    let deadlines = CallDeadlines { connect_ms: 150, idle_ms: 60_000, total_ms: 60_000 };
    let options = CallOptions { deadlines, ..CallOptions::default() };
    let model = remote(WireFormat::AnthropicMessages, &url, options);
    let failure = model.call(request(prompt("go")), RecordingStream::new()).await.unwrap_err();
    assert_eq!(failure.class, FailureClass::Transient);
    assert!(
        failure.message.contains("connecting took longer than 150 ms; check"),
        "{}",
        failure.message
    );
}

// spec: FAULT-32
#[tokio::test]
async fn a_reply_that_drips_ends_at_the_total_deadline() {
    let text = String::from_utf8(cassette(WireFormat::AnthropicMessages, "text")).unwrap();
    let begun: String = text.split_inclusive("\n\n").take(3).collect();
    let chunk = "data: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\".\"}}\n\n";
    let server = ByteServer::start(move |_, _| {
        let mut acts = vec![stream_head(), ServerAction::Chunk(begun.clone().into_bytes())];
        let drip = [ServerAction::Chunk(chunk.as_bytes().to_vec()), ServerAction::Pause(10)];
        acts.extend((0..300).flat_map(|_| drip.clone()));
        acts
    })
    .await;
    let model = remote(WireFormat::AnthropicMessages, &server.url, hasty(5_000, 300));
    let failure = model.call(request(prompt("go")), RecordingStream::new()).await.unwrap_err();
    assert_eq!(failure.class, FailureClass::StreamCut);
    assert!(failure.message.contains("its time limit of 300 ms"), "{}", failure.message);
}

#[tokio::test]
async fn a_server_that_never_answers_is_given_up() {
    let server = ByteServer::start(|_, _| vec![ServerAction::Pause(10_000)]).await;
    let model = remote(WireFormat::OpenAiChat, &server.url, hasty(100, 60_000));
    let failure = model.call(request(prompt("go")), RecordingStream::new()).await.unwrap_err();
    assert_eq!(failure.class, FailureClass::Transient);
}

// spec: MODELS-02
#[tokio::test]
async fn a_call_that_is_dropped_is_over() {
    let server = ByteServer::start(|_, _| vec![stream_head(), ServerAction::Pause(10_000)]).await;
    let shared = shared();
    let endpoint = endpoint(WireFormat::AnthropicMessages, &server.url);
    let model =
        Arc::new(RemoteModel::new(endpoint, shared.clone(), CallOptions::default()).unwrap());
    let asking = tokio::spawn({
        let model = Arc::clone(&model);
        async move { model.call(request(prompt("go")), RecordingStream::new()).await }
    });
    while shared.limiter.snapshot()[0].in_flight == 0 {
        pause(1).await;
    }
    asking.abort();
    let _ = asking.await;
    let gate = &shared.limiter.snapshot()[0];
    assert_eq!((gate.in_flight, gate.waiting), (0, 0));
    assert_eq!(shared.client.connection_stats().idle, 0);
}

#[tokio::test]
async fn calls_wait_in_line_after_a_refusal_instead_of_failing() {
    let bytes = cassette(WireFormat::AnthropicMessages, "text");
    let server = ByteServer::start(move |number, _| {
        if number == 1 {
            whole("429 Slow", "retry-after-ms: 300\r\n", "{}")
        } else {
            streamed(&bytes)
        }
    })
    .await;
    let shared = shared();
    let endpoint = endpoint(WireFormat::AnthropicMessages, &server.url);
    let model =
        Arc::new(RemoteModel::new(endpoint, shared.clone(), CallOptions::default()).unwrap());
    let first = model.call(request(prompt("go")), RecordingStream::new()).await.unwrap_err();
    assert_eq!(first.retry_after_ms, Some(300));
    let gate = &shared.limiter.snapshot()[0];
    assert!(gate.closed_for_ms > 100, "{gate:?}");
    assert_eq!(gate.max_in_flight, Some(1));
    let before = shared.clock.monotonic_ms();
    let all = (0..20).map(|_| {
        let model = Arc::clone(&model);
        tokio::spawn(async move { model.call(request(prompt("go")), RecordingStream::new()).await })
    });
    for asking in all.collect::<Vec<_>>() {
        asking.await.unwrap().unwrap();
    }
    assert!(shared.clock.monotonic_ms() - before >= 200);
    assert_eq!(server.asked().len(), 21);
    let gate = &shared.limiter.snapshot()[0];
    assert!(gate.max_in_flight > Some(1), "it recovers: {gate:?}");
}

#[tokio::test]
async fn a_long_wait_is_told_to_the_run_instead_of_waited() {
    let server = ByteServer::start(|_, _| whole("429 Slow", "retry-after: 600\r\n", "{}")).await;
    let model = remote(WireFormat::OpenAiChat, &server.url, CallOptions::default());
    for _ in 0..2 {
        let failure = model.call(request(prompt("go")), RecordingStream::new()).await.unwrap_err();
        assert_eq!(failure.class, FailureClass::Transient);
        assert!(failure.retry_after_ms > Some(590_000), "{failure:?}");
    }
    assert_eq!(server.asked().len(), 1, "the second did not even ask");
}

#[tokio::test]
async fn headers_that_say_nothing_is_left_are_heeded() {
    let under_way = Arc::new(AtomicUsize::new(0));
    let bytes = cassette(WireFormat::OpenAiChat, "text");
    let body = String::from_utf8(bytes).unwrap();
    let server = ByteServer::start({
        let under_way = Arc::clone(&under_way);
        move |_, _| {
            under_way.fetch_add(1, Ordering::SeqCst);
            let headers = "content-type: text/event-stream\r\nx-ratelimit-remaining-requests: 0\r\n\
                           x-ratelimit-reset-requests: 250ms\r\n";
            whole("200 OK", headers, &body)
        }
    })
    .await;
    let shared = shared();
    let endpoint = endpoint(WireFormat::OpenAiChat, &server.url);
    let model = RemoteModel::new(endpoint, shared.clone(), CallOptions::default()).unwrap();
    model.call(request(prompt("go")), RecordingStream::new()).await.unwrap();
    assert_eq!(shared.limiter.snapshot()[0].requests_remaining, Some(0));
    let before = shared.clock.monotonic_ms();
    model.call(request(prompt("go")), RecordingStream::new()).await.unwrap();
    assert!(shared.clock.monotonic_ms() - before >= 150);
}
