//! What the scripted model makes of a request: the conversation as a script's conditions see it.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::value::RawValue;

use windlass_core::block::{Block, Kind};
use windlass_core::request::Request;
use windlass_core::transcript::{Part, Role, Segment};

use super::answer::{Seen, SeenResult};

/// A request, read once; [`Seen`] borrows from it.
#[derive(Debug)]
pub(super) struct View {
    pub(super) ask: u32,
    pub(super) last_user_text: String,
    pub(super) results: Vec<ViewedResult>,
    pub(super) tools: Vec<String>,
    pub(super) older_bytes: u64,
}

/// One tool result that came back last.
#[derive(Debug)]
pub(super) struct ViewedResult {
    pub(super) tool: String,
    pub(super) text: String,
    pub(super) is_error: bool,
}

impl View {
    /// Reads a request. Replies are counted in the transcript and not by the request's own
    /// number, so that a retry, a resume or a replay is the same ask again.
    pub(super) fn of(request: &Request) -> Self {
        let segments = request.transcript.segments();
        let replies = segments.iter().filter(|segment| segment.part == Part::Reply).count();
        let last = segments.back().map_or(0, |segment| {
            segment.blocks.iter().map(|block| block.raw().text().len() as u64).sum()
        });
        Self {
            older_bytes: request.transcript.bytes().saturating_sub(last),
            ask: u32::try_from(replies).unwrap_or(u32::MAX).saturating_add(1),
            last_user_text: last_user_text(segments.iter().rev()),
            results: results(segments.iter().rev()),
            tools: request.settings.tools.iter().map(|tool| tool.name.to_string()).collect(),
        }
    }

    /// Asks `question` about the request as a script sees it.
    pub(super) fn with<T>(&self, question: impl FnOnce(&Seen<'_>) -> T) -> T {
        let results: Vec<_> = self.results.iter().map(ViewedResult::seen).collect();
        let tools: Vec<_> = self.tools.iter().map(String::as_str).collect();
        question(&Seen {
            ask: self.ask,
            last_user_text: &self.last_user_text,
            results: &results,
            tools: &tools,
            older_bytes: self.older_bytes,
        })
    }
}

impl ViewedResult {
    fn seen(&self) -> SeenResult<'_> {
        SeenResult { tool: &self.tool, text: &self.text, is_error: self.is_error }
    }

    fn new(block: &Block, tool: String) -> Self {
        let (text, is_error) = match block.raw().read::<ResultBlock<'_>>() {
            Ok(result) => (result.text(), result.is_error.unwrap_or(false)),
            Err(_) => (block.raw().text().to_owned(), false),
        };
        Self { tool, text, is_error }
    }
}

/// The latest text on the user's side, whoever wrote it there: a model cannot tell a person from
/// the runtime either.
fn last_user_text<'a>(mut newest_first: impl Iterator<Item = &'a Segment>) -> String {
    newest_first.find_map(user_text).unwrap_or_default()
}

fn user_text(segment: &Segment) -> Option<String> {
    let texts: Vec<&str> = match segment.role {
        Role::User => segment.blocks.iter().filter_map(Block::as_text).collect(),
        Role::Assistant => return None,
    };
    (!texts.is_empty()).then(|| texts.join("\n"))
}

/// The results the model has not answered yet. A prompt after them ends their turn: the request
/// is about the prompt then.
fn results<'a>(newest_first: impl Iterator<Item = &'a Segment>) -> Vec<ViewedResult> {
    let mut segments = newest_first.skip_while(|segment| segment.part == Part::Note);
    match (segments.next(), segments.next()) {
        (Some(results), Some(reply)) if results.part == Part::Results => paired(reply, results),
        _ => Vec::new(),
    }
}

fn paired(reply: &Segment, results: &Segment) -> Vec<ViewedResult> {
    let viewed = |block: &Block| Some(ViewedResult::new(block, tool_of(reply, block)?));
    results.blocks.iter().filter_map(viewed).collect()
}

/// The tool a result answers. Ids are unique within a round: the transcript takes no other.
fn tool_of(reply: &Segment, block: &Block) -> Option<String> {
    let Kind::ToolResult { tool_use_id } = block.kind() else {
        return None;
    };
    let mut calls = reply.blocks.iter().filter_map(Block::as_tool_use);
    let call = calls.find(|call| call.id == *tool_use_id);
    Some(call.map(|call| call.name.to_string()).unwrap_or_default())
}

#[derive(Deserialize)]
struct ResultBlock<'a> {
    #[serde(borrow)]
    content: Option<&'a RawValue>,
    is_error: Option<bool>,
}

#[derive(Deserialize)]
struct TextBlock<'a> {
    #[serde(borrow)]
    text: Option<Cow<'a, str>>,
}

impl ResultBlock<'_> {
    fn text(&self) -> String {
        content_text(self.content)
    }
}

/// A string, the texts of a list of blocks, or the JSON itself where Rust cannot hold it.
pub(super) fn content_text(content: Option<&RawValue>) -> String {
    let json = content.map_or("\"\"", RawValue::get);
    let string = serde_json::from_str::<String>(json);
    string.or_else(|_| texts(json)).unwrap_or_else(|_| json.to_owned())
}

fn texts(json: &str) -> Result<String, serde_json::Error> {
    let blocks: Vec<TextBlock<'_>> = serde_json::from_str(json)?;
    let texts: Vec<_> = blocks.into_iter().filter_map(|block| block.text).collect();
    Ok(texts.join("\n"))
}
