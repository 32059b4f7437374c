//! `ReadTool`: reads a page of a file, of whatever kind.

pub(super) mod bounded_lines;
pub(super) mod file_kind;
pub(super) mod image;
pub(super) mod notebook;
pub(super) mod page_range;
#[cfg(feature = "pdf")]
pub(super) mod pdf;
pub(super) mod text_page;

#[cfg(test)]
mod bounded_lines_tests;
#[cfg(test)]
mod text_page_tests;

use std::fs::File;

use schemars::JsonSchema;
use serde::Deserialize;
use windlass_core::call::call_facts::CallFacts;
use windlass_core::call::outcome::{ToolError, ToolOutcome};
use windlass_core::log::ids::LaneId;
use windlass_core::message::raw_json::RawJson;
use windlass_core::permission::{CallSubject, PathAccess};
use windlass_core::settings::conversation_settings::{Settings, ToolSpec};
use windlass_runtime::ports::{BoxFuture, CallContext, Tool};

use self::page_range::PageRange;
use self::text_page::LineRange;
use super::blocking_task::run_blocking;
use super::open_files;
use super::paths::resolved_path::ResolvedPath;
use super::write::content_hash;
use crate::limits::DEFAULT_PAGE_LINES;
use crate::tool_context::ToolContext;
use crate::tool_context::tool_state::ToolState;
use crate::tool_definition::tool_input::{self, ToolInput, problem_facts};
use crate::tool_definition::tool_spec::tool_spec;

/// Reads files: text a page at a time, images, pages of PDFs, notebooks.
#[derive(Debug, Clone)]
pub struct ReadTool {
    tool_context: ToolContext,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ReadInput {
    /// Path of the file: absolute, or relative to the workspace
    #[schemars(length(min = 1))]
    file_path: String,
    /// First line to read (first cell of a notebook), from 1
    #[schemars(range(min = 1))]
    offset: Option<u64>,
    /// Maximum number of lines or cells; default 2000
    #[schemars(range(min = 1))]
    limit: Option<u64>,
    /// Pages of a PDF, such as "3" or "1-5"; at most 20
    pages: Option<PageRange>,
    /// Ignored: a long file is always returned in pages
    #[serde(rename = "allow_large")]
    _allow_large: Option<bool>,
}

impl ToolInput for ReadInput {
    fn validation_error(&self) -> Option<String> {
        match (self.offset, self.limit) {
            (Some(0), _) => Some("offset must be at least 1".to_owned()),
            (_, Some(0)) => Some("limit must be at least 1".to_owned()),
            _ => tool_input::path_error("file_path", &self.file_path),
        }
    }
}

impl ReadInput {
    fn read_range(&self) -> file_kind::ReadRange {
        let lines = LineRange {
            first: self.offset.unwrap_or(1),
            count: self.limit.unwrap_or(DEFAULT_PAGE_LINES),
        };
        file_kind::ReadRange { lines, pages: self.pages }
    }
}

impl ReadTool {
    /// Returns a tool that reads files in `tool_context`; relative paths begin in its workspace.
    #[must_use]
    pub fn new(tool_context: impl Into<ToolContext>) -> Self {
        Self { tool_context: tool_context.into() }
    }

    fn tool_state(&self, lane: &LaneId) -> ToolState {
        self.tool_context.tool_state(lane)
    }

    fn call_facts(&self, asked: &ReadInput) -> CallFacts {
        // Links are resolved once, for the resource keys and for the permission subject.
        let uses = self.tool_context.zones().path_uses(&asked.file_path, PathAccess::Read);
        let keys = uses.iter().rev().map(|used| used.path.clone()).collect();
        tool_input::read_only_facts(keys, &asked.file_path).with_subject(CallSubject::Paths(uses))
    }
}

fn run_read(
    tool_context: &ToolContext,
    state: &ToolState,
    asked: &ReadInput,
) -> Result<RawJson, ToolError> {
    let resolved = tool_context.resolve_to_read(state, &asked.file_path)?;
    let file = resolved.open_file()?;
    let file = match tool_context.open_files() {
        Some(open_files) => open_files::with_shown_text(file, &resolved, open_files)?,
        None => file,
    };
    record_and_read(file, &resolved, state, asked.read_range())
}

/// Reads a file and records the hash of its contents.
pub(crate) fn read_and_record(
    resolved: &ResolvedPath,
    state: &ToolState,
    wanted: file_kind::ReadRange,
) -> Result<RawJson, ToolError> {
    record_and_read(resolved.open_file()?, resolved, state, wanted)
}

fn record_and_read(
    mut file: File,
    resolved: &ResolvedPath,
    state: &ToolState,
    wanted: file_kind::ReadRange,
) -> Result<RawJson, ToolError> {
    let refused =
        |error: std::io::Error| super::file_errors::file_error(&resolved.display_path, &error);
    // The hash is computed first: should the file change now, the page is newer than the recorded
    // hash, and an edit is rejected needlessly. The other way round an edit of an unread version
    // would be accepted.
    let hash = content_hash::hash_file(&mut file).map_err(refused)?;
    let content = file_kind::read_file(file, &resolved.display_path, wanted)?;
    if let Some(hash) = hash {
        // Without the record the file counts as not read, which an edit will report.
        state.record_read(&resolved.real_path(), &hash).unwrap_or_default();
    }
    Ok(content)
}

impl Tool for ReadTool {
    fn spec(&self) -> ToolSpec {
        tool_spec::<ReadInput>(
            "Read",
            "Reads a file. Returns text as numbered lines, long files in pages (continue with offset), images as images, PDFs by page, notebooks by cell.",
        )
    }

    fn assess(&self, input: &RawJson) -> CallFacts {
        tool_input::read_input(input).map_or_else(problem_facts, |asked| self.call_facts(&asked))
    }

    fn assess_in_lane(&self, lane: &LaneId, input: &RawJson) -> CallFacts {
        self.tool_context.allow_own_outputs(lane, self.assess(input))
    }

    fn assess_in_run(&self, lane: &LaneId, run: &Settings, input: &RawJson) -> CallFacts {
        Self { tool_context: self.tool_context.with_folders_of(run) }.assess_in_lane(lane, input)
    }

    fn run(&self, context: CallContext, input: RawJson) -> BoxFuture<'_, ToolOutcome> {
        let tool_context = self.tool_context.of_run(&context);
        let state = self.tool_state(&context.lane);
        run_blocking(move || run_read(&tool_context, &state, &tool_input::read_input(&input)?))
    }
}
