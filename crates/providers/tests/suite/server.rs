//! A server that plays what it is told, byte for byte, and remembers what it was asked.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

/// Requests one server takes; a test that loops forever fails instead.
const MOST_REQUESTS: usize = 20_000;

/// Something the server does with a request.
#[derive(Debug, Clone)]
pub(crate) enum Act {
    /// Writes bytes as they are.
    Write(Vec<u8>),
    /// Writes them one chunk of a chunked body at a time.
    Chunk(Vec<u8>),
    /// Ends the chunked body.
    End,
    /// Waits.
    Pause(u64),
    /// Hangs up.
    Close,
}

/// A request as it came.
#[derive(Debug, Clone)]
pub(crate) struct Asked {
    pub(crate) head: String,
    pub(crate) body: String,
}

type Script = dyn Fn(usize, &Asked) -> Vec<Act> + Send + Sync;

#[derive(Clone)]
pub(crate) struct Server {
    pub(crate) url: String,
    pub(crate) asked: Arc<Mutex<Vec<Asked>>>,
    pub(crate) connections: Arc<AtomicUsize>,
}

impl Server {
    /// A server that plays `script(number of the request, the request)`.
    pub(crate) async fn start(
        script: impl Fn(usize, &Asked) -> Vec<Act> + Send + Sync + 'static,
    ) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let server = Self { url, asked: Arc::default(), connections: Arc::default() };
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
        while let Some(asked) = read_request(&mut stream).await {
            let number = {
                let mut all = self.asked.lock().unwrap();
                all.push(asked.clone());
                all.len()
            };
            if number > MOST_REQUESTS {
                return;
            }
            for act in script(number, &asked) {
                if !perform(&mut stream, act).await {
                    return;
                }
            }
        }
    }

    pub(crate) fn asked(&self) -> Vec<Asked> {
        self.asked.lock().unwrap().clone()
    }

    pub(crate) fn connections(&self) -> usize {
        self.connections.load(Ordering::SeqCst)
    }
}

async fn perform(stream: &mut TcpStream, act: Act) -> bool {
    match act {
        Act::Write(bytes) => stream.write_all(&bytes).await.is_ok(),
        Act::Chunk(bytes) => {
            let mut chunk = format!("{:x}\r\n", bytes.len()).into_bytes();
            chunk.extend(bytes);
            chunk.extend(b"\r\n");
            stream.write_all(&chunk).await.is_ok()
        }
        Act::End => stream.write_all(b"0\r\n\r\n").await.is_ok(),
        Act::Pause(ms) => {
            pause(ms).await;
            true
        }
        Act::Close => false,
    }
}

#[expect(clippy::disallowed_methods, reason = "a server that takes its time")]
pub(crate) async fn pause(ms: u64) {
    tokio::time::sleep(Duration::from_millis(ms)).await;
}

async fn read_request(stream: &mut TcpStream) -> Option<Asked> {
    let mut bytes = Vec::new();
    loop {
        if let Some(end) = bytes.windows(4).position(|four| four == b"\r\n\r\n") {
            let head = String::from_utf8_lossy(&bytes[..end]).into_owned();
            let length = length(&head);
            while bytes.len() < end + 4 + length {
                read_more(stream, &mut bytes).await?;
            }
            let body = String::from_utf8_lossy(&bytes[end + 4..end + 4 + length]).into_owned();
            return Some(Asked { head, body });
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

/// The head of a streamed answer.
pub(crate) fn stream_head() -> Act {
    Act::Write(
        b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\
          request-id: req_1\r\n\r\n"
            .to_vec(),
    )
}

/// A streamed answer in one piece.
pub(crate) fn streamed(body: &[u8]) -> Vec<Act> {
    vec![stream_head(), Act::Chunk(body.to_vec()), Act::End]
}

/// An answer of a known length.
pub(crate) fn whole(status: &str, headers: &str, body: &str) -> Vec<Act> {
    let text =
        format!("HTTP/1.1 {status}\r\n{headers}content-length: {}\r\n\r\n{body}", body.len());
    vec![Act::Write(text.into_bytes())]
}
