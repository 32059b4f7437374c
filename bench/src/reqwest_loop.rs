//! The usual implementation: reqwest, with a history of JSON values that is encoded again for every
//! turn.

use std::path::Path;

use anyhow::{Context, Result};
use serde_json::{Value, json};

use crate::read_job::{self, PROMPT, SYSTEM};

/// A client with the history of one conversation as JSON values.
#[derive(Clone)]
pub struct ReqwestLoop {
    client: reqwest::Client,
    url: String,
}

/// The HTTP version.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum HttpVersion {
    /// HTTP/1.1.
    One,
    /// HTTP/2 without negotiation.
    Two,
}

impl ReqwestLoop {
    /// Makes the client; fails without TLS roots.
    pub fn new(url: &str, version: HttpVersion) -> Result<Self> {
        let builder = reqwest::Client::builder().tcp_nodelay(true);
        let builder = match version {
            HttpVersion::One => builder,
            HttpVersion::Two => builder.http2_prior_knowledge(),
        };
        Ok(Self { client: builder.build()?, url: format!("{url}/v1/messages") })
    }

    /// Runs one conversation of this many requests.
    pub async fn converse(&self, turns: usize, file: &Path) -> Result<()> {
        let mut messages =
            vec![json!({"role": "user", "content": [{"type": "text", "text": PROMPT}]})];
        for _ in 0..turns {
            let blocks = self.ask(&messages).await?;
            let id =
                blocks.last().and_then(|call| call["id"].as_str()).context("no call")?.to_owned();
            messages.push(json!({"role": "assistant", "content": blocks}));
            let result = json!({"type": "tool_result", "tool_use_id": id, "content": read_job::read_file(file)?});
            messages.push(json!({"role": "user", "content": [result]}));
        }
        Ok(())
    }

    async fn ask(&self, messages: &[Value]) -> Result<Vec<Value>> {
        let schema: Value = serde_json::from_str(read_job::TOOL_SCHEMA)?;
        let tool = json!({"name": "Read", "description": "Reads a file.", "input_schema": schema});
        let body = json!({
            "model": "bench", "max_tokens": 1_000, "system": SYSTEM, "tools": [tool],
            "messages": messages, "stream": true,
        });
        let mut response =
            self.client.post(&self.url).json(&body).send().await?.error_for_status()?;
        let mut buffer = String::new();
        let mut blocks = Vec::new();
        while let Some(piece) = response.chunk().await? {
            buffer.push_str(&String::from_utf8_lossy(&piece));
            while let Some((event, rest)) = buffer.split_once("\n\n") {
                if let Some(data) = event.lines().find_map(|line| line.strip_prefix("data: ")) {
                    apply_event(&mut blocks, &serde_json::from_str(data)?)?;
                }
                buffer = rest.to_owned();
            }
        }
        Ok(blocks)
    }
}

fn apply_event(blocks: &mut Vec<Value>, event: &Value) -> Result<()> {
    match event["type"].as_str().unwrap_or_default() {
        "content_block_start" => {
            let mut block = event["content_block"].clone();
            if let Some(input) = block.get_mut("input") {
                *input = json!("");
            }
            blocks.push(block);
        }
        "content_block_delta" => {
            let last = blocks.last_mut().context("a delta without a block")?;
            for (from, to) in [("text", "text"), ("partial_json", "input")] {
                if let (Some(piece), Some(Value::String(text))) = (
                    event.get("delta").and_then(|delta| delta.get(from)?.as_str()),
                    last.get_mut(to),
                ) {
                    text.push_str(piece);
                }
            }
        }
        "content_block_stop" => {
            if let Some(input) = blocks.last_mut().and_then(|last| last.get_mut("input")) {
                *input = serde_json::from_str(input.as_str().unwrap_or_default())?;
            }
        }
        _ => {}
    }
    Ok(())
}
