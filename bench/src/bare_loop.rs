//! A minimal loop: a body that only grows, on one kept connection of hyper, or with the pooled client
//! of hyper-util.

use std::path::Path;
use std::sync::Arc;

use anyhow::{Context, Result};
use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::client::conn::http1::{self, SendRequest};
use hyper::{Request, Response};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::{TokioExecutor, TokioIo};
use serde::Deserialize;
use tokio::net::TcpStream;

use crate::read_job::{self, PROMPT, SYSTEM};

/// The least that a loop needs.
#[derive(Clone)]
pub struct BareLoop {
    place: String,
    path: String,
    /// The pooled client; without one, each conversation opens a connection and keeps it.
    pooled: Option<Arc<PooledClient>>,
}

type PooledClient = Client<HttpConnector, Full<Bytes>>;

/// What sends a request and waits for the head of its response.
enum RequestSender {
    Kept(SendRequest<Full<Bytes>>),
    Pooled(Arc<PooledClient>),
}

impl RequestSender {
    async fn send(&mut self, request: Request<Full<Bytes>>) -> Result<Response<Incoming>> {
        match self {
            Self::Kept(connection) => {
                connection.ready().await?;
                Ok(connection.send_request(request).await?)
            }
            Self::Pooled(client) => Ok(client.request(request).await?),
        }
    }
}

#[derive(Deserialize)]
struct SseEvent<'a> {
    #[serde(borrow)]
    delta: Option<SseDelta<'a>>,
    #[serde(borrow)]
    content_block: Option<SseBlock<'a>>,
}

#[derive(Deserialize)]
struct SseDelta<'a> {
    #[serde(borrow)]
    text: Option<std::borrow::Cow<'a, str>>,
    #[serde(borrow)]
    partial_json: Option<std::borrow::Cow<'a, str>>,
}

#[derive(Deserialize)]
struct SseBlock<'a> {
    id: Option<&'a str>,
}

#[derive(Default)]
struct ParsedReply {
    text: String,
    id: String,
    input: String,
}

impl BareLoop {
    /// Makes the loop with one kept connection per conversation.
    #[must_use]
    pub fn new(url: &str) -> Self {
        let rest = url.trim_start_matches("http://");
        let (place, path) = rest.split_once('/').unwrap_or((rest, ""));
        let slash = if path.is_empty() { "" } else { "/" };
        let path = format!("{slash}{path}/v1/messages");
        Self { place: place.to_owned(), path, pooled: None }
    }

    /// The same loop with the pooled client of hyper-util, which wants the whole URL.
    #[must_use]
    pub fn with_pooled_client(url: &str) -> Self {
        let bare = Self::new(url);
        let mut connector = HttpConnector::new();
        connector.set_nodelay(true);
        let client = Client::builder(TokioExecutor::new()).build(connector);
        let path = format!("http://{}{}", bare.place, bare.path);
        Self { path, pooled: Some(Arc::new(client)), ..bare }
    }

    /// Runs one conversation of this many requests.
    pub async fn converse(&self, turns: usize, file: &Path) -> Result<()> {
        if let Some(client) = &self.pooled {
            return self
                .converse_over(&mut RequestSender::Pooled(Arc::clone(client)), turns, file)
                .await;
        }
        let stream = TcpStream::connect(&self.place).await?;
        stream.set_nodelay(true)?;
        let (send, connection) = http1::handshake(TokioIo::new(stream)).await?;
        let driver = tokio::spawn(connection);
        self.converse_over(&mut RequestSender::Kept(send), turns, file).await?;
        driver.await??;
        Ok(())
    }

    async fn converse_over(
        &self,
        sender: &mut RequestSender,
        turns: usize,
        file: &Path,
    ) -> Result<()> {
        let mut body = format!(
            "{{\"model\":\"bench\",\"max_tokens\":1000,\"stream\":true,\"system\":\"{SYSTEM}\",\"tools\":[{{\"name\":\"Read\",\
             \"description\":\"Reads a file.\",\"input_schema\":{}}}],\"messages\":[{{\"role\":\"user\",\"content\":\"{PROMPT}\"}}",
            read_job::TOOL_SCHEMA
        )
        .into_bytes();
        for _ in 0..turns {
            let said = self.ask(sender, &body).await?;
            let text = serde_json::to_string(&said.text)?;
            let result = serde_json::to_string(&read_job::read_file(file)?)?;
            let ParsedReply { id, input, .. } = said;
            body.extend_from_slice(
                format!(
                    ",{{\"role\":\"assistant\",\"content\":[{{\"type\":\"text\",\"text\":{text}}},{{\"type\":\"tool_use\",\"id\":\"{id}\",\
                     \"name\":\"Read\",\"input\":{input}}}]}},{{\"role\":\"user\",\"content\":[{{\"type\":\"tool_result\",\
                     \"tool_use_id\":\"{id}\",\"content\":{result}}}]}}"
                )
                .as_bytes(),
            );
        }
        Ok(())
    }

    async fn ask(&self, sender: &mut RequestSender, body: &[u8]) -> Result<ParsedReply> {
        let mut sent = Vec::with_capacity(body.len() + 2);
        sent.extend_from_slice(body);
        sent.extend_from_slice(b"]}");
        let request = Request::post(&self.path)
            .header("host", &self.place)
            .header("content-type", "application/json")
            .body(Full::new(Bytes::from(sent)))?;
        let mut response = sender.send(request).await?.into_body();
        let mut buffer = Vec::new();
        while let Some(frame) = response.frame().await {
            if let Ok(data) = frame?.into_data() {
                buffer.extend_from_slice(&data);
            }
        }
        parse_reply(std::str::from_utf8(&buffer).context("no text")?)
    }
}

fn parse_reply(text: &str) -> Result<ParsedReply> {
    let mut said = ParsedReply::default();
    for data in text.lines().filter_map(|line| line.strip_prefix("data: ")) {
        let event: SseEvent<'_> = serde_json::from_str(data)?;
        if let Some(id) = event.content_block.and_then(|block| block.id) {
            id.clone_into(&mut said.id);
        }
        if let Some(delta) = event.delta {
            said.text.push_str(&delta.text.unwrap_or_default());
            said.input.push_str(&delta.partial_json.unwrap_or_default());
        }
    }
    Ok(said)
}
