//! An HTTP client on a plain socket, which sees every byte and every broken connection.

use std::net::SocketAddr;
use std::time::Duration;

use serde_json::Value;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;

/// The time limit of a response; no test takes this long.
const PATIENCE: Duration = Duration::from_secs(20);

/// A connection.
pub(crate) struct TestConnection {
    stream: TcpStream,
    unread: Vec<u8>,
}

/// A response, as far as it arrived.
#[derive(Debug)]
pub(crate) struct TestResponse {
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) body: String,
    pub(crate) end: ResponseEnd,
}

/// How a response ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ResponseEnd {
    Complete,
    Broken,
}

impl TestResponse {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|error| panic!("{error}: {}", self.body))
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let lines = self.head.lines().filter_map(|line| line.split_once(": "));
        lines.filter(|(key, _)| key.eq_ignore_ascii_case(name)).map(|(_, value)| value).next()
    }
}

impl TestConnection {
    pub(crate) async fn open(address: SocketAddr) -> Self {
        Self { stream: TcpStream::connect(address).await.unwrap(), unread: Vec::new() }
    }

    pub(crate) async fn post(&mut self, path: &str, body: &str) -> Option<TestResponse> {
        let length = body.len();
        let head =
            format!("POST {path} HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-length: {length}\r\n\r\n");
        self.send(head.as_bytes()).await;
        self.send(body.as_bytes()).await;
        self.response().await
    }

    pub(crate) async fn get(&mut self, path: &str, headers: &str) -> Option<TestResponse> {
        self.send(format!("GET {path} HTTP/1.1\r\nhost: 127.0.0.1\r\n{headers}\r\n").as_bytes())
            .await;
        self.response().await
    }

    /// Sends bytes. A server that rejects the request may close before all of them are sent.
    pub(crate) async fn send(&mut self, bytes: &[u8]) {
        drop(timeout(PATIENCE, self.stream.write_all(bytes)).await.unwrap());
    }

    /// Returns the next response; `None` if the connection closes before it.
    pub(crate) async fn response(&mut self) -> Option<TestResponse> {
        timeout(PATIENCE, self.read_response()).await.unwrap()
    }

    async fn read_response(&mut self) -> Option<TestResponse> {
        let head = self.until(b"\r\n\r\n").await?;
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        let mut response =
            TestResponse { status, head, body: String::new(), end: ResponseEnd::Complete };
        let length = response.header("content-length").map(|length| length.parse().unwrap());
        let (body, end) = match length {
            Some(length) => self.exactly(length).await,
            None => self.chunks().await,
        };
        (response.body, response.end) = (String::from_utf8(body).unwrap(), end);
        Some(response)
    }

    async fn chunks(&mut self) -> (Vec<u8>, ResponseEnd) {
        let mut body = Vec::new();
        loop {
            let Some(size) = self.until(b"\r\n").await else { return (body, ResponseEnd::Broken) };
            let size = usize::from_str_radix(size.trim(), 16).unwrap();
            let (mut chunk, end) = self.exactly(size + 2).await;
            chunk.truncate(size);
            body.extend(chunk);
            if size == 0 || end == ResponseEnd::Broken {
                return (body, end);
            }
        }
    }

    async fn exactly(&mut self, length: usize) -> (Vec<u8>, ResponseEnd) {
        while self.unread.len() < length {
            if !self.more().await {
                return (std::mem::take(&mut self.unread), ResponseEnd::Broken);
            }
        }
        let rest = self.unread.split_off(length);
        (std::mem::replace(&mut self.unread, rest), ResponseEnd::Complete)
    }

    async fn until(&mut self, mark: &[u8]) -> Option<String> {
        loop {
            let found = self.unread.windows(mark.len()).position(|window| window == mark);
            if let Some(at) = found {
                let (line, _) = self.exactly(at + mark.len()).await;
                return Some(String::from_utf8(line).unwrap());
            }
            if !self.more().await {
                return None;
            }
        }
    }

    async fn more(&mut self) -> bool {
        matches!(self.stream.read_buf(&mut self.unread).await, Ok(1..))
    }
}
