//! TLS servers behind a proxy: a real tunnel, a real certificate, all on this machine. The server's
//! name does not resolve, so a request that reaches it went through the proxy.

use std::sync::{Arc, Mutex};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use windlass_core::log::input::{FailureClass, ModelFailure};
use windlass_core::message::reply::ModelReply;
use windlass_providers::catalog::provider_table::WireFormat;
use windlass_providers::{CallOptions, HttpClient, ProxyRules, RemoteModel, SharedServices};
use windlass_runtime::SystemClock;
use windlass_runtime::ports::{Clock, Model};

use crate::adapter::{KEY, endpoint, prompt, request};
use crate::byte_server::{ByteServer, streamed};
use crate::encrypted::encrypted;
use crate::format_scenarios::{FORMATS, cassette};
use crate::recording_stream::RecordingStream;

const NAME: &str = "model.test";

/// A proxy that connects every name to this machine, or rejects it.
struct FakeProxy {
    place: String,
    heads: Arc<Mutex<Vec<String>>>,
}

impl FakeProxy {
    async fn start(refusal: Option<&'static str>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let location = listener.local_addr().unwrap().to_string();
        let heads: Arc<Mutex<Vec<String>>> = Arc::default();
        let seen = Arc::clone(&heads);
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(serve(stream, refusal, Arc::clone(&seen)));
            }
        });
        Self { place: location, heads }
    }

    fn heads(&self) -> Vec<String> {
        self.heads.lock().unwrap().clone()
    }
}

async fn serve(
    mut stream: TcpStream,
    refusal: Option<&'static str>,
    seen: Arc<Mutex<Vec<String>>>,
) {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        if stream.read_buf(&mut head).await.unwrap_or(0) == 0 {
            return;
        }
    }
    let head = String::from_utf8(head).unwrap();
    let port: u16 = head.split([' ', ':']).nth(2).unwrap().parse().unwrap();
    seen.lock().unwrap().push(head);
    if let Some(refusal) = refusal {
        let _ = stream.write_all(refusal.as_bytes()).await;
        return;
    }
    let mut server = TcpStream::connect(("127.0.0.1", port)).await.unwrap();
    stream.write_all(b"HTTP/1.1 200 Connection established\r\n\r\n").await.unwrap();
    let _ = tokio::io::copy_bidirectional(&mut stream, &mut server).await;
}

fn shared(proxy: String, except: &'static str, roots: Vec<Vec<u8>>) -> SharedServices {
    let variables = move |name: &str| match name {
        "HTTPS_PROXY" => Some(proxy.clone()),
        "NO_PROXY" => Some(except.to_owned()),
        _ => None,
    };
    let clock: Arc<dyn Clock> = Arc::new(SystemClock::start());
    let proxies = ProxyRules::from_variables(&variables).unwrap();
    let client =
        HttpClient::new(Arc::clone(&clock)).with_extra_roots(roots).with_proxy_rules(proxies);
    SharedServices { client: Arc::new(client), ..SharedServices::new(clock) }
}

async fn ask(
    format: WireFormat,
    url: &str,
    shared: SharedServices,
) -> Result<ModelReply, ModelFailure> {
    let model = RemoteModel::new(endpoint(format, url), shared, CallOptions::default()).unwrap();
    model.call(request(prompt("go")), RecordingStream::new()).await
}

#[tokio::test]
async fn an_encrypted_server_is_reached_through_the_proxy() {
    for format in FORMATS {
        let bytes = cassette(format, "text");
        let server = ByteServer::start(move |_, _| streamed(&bytes)).await;
        let (url, certificate) = encrypted(&server.url, NAME).await;
        let proxy = FakeProxy::start(None).await;
        let address = format!("http://me:p%40ss-word@{}", proxy.place);
        let shared = shared(address, "", vec![certificate]);
        for _ in 0..3 {
            let reply = ask(format, &url, shared.clone()).await.unwrap();
            assert!(reply.text().starts_with("Grüße"));
        }
        let heads = proxy.heads();
        assert_eq!(heads.len(), 1, "the tunnel is kept: {heads:?}");
        let location = url.trim_start_matches("https://");
        assert!(
            heads[0].starts_with(&format!("CONNECT {location} HTTP/1.1\r\nhost: {location}\r\n"))
        );
        assert!(heads[0].contains("proxy-authorization: Basic bWU6cEBzcy13b3Jk\r\n"));
        assert!(!heads[0].contains(KEY), "the key is the server's alone");
        let asked = &server.asked()[0].head;
        assert!(asked.contains(KEY) && !asked.contains("proxy-authorization"), "{asked}");
    }
}

