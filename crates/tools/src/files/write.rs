//! `WriteTool`: writes the whole contents of a file.

pub(crate) mod atomic_write;
pub(crate) mod content_hash;
pub(super) mod encoding;
pub(super) mod patch;
pub(super) mod text_replacement;
pub(super) mod write_intent;
pub(crate) mod write_target;

#[cfg(test)]
mod atomic_write_tests;
#[cfg(test)]
mod encoding_tests;
#[cfg(test)]
mod patch_tests;

use schemars::JsonSchema;
use serde::Deserialize;
use windlass_core::call::call_facts::CallFacts;
use windlass_core::call::outcome::{ToolError, ToolOutcome};
use windlass_core::log::ids::LaneId;
use windlass_core::log::input::ProbeResult;
use windlass_core::message::raw_json::RawJson;
use windlass_core::settings::conversation_settings::{Settings, ToolSpec};
use windlass_runtime::ports::{BoxFuture, CallContext, Tool};

use self::encoding::{LineEndings, TextEncoding};
use self::write_target::FileSnapshot;
use super::blocking_task::run_blocking;
use super::paths::resolved_path::ResolvedPath;
use crate::limits::MAX_EDIT_BYTES;
use crate::tool_context::ToolContext;
use crate::tool_definition::tool_input::{self, ToolInput, problem_facts};
use crate::tool_definition::tool_spec::tool_spec;

/// Writes files.
#[derive(Debug, Clone)]
pub struct WriteTool {
    tool_context: ToolContext,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct WriteInput {
    /// Path of the file: absolute, or relative to the workspace
    #[schemars(length(min = 1))]
    file_path: String,
    /// The full content of the file
    content: String,
}

impl ToolInput for WriteInput {
    fn validation_error(&self) -> Option<String> {
        if self.content.len() as u64 > MAX_EDIT_BYTES {
            return Some(format!("the content has more than {MAX_EDIT_BYTES} bytes"));
        }
        tool_input::path_error("file_path", &self.file_path)
    }
}

impl WriteTool {
    /// Returns a tool that writes files in `tool_context`; relative paths begin in its workspace.
    #[must_use]
    pub fn new(tool_context: impl Into<ToolContext>) -> Self {
        Self { tool_context: tool_context.into() }
    }
}

fn run_write(
    tool_context: &ToolContext,
    context: &CallContext,
    asked: &WriteInput,
) -> Result<ToolOutcome, ToolError> {
    let resolved = write_target::resolve_writable(tool_context.zones(), &asked.file_path)?;
    let state = tool_context.tool_state(&context.lane);
    let before = write_target::read_shown_snapshot(tool_context, &resolved)?;
    if let Some(before) = &before {
        write_target::check_was_read(&state, &resolved, before)?;
    }
    let bytes = encode_content(&resolved, before.as_ref(), asked.content.as_bytes())?;
    write_intent::write_with_intent(tool_context, context, &resolved, before.as_ref(), &bytes)?;
    let done = if before.is_some() { "updated" } else { "created" };
    let lines = match asked.content.lines().count() {
        1 => "1 line".to_owned(),
        lines => format!("{lines} lines"),
    };
    let content = RawJson::string(&format!("{done} {} ({lines})", resolved.display_path.display()));
    Ok(match before {
        Some(before) => ToolOutcome::DoneWithDetail {
            content,
            detail: patch::encode_patch(&before.bytes, &bytes),
        },
        None => ToolOutcome::Done(content),
    })
}

/// Encodes the content as the file was encoded.
fn encode_content(
    resolved: &ResolvedPath,
    before: Option<&FileSnapshot>,
    content: &[u8],
) -> Result<Vec<u8>, ToolError> {
    let Some(before) = before else { return Ok(content.to_vec()) };
    let encoding = TextEncoding::detect(&before.bytes);
    let text = encoding.decode(&before.bytes).ok_or_else(|| encoding_error(resolved))?;
    let ended = LineEndings::detect(&text).apply(content);
    // A byte order mark that the model writes itself must not be duplicated.
    let own_mark = ended.strip_prefix("\u{feff}".as_bytes());
    let unmarked = own_mark.filter(|_| encoding != TextEncoding::Plain).unwrap_or(&ended);
    encoding.encode(unmarked).ok_or_else(|| encoding_error(resolved))
}

pub(crate) fn encoding_error(resolved: &ResolvedPath) -> ToolError {
    ToolError::new(
        "encoding",
        &format!(
            "{} is UTF-16, and this text cannot be encoded in it",
            resolved.display_path.display()
        ),
        "send plain Unicode text",
    )
}

impl Tool for WriteTool {
    fn spec(&self) -> ToolSpec {
        tool_spec::<WriteInput>(
            "Write",
            "Writes a file, creating missing folders. An existing file must have been read first and is replaced; use Edit to change a part.",
        )
    }

    fn assess(&self, input: &RawJson) -> CallFacts {
        let facts = |asked: WriteInput| {
            write_intent::write_call_facts(&self.tool_context, &asked.file_path)
        };
        tool_input::read_input(input).map_or_else(problem_facts, facts)
    }

    fn assess_in_run(&self, lane: &LaneId, run: &Settings, input: &RawJson) -> CallFacts {
        Self { tool_context: self.tool_context.with_folders_of(run) }.assess_in_lane(lane, input)
    }

    fn run(&self, context: CallContext, input: RawJson) -> BoxFuture<'_, ToolOutcome> {
        let tool_context = self.tool_context.of_run(&context);
        run_blocking(move || run_write(&tool_context, &context, &tool_input::read_input(&input)?))
    }

    fn probe(&self, context: CallContext, input: RawJson) -> BoxFuture<'_, ProbeResult> {
        let tool_context = self.tool_context.of_run(&context);
        let path = tool_input::read_input(&input).map(|asked: WriteInput| asked.file_path);
        let found = path.map(|path| write_intent::probe_change(&tool_context, &context, &path));
        Box::pin(std::future::ready(found.unwrap_or(ProbeResult::Unknown {})))
    }
}
