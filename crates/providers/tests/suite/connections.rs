//! A conversation keeps its connection, and many conversations do not wait for each other.

use std::sync::Arc;

use windlass_core::log::input::FailureClass;
use windlass_providers::catalog::provider_table::WireFormat;
use windlass_providers::{CallOptions, HttpClient, RemoteModel, SharedServices};
use windlass_runtime::SystemClock;
use windlass_runtime::ports::{Clock, Model};

use crate::adapter::{endpoint, prompt, push_round, remote, request, shared};
use crate::byte_server::{ByteServer, ServerAction, stream_head, streamed};
use crate::encrypted::encrypted;
use crate::format_scenarios::{FORMATS, cassette};
use crate::recording_stream::RecordingStream;

#[tokio::test]
async fn twenty_turns_use_one_connection() {
    for format in FORMATS {
        let bytes = cassette(format, "calls");
        let server = ByteServer::start(move |_, _| streamed(&bytes)).await;
        let model = remote(format, &server.url, CallOptions::default());
        let mut request = request(prompt("go"));
        for round in 0..20 {
            model.call(request.clone(), RecordingStream::new()).await.unwrap();
            push_round(&mut request.transcript, round);
        }
        assert_eq!((server.connections(), server.asked().len()), (1, 20), "{format:?}");
    }
}

#[tokio::test]
async fn a_refusal_keeps_the_connection_too() {
    let server = ByteServer::start(|_, _| crate::byte_server::whole("400 No", "", "{}")).await;
    let model = remote(WireFormat::OpenAiChat, &server.url, CallOptions::default());
    for _ in 0..3 {
        model.call(request(prompt("go")), RecordingStream::new()).await.unwrap_err();
    }
    assert_eq!(server.connections(), 1);
}

#[tokio::test]
async fn conversations_have_connections_of_their_own() {
    let bytes = cassette(WireFormat::AnthropicMessages, "calls");
    let server = ByteServer::start(move |_, _| {
        vec![
            stream_head(),
            ServerAction::Pause(30),
            ServerAction::Chunk(bytes.clone()),
            ServerAction::End,
        ]
    })
    .await;
    let model =
        Arc::new(remote(WireFormat::AnthropicMessages, &server.url, CallOptions::default()));
    let clock = SystemClock::start();
    let all = (0..100).map(|_| {
        let model = Arc::clone(&model);
        tokio::spawn(async move {
            let mut request = request(prompt("go"));
            for round in 0..5 {
                model.call(request.clone(), RecordingStream::new()).await.unwrap();
                push_round(&mut request.transcript, round);
            }
        })
    });
    for conversation in all.collect::<Vec<_>>() {
        conversation.await.unwrap();
    }
    assert!(server.connections() <= 100, "{}", server.connections());
    assert!(clock.monotonic_ms() < 5_000, "they did not wait for each other");
}

#[tokio::test]
async fn a_connection_that_died_while_it_waited_is_replaced() {
    let bytes = cassette(WireFormat::AnthropicMessages, "text");
    let server = ByteServer::start(move |_, _| {
        let mut acts = streamed(&bytes);
        acts.push(ServerAction::Close);
        acts
    })
    .await;
    let model = remote(WireFormat::AnthropicMessages, &server.url, CallOptions::default());
    for _ in 0..5 {
        model.call(request(prompt("go")), RecordingStream::new()).await.unwrap();
    }
    assert_eq!(server.connections(), 5);
}

#[tokio::test]
async fn an_encrypted_connection_works_and_is_kept() {
    let bytes = cassette(WireFormat::AnthropicMessages, "calls");
    let server = ByteServer::start(move |_, _| streamed(&bytes)).await;
    let (url, certificate) = encrypted(&server.url, "localhost").await;
    let clock: Arc<dyn Clock> = Arc::new(SystemClock::start());
    let client = Arc::new(HttpClient::new(Arc::clone(&clock)).with_extra_roots(vec![certificate]));
    let shared = SharedServices { client, ..SharedServices::new(clock) };
    let endpoint = endpoint(WireFormat::AnthropicMessages, &url);
    let model = RemoteModel::new(endpoint, shared.clone(), CallOptions::default()).unwrap();
    for _ in 0..5 {
        model.call(request(prompt("go")), RecordingStream::new()).await.unwrap();
    }
    assert_eq!((server.connections(), shared.client.connection_stats().opened), (1, 1));
}

#[tokio::test]
async fn a_certificate_nobody_vouches_for_is_refused() {
    let server = ByteServer::start(|_, _| Vec::new()).await;
    let (url, _) = encrypted(&server.url, "localhost").await;
    let model =
        RemoteModel::new(endpoint(WireFormat::OpenAiChat, &url), shared(), CallOptions::default())
            .unwrap();
    let failure = model.call(request(prompt("go")), RecordingStream::new()).await.unwrap_err();
    assert_eq!(failure.class, FailureClass::Permanent);
    assert!(failure.message.contains("certificate"), "{}", failure.message);
    assert_eq!(server.asked().len(), 0);
}