/// This address is this machine, and not one of those that are never reached through a proxy.
#[tokio::test]
async fn what_no_proxy_names_is_reached_without() {
    let bytes = cassette(WireFormat::OpenAiChat, "text");
    let server = ByteServer::start(move |_, _| streamed(&bytes)).await;
    let (url, certificate) = encrypted(&server.url, "0.0.0.0").await;
    for (except, tunnels) in [("example.com,0.0.0.0", 0), ("example.com", 1)] {
        let proxy = FakeProxy::start(None).await;
        let address = format!("http://{}", proxy.place);
        let shared = shared(address, except, vec![certificate.clone()]);
        ask(WireFormat::OpenAiChat, &url, shared).await.unwrap();
        assert_eq!(proxy.heads().len(), tunnels);
    }
}

#[tokio::test]
async fn a_certificate_nobody_vouches_for_is_refused_behind_a_proxy_too() {
    let server = ByteServer::start(|_, _| Vec::new()).await;
    let (url, _) = encrypted(&server.url, NAME).await;
    let proxy = FakeProxy::start(None).await;
    let shared = shared(format!("http://{}", proxy.place), "", Vec::new());
    let failure = ask(WireFormat::AnthropicMessages, &url, shared).await.unwrap_err();
    assert_eq!(failure.class, FailureClass::Permanent);
    assert!(failure.message.contains("certificate"), "{}", failure.message);
    assert_eq!((server.asked().len(), proxy.heads().len()), (0, 1));
}

#[tokio::test]
async fn a_proxy_that_refuses_says_what_to_do_and_no_password() {
    let cases = [
        (
            "HTTP/1.1 407 Who is bWU6cEBzcy13b3Jk with p@ss-word\r\n\r\n",
            FailureClass::Permanent,
            "add user name and password",
        ),
        ("HTTP/1.1 403 Forbidden\r\n\r\n", FailureClass::Permanent, "add the server to NO_PROXY"),
        ("HTTP/1.1 502 Bad Gateway\r\n\r\n", FailureClass::Transient, "answered: HTTP/1.1 502"),
        ("SSH-2.0-OpenSSH\r\n\r\n", FailureClass::Permanent, "check HTTPS_PROXY"),
        ("", FailureClass::Transient, "not a proxy response"),
    ];
    for (refusal, class, wanted) in cases {
        let proxy = FakeProxy::start(Some(refusal)).await;
        let shared = shared(format!("http://me:p%40ss-word@{}", proxy.place), "", Vec::new());
        let failure =
            ask(WireFormat::OpenAiChat, "https://model.test:9", shared).await.unwrap_err();
        assert_eq!(failure.class, class, "{}", failure.message);
        assert!(failure.message.contains(wanted), "{}", failure.message);
        for secret in ["p@ss-word", "bWU6cEBzcy13b3Jk"] {
            assert!(!failure.message.contains(secret), "{}", failure.message);
        }
    }
}

#[tokio::test]
async fn a_proxy_that_is_not_there_is_named() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let location = listener.local_addr().unwrap().to_string();
    drop(listener);
    let shared = shared(location.clone(), "", Vec::new());
    let failure = ask(WireFormat::OpenAiChat, "https://model.test:9", shared).await.unwrap_err();
    assert_eq!(failure.class, FailureClass::Transient);
    assert!(failure.message.contains(&location), "{}", failure.message);
    assert!(failure.message.contains("HTTPS_PROXY"), "{}", failure.message);
}
