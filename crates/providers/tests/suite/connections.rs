//! A conversation keeps its connection, and many conversations do not wait for each other.

use std::sync::Arc;

use windlass_core::input::FailureClass;
use windlass_providers::names::Format;
use windlass_providers::{Client, Options, Remote, Shared};
use windlass_runtime::SystemClock;
use windlass_runtime::ports::{Clock, Model};

use crate::adapter::{endpoint, prompt, push_round, remote, request, shared};
use crate::encrypted::encrypted;
use crate::heard::Heard;
use crate::scenarios::{FORMATS, cassette};
use crate::server::{Act, Server, stream_head, streamed};

#[tokio::test]
async fn twenty_turns_use_one_connection() {
    for format in FORMATS {
        let bytes = cassette(format, "calls");
        let server = Server::start(move |_, _| streamed(&bytes)).await;
        let model = remote(format, &server.url, Options::default());
        let mut request = request(prompt("go"));
        for round in 0..20 {
            model.ask(request.clone(), Heard::new()).await.unwrap();
            push_round(&mut request.transcript, round);
        }
        assert_eq!((server.connections(), server.asked().len()), (1, 20), "{format:?}");
    }
}

#[tokio::test]
async fn a_refusal_keeps_the_connection_too() {
    let server = Server::start(|_, _| crate::server::whole("400 No", "", "{}")).await;
    let model = remote(Format::OpenAiChat, &server.url, Options::default());
    for _ in 0..3 {
        model.ask(request(prompt("go")), Heard::new()).await.unwrap_err();
    }
    assert_eq!(server.connections(), 1);
}

#[tokio::test]
async fn conversations_have_connections_of_their_own() {
    let bytes = cassette(Format::AnthropicMessages, "calls");
    let server = Server::start(move |_, _| {
        vec![stream_head(), Act::Pause(30), Act::Chunk(bytes.clone()), Act::End]
    })
    .await;
    let model = Arc::new(remote(Format::AnthropicMessages, &server.url, Options::default()));
    let clock = SystemClock::start();
    let all = (0..100).map(|_| {
        let model = Arc::clone(&model);
        tokio::spawn(async move {
            let mut request = request(prompt("go"));
            for round in 0..5 {
                model.ask(request.clone(), Heard::new()).await.unwrap();
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
    let bytes = cassette(Format::AnthropicMessages, "text");
    let server = Server::start(move |_, _| {
        let mut acts = streamed(&bytes);
        acts.push(Act::Close);
        acts
    })
    .await;
    let model = remote(Format::AnthropicMessages, &server.url, Options::default());
    for _ in 0..5 {
        model.ask(request(prompt("go")), Heard::new()).await.unwrap();
    }
    assert_eq!(server.connections(), 5);
}

#[tokio::test]
async fn an_encrypted_connection_works_and_is_kept() {
    let bytes = cassette(Format::AnthropicMessages, "calls");
    let server = Server::start(move |_, _| streamed(&bytes)).await;
    let (url, certificate) = encrypted(&server.url, "localhost").await;
    let clock: Arc<dyn Clock> = Arc::new(SystemClock::start());
    let client = Arc::new(Client::new(Arc::clone(&clock)).trusting(vec![certificate]));
    let shared = Shared { client, ..Shared::new(clock) };
    let endpoint = endpoint(Format::AnthropicMessages, &url);
    let model = Remote::new(endpoint, shared.clone(), Options::default()).unwrap();
    for _ in 0..5 {
        model.ask(request(prompt("go")), Heard::new()).await.unwrap();
    }
    assert_eq!((server.connections(), shared.client.connections().opened), (1, 1));
}

#[tokio::test]
async fn a_certificate_nobody_vouches_for_is_refused() {
    let server = Server::start(|_, _| Vec::new()).await;
    let (url, _) = encrypted(&server.url, "localhost").await;
    let model =
        Remote::new(endpoint(Format::OpenAiChat, &url), shared(), Options::default()).unwrap();
    let failure = model.ask(request(prompt("go")), Heard::new()).await.unwrap_err();
    assert_eq!(failure.class, FailureClass::Lasting);
    assert!(failure.message.contains("certificate"), "{}", failure.message);
    assert_eq!(server.asked().len(), 0);
}
