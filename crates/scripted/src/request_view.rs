//! A request as the conditions of a script see it.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::value::RawValue;

use windlass_core::message::content_block::{BlockKind, ContentBlock};
use windlass_core::message::loaded_tools::ToolLoading;
use windlass_core::message::request::ModelRequest;
use windlass_core::message::transcript::{Role, SegmentKind, TranscriptSegment};

use super::scripted_answer::{RequestView, ToolResultView};

/// A request, parsed once; [`RequestView`] borrows from it.
#[derive(Debug)]
pub(super) struct OwnedRequestView {
    pub(super) ask: u32,
    pub(super) last_user_text: String,
    pub(super) results: Vec<OwnedToolResult>,
    pub(super) tools: Vec<String>,
    pub(super) older_bytes: u64,
}

/// One tool result that was returned last.
#[derive(Debug)]
pub(super) struct OwnedToolResult {
    pub(super) tool: String,
    pub(super) text: String,
    pub(super) is_error: bool,
}

impl OwnedRequestView {
    /// Reads a request. Replies are counted in the transcript and not by the request's own number,
    /// so that a retry, a resume or a replay is the same request again.
    pub(super) fn from_request(request: &ModelRequest) -> Self {
        let segments = request.transcript.segments();
        let replies = segments.iter().filter(|segment| segment.kind == SegmentKind::Reply).count();
        let last = segments.back().map_or(0, |segment| {
            segment.blocks.iter().map(|block| block.raw().text().len() as u64).sum()
        });
        Self {
            older_bytes: request.transcript.byte_count().saturating_sub(last),
            ask: u32::try_from(replies).unwrap_or(u32::MAX).saturating_add(1),
            last_user_text: find_last_user_text(segments.iter().rev()),
            results: unanswered_results(segments.iter().rev()),
            tools: visible_tools(request),
        }
    }

    /// Calls `question` with the request as a script sees it.
    pub(super) fn with_view<T>(&self, question: impl FnOnce(&RequestView<'_>) -> T) -> T {
        let results: Vec<_> = self.results.iter().map(OwnedToolResult::as_view).collect();
        let tools: Vec<_> = self.tools.iter().map(String::as_str).collect();
        question(&RequestView {
            ask: self.ask,
            last_user_text: &self.last_user_text,
            results: &results,
            tools: &tools,
            older_bytes: self.older_bytes,
        })
    }
}

/// The names of the tools that a model sees: deferred ones once they are loaded.
fn visible_tools(request: &ModelRequest) -> Vec<String> {
    let tools = request.offered_tools(ToolLoading::ByRequest);
    tools.iter().map(|tool| tool.spec.name.to_string()).collect()
}

impl OwnedToolResult {
    fn as_view(&self) -> ToolResultView<'_> {
        ToolResultView { tool: &self.tool, text: &self.text, is_error: self.is_error }
    }

    fn new(block: &ContentBlock, tool: String) -> Self {
        let (text, is_error) = match block.raw().read::<ToolResultJson<'_>>() {
            Ok(result) => (result.text(), result.is_error.unwrap_or(false)),
            Err(_) => (block.raw().text().to_owned(), false),
        };
        Self { tool, text, is_error }
    }
}

/// The latest text in the user's role, whether a human or the runtime wrote it: a model cannot tell
/// them apart either.
fn find_last_user_text<'a>(
    mut newest_first: impl Iterator<Item = &'a TranscriptSegment>,
) -> String {
    newest_first.find_map(segment_user_text).unwrap_or_default()
}

/// Returns what was said in the user's role, without the marks of untrusted results: they belong to
/// the results. `None` if nothing else was said.
pub(super) fn without_result_marks(text: &str) -> Option<String> {
    let is_mark = |line: &&str| line.starts_with("[the result of ") && line.contains(UNTRUSTED);
    let kept: Vec<&str> = text.split('\n').filter(|line| !is_mark(line)).collect();
    (text.is_empty() || !kept.is_empty()).then(|| kept.join("\n"))
}

/// What every mark of an untrusted result contains.
const UNTRUSTED: &str = " is untrusted content from ";

fn segment_user_text(segment: &TranscriptSegment) -> Option<String> {
    let texts: Vec<&str> = match segment.role {
        Role::User => segment.blocks.iter().filter_map(ContentBlock::as_text).collect(),
        Role::Assistant => return None,
    };
    if texts.is_empty() { None } else { without_result_marks(&texts.join("\n")) }
}

/// The results that the model has not answered yet. A prompt after them ends their turn: the
/// request is about the prompt then.
fn unanswered_results<'a>(
    newest_first: impl Iterator<Item = &'a TranscriptSegment>,
) -> Vec<OwnedToolResult> {
    let mut segments = newest_first.skip_while(|segment| segment.kind == SegmentKind::Note);
    match (segments.next(), segments.next()) {
        (Some(results), Some(reply)) if results.kind == SegmentKind::Results => {
            pair_with_calls(reply, results)
        }
        _ => Vec::new(),
    }
}

fn pair_with_calls(reply: &TranscriptSegment, results: &TranscriptSegment) -> Vec<OwnedToolResult> {
    let viewed =
        |block: &ContentBlock| Some(OwnedToolResult::new(block, tool_for_result(reply, block)?));
    results.blocks.iter().filter_map(viewed).collect()
}

/// The tool that a result belongs to. Ids are unique within a round: the transcript accepts no
/// others.
fn tool_for_result(reply: &TranscriptSegment, block: &ContentBlock) -> Option<String> {
    let BlockKind::ToolResult { tool_use_id } = block.kind() else {
        return None;
    };
    let mut calls = reply.blocks.iter().filter_map(ContentBlock::as_tool_use);
    let call = calls.find(|call| call.id == *tool_use_id);
    Some(call.map(|call| call.name.to_string()).unwrap_or_default())
}

#[derive(Deserialize)]
struct ToolResultJson<'a> {
    #[serde(borrow)]
    content: Option<&'a RawValue>,
    is_error: Option<bool>,
}

#[derive(Deserialize)]
struct TextBlockJson<'a> {
    #[serde(borrow)]
    text: Option<Cow<'a, str>>,
    /// The tool that a reference loads: its name is what a script sees of it.
    #[serde(borrow)]
    tool_name: Option<Cow<'a, str>>,
}

impl ToolResultJson<'_> {
    fn text(&self) -> String {
        content_text(self.content)
    }
}

/// A string, the texts of a list of blocks, or the JSON itself where Rust cannot hold it.
pub(super) fn content_text(content: Option<&RawValue>) -> String {
    let json = content.map_or("\"\"", RawValue::get);
    let string = serde_json::from_str::<String>(json);
    string.or_else(|_| joined_texts(json)).unwrap_or_else(|_| json.to_owned())
}

fn joined_texts(json: &str) -> Result<String, serde_json::Error> {
    let blocks: Vec<TextBlockJson<'_>> = serde_json::from_str(json)?;
    let texts: Vec<_> =
        blocks.into_iter().filter_map(|block| block.text.or(block.tool_name)).collect();
    Ok(texts.join("\n"))
}
