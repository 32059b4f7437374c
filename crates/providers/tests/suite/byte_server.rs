//! A server that sends what the test says, byte for byte, and records the requests.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

/// The number of requests that one server accepts; a test that loops forever fails instead.
const MOST_REQUESTS: usize = 20_000;

/// An action of the server for a request.
#[derive(Debug, Clone)]
pub(crate) enum ServerAction {
    /// Writes bytes as they are.
    Write(Vec<u8>),
    /// Writes bytes as one chunk of a chunked body.
    Chunk(Vec<u8>),
    /// Ends the chunked body.
    End,
    /// Waits for this many milliseconds.
    Pause(u64),
    /// Closes the connection.
    Close,
}

/// A request as it was received.
#[derive(Debug, Clone)]
pub(crate) struct ReceivedRequest {
    pub(crate) head: String,
    pub(crate) body: String,
}

type Script = dyn Fn(usize, &ReceivedRequest) -> Vec<ServerAction> + Send + Sync;

#[derive(Clone)]
pub(crate) struct ByteServer {
    pub(crate) url: String,
    pub(crate) requests: Arc<Mutex<Vec<ReceivedRequest>>>,
    pub(crate) connections: Arc<AtomicUsize>,
}

impl ByteServer {
    /// Starts a server that performs `script(number of the request, the request)`.
    pub(crate) async fn start(
        script: impl Fn(usize, &ReceivedRequest) -> Vec<ServerAction> + Send + Sync + 'static,
    ) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let server = Self { url, requests: Arc::default(), connections: Arc::default() };
        let script: Arc<Script> = Arc::new(script);
        let shown = server.clone();
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                shown.connections.fetch_add(1, Ordering::SeqCst);
                tokio::spawn(shown.clone().serve(stream, Arc::clone(&script)));
            }
        });
        server
    }

    async fn serve(self, mut stream: TcpStream, script: Arc<Script>) {
        let _ = stream.set_nodelay(true);
        while let Some(request) = read_request(&mut stream).await {
            let number = {
                let mut all = self.requests.lock().unwrap();
                all.push(request.clone());
                all.len()
            };
            if number > MOST_REQUESTS {
                return;
            }
            for act in script(number, &request) {
                if !perform(&mut stream, act).await {
                    return;
                }
            }
        }
    }

    pub(crate) fn asked(&self) -> Vec<ReceivedRequest> {
        self.requests.lock().unwrap().clone()
    }

    pub(crate) fn connections(&self) -> usize {
        self.connections.load(Ordering::SeqCst)
    }
}

async fn perform(stream: &mut TcpStream, act: ServerAction) -> bool {
    match act {
        ServerAction::Write(bytes) => stream.write_all(&bytes).await.is_ok(),
        ServerAction::Chunk(bytes) => {
            let mut chunk = format!("{:x}\r\n", bytes.len()).into_bytes();
            chunk.extend(bytes);
            chunk.extend(b"\r\n");
            stream.write_all(&chunk).await.is_ok()
        }
        ServerAction::End => stream.write_all(b"0\r\n\r\n").await.is_ok(),
        ServerAction::Pause(ms) => {
            pause(ms).await;
            true
        }
        ServerAction::Close => false,
    }
}

#[expect(clippy::disallowed_methods, reason = "a server that takes its time")]
pub(crate) async fn pause(ms: u64) {
    tokio::time::sleep(Duration::from_millis(ms)).await;
}

async fn read_request(stream: &mut TcpStream) -> Option<ReceivedRequest> {
    let mut bytes = Vec::new();
    loop {
        if let Some(end) = bytes.windows(4).position(|four| four == b"\r\n\r\n") {
            let head = String::from_utf8_lossy(&bytes[..end]).into_owned();
            let length = length(&head);
            while bytes.len() < end + 4 + length {
                read_more(stream, &mut bytes).await?;
            }
            let body = String::from_utf8_lossy(&bytes[end + 4..end + 4 + length]).into_owned();
            return Some(ReceivedRequest { head, body });
        }
        read_more(stream, &mut bytes).await?;
    }
}

async fn read_more(stream: &mut TcpStream, bytes: &mut Vec<u8>) -> Option<()> {
    let read = stream.read_buf(bytes).await.ok()?;
    (read > 0).then_some(())
}

fn length(head: &str) -> usize {
    let line = head.lines().find(|line| line.to_lowercase().starts_with("content-length:"));
    line.and_then(|line| line.split(':').nth(1)?.trim().parse().ok()).unwrap_or(0)
}

/// The head of a streamed response.
pub(crate) fn stream_head() -> ServerAction {
    ServerAction::Write(
        b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\
          request-id: req_1\r\n\r\n"
            .to_vec(),
    )
}

/// A streamed response in one piece.
pub(crate) fn streamed(body: &[u8]) -> Vec<ServerAction> {
    vec![stream_head(), ServerAction::Chunk(body.to_vec()), ServerAction::End]
}

/// A response of a known length.
pub(crate) fn whole(status: &str, headers: &str, body: &str) -> Vec<ServerAction> {
    let text =
        format!("HTTP/1.1 {status}\r\n{headers}content-length: {}\r\n\r\n{body}", body.len());
    vec![ServerAction::Write(text.into_bytes())]
}
