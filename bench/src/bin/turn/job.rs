//! The job: read a file in every turn. The same for everybody.

use std::path::Path;

use anyhow::{Result, bail};

use crate::{bare, ours, usual};

pub(crate) const TURNS: usize = 20;
pub(crate) const SYSTEM: &str = "You read files, one after another, and say nothing of them.";
pub(crate) const PROMPT: &str = "Read the file again and again.";
pub(crate) const FILE_BYTES: usize = 886;

/// Who does the job.
#[derive(Clone)]
pub(crate) enum Contender {
    Usual(usual::Loop),
    Bare(bare::Loop),
    Ours(ours::Loop),
}

impl Contender {
    pub(crate) fn new(name: &str, url: &str) -> Result<Self> {
        Ok(match name {
            "usual" => Self::Usual(usual::Loop::new(url, usual::Version::One)?),
            "usual-h2" => Self::Usual(usual::Loop::new(url, usual::Version::Two)?),
            "bare" => Self::Bare(bare::Loop::new(url)),
            "ours" => Self::Ours(ours::Loop::new(url)?),
            other => bail!("nobody is called {other}"),
        })
    }

    /// One conversation.
    pub(crate) async fn converse(&self, turns: usize, file: &Path) -> Result<()> {
        match self {
            Self::Usual(usual) => usual.converse(turns, file).await,
            Self::Bare(bare) => bare.converse(turns, file).await,
            Self::Ours(ours) => ours.converse(turns, file).await,
        }
    }
}

/// The file, as text.
pub(crate) fn read(file: &Path) -> Result<String> {
    Ok(std::fs::read_to_string(file)?)
}

/// The tool on offer.
pub(crate) const SCHEMA: &str =
    r#"{"type":"object","properties":{"file_path":{"type":"string"}},"required":["file_path"]}"#;

/// What the model answers: a text and a call.
pub(crate) fn answer() -> String {
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
