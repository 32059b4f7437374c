//! Encrypted servers behind a proxy: a real tunnel, a real certificate, all on this machine. The
//! server's name leads nowhere, so whoever reaches it went through the proxy.

use std::sync::{Arc, Mutex};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use windlass_core::input::{Failure, FailureClass};
use windlass_core::reply::Reply;
use windlass_providers::names::Format;
use windlass_providers::{Client, Options, Proxies, Remote, Shared};
use windlass_runtime::SystemClock;
use windlass_runtime::ports::{Clock, Model};

use crate::adapter::{KEY, endpoint, prompt, request};
use crate::encrypted::encrypted;
use crate::heard::Heard;
use crate::scenarios::{FORMATS, cassette};
use crate::server::{Server, streamed};

const NAME: &str = "model.test";

/// A proxy that leads every name to this machine, or refuses.
struct Proxy {
    place: String,
    heads: Arc<Mutex<Vec<String>>>,
}

impl Proxy {
    async fn start(refusal: Option<&'static str>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let place = listener.local_addr().unwrap().to_string();
        let heads: Arc<Mutex<Vec<String>>> = Arc::default();
        let seen = Arc::clone(&heads);
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(serve(stream, refusal, Arc::clone(&seen)));
            }
        });
        Self { place, heads }
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

fn shared(proxy: String, except: &'static str, roots: Vec<Vec<u8>>) -> Shared {
    let variables = move |name: &str| match name {
        "HTTPS_PROXY" => Some(proxy.clone()),
        "NO_PROXY" => Some(except.to_owned()),
        _ => None,
    };
    let clock: Arc<dyn Clock> = Arc::new(SystemClock::start());
    let proxies = Proxies::from_variables(&variables).unwrap();
    let client = Client::new(Arc::clone(&clock)).trusting(roots).through(proxies);
    Shared { client: Arc::new(client), ..Shared::new(clock) }
}

async fn ask(format: Format, url: &str, shared: Shared) -> Result<Reply, Failure> {
    let model = Remote::new(endpoint(format, url), shared, Options::default()).unwrap();
    model.ask(request(prompt("go")), Heard::new()).await
}

#[tokio::test]
async fn an_encrypted_server_is_reached_through_the_proxy() {
    for format in FORMATS {
        let bytes = cassette(format, "text");
        let server = Server::start(move |_, _| streamed(&bytes)).await;
        let (url, certificate) = encrypted(&server.url, NAME).await;
        let proxy = Proxy::start(None).await;
        let address = format!("http://me:p%40ss-word@{}", proxy.place);
        let shared = shared(address, "", vec![certificate]);
        for _ in 0..3 {
            let reply = ask(format, &url, shared.clone()).await.unwrap();
            assert!(reply.text().starts_with("Grüße"));
        }
        let heads = proxy.heads();
        assert_eq!(heads.len(), 1, "the tunnel is kept: {heads:?}");
        let place = url.trim_start_matches("https://");
        assert!(heads[0].starts_with(&format!("CONNECT {place} HTTP/1.1\r\nhost: {place}\r\n")));
        assert!(heads[0].contains("proxy-authorization: Basic bWU6cEBzcy13b3Jk\r\n"));
        assert!(!heads[0].contains(KEY), "the key is the server's alone");
        let asked = &server.asked()[0].head;
        assert!(asked.contains(KEY) && !asked.contains("proxy-authorization"), "{asked}");
    }
}

/// This address is this machine, and not one of those that never go through a proxy.
#[tokio::test]
async fn what_no_proxy_names_is_reached_without() {
    let bytes = cassette(Format::OpenAiChat, "text");
    let server = Server::start(move |_, _| streamed(&bytes)).await;
    let (url, certificate) = encrypted(&server.url, "0.0.0.0").await;
    for (except, tunnels) in [("example.com,0.0.0.0", 0), ("example.com", 1)] {
        let proxy = Proxy::start(None).await;
        let address = format!("http://{}", proxy.place);
        let shared = shared(address, except, vec![certificate.clone()]);
        ask(Format::OpenAiChat, &url, shared).await.unwrap();
        assert_eq!(proxy.heads().len(), tunnels);
    }
}

#[tokio::test]
async fn a_certificate_nobody_vouches_for_is_refused_behind_a_proxy_too() {
    let server = Server::start(|_, _| Vec::new()).await;
    let (url, _) = encrypted(&server.url, NAME).await;
    let proxy = Proxy::start(None).await;
    let shared = shared(format!("http://{}", proxy.place), "", Vec::new());
    let failure = ask(Format::AnthropicMessages, &url, shared).await.unwrap_err();
    assert_eq!(failure.class, FailureClass::Lasting);
    assert!(failure.message.contains("certificate"), "{}", failure.message);
    assert_eq!((server.asked().len(), proxy.heads().len()), (0, 1));
}

#[tokio::test]
async fn a_proxy_that_refuses_says_what_to_do_and_no_password() {
    let cases = [
        (
            "HTTP/1.1 407 Who is bWU6cEBzcy13b3Jk with p@ss-word\r\n\r\n",
            FailureClass::Lasting,
            "write name and password",
        ),
        ("HTTP/1.1 403 Forbidden\r\n\r\n", FailureClass::Lasting, "name the server in NO_PROXY"),
        ("HTTP/1.1 502 Bad Gateway\r\n\r\n", FailureClass::Passing, "said: HTTP/1.1 502"),
        ("SSH-2.0-OpenSSH\r\n\r\n", FailureClass::Lasting, "check HTTPS_PROXY"),
        ("", FailureClass::Passing, "did not answer as a proxy does"),
    ];
    for (refusal, class, wanted) in cases {
        let proxy = Proxy::start(Some(refusal)).await;
        let shared = shared(format!("http://me:p%40ss-word@{}", proxy.place), "", Vec::new());
        let failure = ask(Format::OpenAiChat, "https://model.test:9", shared).await.unwrap_err();
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
    let place = listener.local_addr().unwrap().to_string();
    drop(listener);
    let shared = shared(place.clone(), "", Vec::new());
    let failure = ask(Format::OpenAiChat, "https://model.test:9", shared).await.unwrap_err();
    assert_eq!(failure.class, FailureClass::Passing);
    assert!(failure.message.contains(&place), "{}", failure.message);
    assert!(failure.message.contains("HTTPS_PROXY"), "{}", failure.message);
}
