//! `EditTool`: replaces a text in a file.

use schemars::JsonSchema;
use serde::Deserialize;
use windlass_core::call::call_facts::CallFacts;
use windlass_core::call::outcome::{ToolError, ToolOutcome};
use windlass_core::log::ids::LaneId;
use windlass_core::log::input::ProbeResult;
use windlass_core::message::raw_json::RawJson;
use windlass_core::settings::conversation_settings::{Settings, ToolSpec};
use windlass_runtime::ports::{BoxFuture, CallContext, Tool};

use super::blocking_task::run_blocking;
use super::file_errors;
use super::paths::resolved_path::ResolvedPath;
use super::write::encoding::{LineEndings, TextEncoding};
use super::write::patch;
use super::write::text_replacement::{self, TextReplacement};
use super::write::write_intent;
use super::write::write_target;
use crate::limits::MAX_EDIT_BYTES;
use crate::tool_context::ToolContext;
use crate::tool_definition::tool_input::{self, ToolInput, problem_facts};
use crate::tool_definition::tool_spec::tool_spec;

/// Edits files.
#[derive(Debug, Clone)]
pub struct EditTool {
    tool_context: ToolContext,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct EditInput {
    /// Path of the file: absolute, or relative to the workspace
    #[schemars(length(min = 1))]
    file_path: String,
    /// The text to replace, exactly as in the file, without line numbers
    #[schemars(length(min = 1))]
    old_string: String,
    /// The replacement
    new_string: String,
    /// Replace every occurrence; otherwise the text must occur once
    #[serde(default)]
    replace_all: bool,
}

impl ToolInput for EditInput {
    fn validation_error(&self) -> Option<String> {
        match self.old_string == self.new_string {
            _ if self.old_string.is_empty() => {
                Some("the old_string is empty; use Write for a new file".to_owned())
            }
            true => Some("old_string and new_string are the same".to_owned()),
            false => tool_input::path_error("file_path", &self.file_path),
        }
    }
}

impl EditTool {
    /// Returns a tool that edits files in `tool_context`; relative paths begin in its workspace.
    #[must_use]
    pub fn new(tool_context: impl Into<ToolContext>) -> Self {
        Self { tool_context: tool_context.into() }
    }
}

fn run_edit(
    tool_context: &ToolContext,
    context: &CallContext,
    asked: &EditInput,
) -> Result<ToolOutcome, ToolError> {
    let resolved = write_target::resolve_writable(tool_context.zones(), &asked.file_path)?;
    let state = tool_context.tool_state(&context.lane);
    let before = write_target::read_shown_snapshot(tool_context, &resolved)?
        .ok_or_else(|| file_errors::not_found_error(&resolved.display_path))?;
    write_target::check_was_read(&state, &resolved, &before)?;
    let (bytes, text) = edited_contents(&resolved, &before.bytes, asked)?;
    write_intent::write_with_intent(tool_context, context, &resolved, Some(&before), &bytes)?;
    let detail = patch::encode_patch(&before.bytes, &bytes);
    Ok(ToolOutcome::DoneWithDetail { content: RawJson::string(&text), detail })
}

/// Returns the new contents in the encoding and with the line endings of the old ones, and the
/// report for the model.
fn edited_contents(
    resolved: &ResolvedPath,
    bytes: &[u8],
    asked: &EditInput,
) -> Result<(Vec<u8>, String), ToolError> {
    let encoding = TextEncoding::detect(bytes);
    let text = encoding.decode(bytes).ok_or_else(|| super::write::encoding_error(resolved))?;
    let endings = LineEndings::detect(&text);
    let wish = TextReplacement {
        old: &endings.to_lf(asked.old_string.as_bytes()),
        new: &endings.to_lf(asked.new_string.as_bytes()),
        replace_all: asked.replace_all,
    };
    let done = text_replacement::replace_text(&endings.to_lf(&text), wish)
        .map_err(|found| found.to_tool_error(&resolved.display_path, endings))?;
    let bytes = encoding.encode(&endings.apply(&done.text));
    let bytes = bytes.ok_or_else(|| super::write::encoding_error(resolved))?;
    match bytes.len() as u64 > MAX_EDIT_BYTES {
        true => {
            Err(super::read::file_kind::too_large_error(&resolved.display_path, MAX_EDIT_BYTES))
        }
        false => Ok((bytes, done.report(&resolved.display_path))),
    }
}

impl Tool for EditTool {
    fn spec(&self) -> ToolSpec {
        tool_spec::<EditInput>(
            "Edit",
            "Replaces text in a file. The file must have been read first. old_string must match exactly, and only once unless replace_all is set.",
        )
    }

    fn assess(&self, input: &RawJson) -> CallFacts {
        let facts =
            |asked: EditInput| write_intent::write_call_facts(&self.tool_context, &asked.file_path);
        tool_input::read_input(input).map_or_else(problem_facts, facts)
    }

    fn assess_in_run(&self, lane: &LaneId, run: &Settings, input: &RawJson) -> CallFacts {
        Self { tool_context: self.tool_context.with_folders_of(run) }.assess_in_lane(lane, input)
    }

    fn run(&self, context: CallContext, input: RawJson) -> BoxFuture<'_, ToolOutcome> {
        let tool_context = self.tool_context.of_run(&context);
        run_blocking(move || run_edit(&tool_context, &context, &tool_input::read_input(&input)?))
    }

    fn probe(&self, context: CallContext, input: RawJson) -> BoxFuture<'_, ProbeResult> {
        let tool_context = self.tool_context.of_run(&context);
        let path = tool_input::read_input(&input).map(|asked: EditInput| asked.file_path);
        let found = path.map(|path| write_intent::probe_change(&tool_context, &context, &path));
        Box::pin(std::future::ready(found.unwrap_or(ProbeResult::Unknown {})))
    }
}
