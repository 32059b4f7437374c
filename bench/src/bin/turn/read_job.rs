//! The task, the same for all contenders: read a file in every turn.

use std::path::Path;

use anyhow::{Result, bail};

use crate::{adapter_loop, bare_loop, reqwest_loop};

pub(crate) const TURNS: usize = 20;
pub(crate) const SYSTEM: &str = "You read files, one after another, and say nothing of them.";
pub(crate) const PROMPT: &str = "Read the file again and again.";
pub(crate) const FILE_BYTES: usize = 886;

/// The contender that does the task.
#[derive(Clone)]
pub(crate) enum LoopKind {
    Usual(reqwest_loop::ReqwestLoop),
    Bare(bare_loop::BareLoop),
    Ours(adapter_loop::AdapterLoop),
}

impl LoopKind {
    pub(crate) fn new(name: &str, url: &str) -> Result<Self> {
        Ok(match name {
            "usual" => {
                Self::Usual(reqwest_loop::ReqwestLoop::new(url, reqwest_loop::HttpVersion::One)?)
            }
            "usual-h2" => {
                Self::Usual(reqwest_loop::ReqwestLoop::new(url, reqwest_loop::HttpVersion::Two)?)
            }
            "bare" => Self::Bare(bare_loop::BareLoop::new(url)),
            "pooled" => Self::Bare(bare_loop::BareLoop::with_pooled_client(url)),
            "ours" => Self::Ours(adapter_loop::AdapterLoop::new(url)?),
            other => bail!("unknown contender {other}"),
        })
    }

    /// Runs one conversation.
    pub(crate) async fn converse(&self, turns: usize, file: &Path) -> Result<()> {
        match self {
            Self::Usual(usual) => usual.converse(turns, file).await,
            Self::Bare(bare) => bare.converse(turns, file).await,
            Self::Ours(ours) => ours.converse(turns, file).await,
        }
    }
}

/// The content of the file.
pub(crate) fn read_file(file: &Path) -> Result<String> {
    Ok(std::fs::read_to_string(file)?)
}

/// The schema of the offered tool.
pub(crate) const TOOL_SCHEMA: &str =
    r#"{"type":"object","properties":{"file_path":{"type":"string"}},"required":["file_path"]}"#;

/// The reply of the model: a text and a call.
pub(crate) fn model_answer() -> String {
    let events = [
        r#"{"type":"message_start","message":{"id":"msg_1","type":"message","role":"assistant","model":"bench","content":[],"stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":100,"output_tokens":1}}}"#,
        r#"{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}"#,
        r#"{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Reading "}}"#,
        r#"{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"the file."}}"#,
        r#"{"type":"content_block_stop","index":0}"#,
        r#"{"type":"content_block_start","index":1,"content_block":{"type":"tool_use","id":"toolu_1","name":"Read","input":{}}}"#,
        r#"{"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":"{\"file_path\":"}}"#,
        r#"{"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":" \"notes.txt\"}"}}"#,
        r#"{"type":"content_block_stop","index":1}"#,
        r#"{"type":"message_delta","delta":{"stop_reason":"tool_use","stop_sequence":null},"usage":{"output_tokens":42}}"#,
        r#"{"type":"message_stop"}"#,
    ];
    let named = |event: &&str| {
        let kind = event.split('"').nth(3).unwrap_or_default();
        format!("event: {kind}\ndata: {event}\n\n")
    };
    events.iter().map(named).collect()
}
