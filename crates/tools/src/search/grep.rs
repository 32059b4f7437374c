//! `GrepTool`: finds files by content.

use schemars::JsonSchema;
use serde::Deserialize;
use std::ops::ControlFlow;
use windlass_core::call::call_facts::CallFacts;
use windlass_core::call::outcome::{ToolError, ToolOutcome};
use windlass_core::log::ids::LaneId;
use windlass_core::message::raw_json::RawJson;
use windlass_core::settings::conversation_settings::{Settings, ToolSpec};
use windlass_runtime::ports::{BoxFuture, CallContext, Tool};

use super::file_walk::{WalkFilters, walk_files};
use super::grep_search::{GrepOutput, GrepSearch};
use super::patterns::{self, MatchOptions};
use super::result_lines::ResultLines;
use super::search_timeout::{StopFlag, run_search_with_timeout};
use crate::files::ResolvedPath;
use crate::limits::{DEFAULT_GREP_LINES, MAX_CONTEXT_LINES};
use crate::tool_context::ToolContext;
use crate::tool_context::tool_state::ToolState;
use crate::tool_definition::tool_input::{self, ToolInput, problem_facts};
use crate::tool_definition::tool_spec::tool_spec;

/// Finds files by content.
#[derive(Debug, Clone)]
pub struct GrepTool {
    tool_context: ToolContext,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct GrepInput {
    /// The regular expression to search for
    #[schemars(length(min = 1))]
    pattern: String,
    /// The file or folder to search; default: the workspace
    path: Option<String>,
    /// Only files whose path matches, such as "*.rs" or "!tests/**"
    glob: Option<String>,
    /// Only files of this type, such as rust, py, js, md
    #[serde(rename = "type")]
    kind: Option<String>,
    /// What to return: file paths (default), matching lines, or counts of matching lines
    output_mode: Option<GrepOutputMode>,
    /// Lines before each match; only with content
    #[serde(rename = "-B")]
    before: Option<u64>,
    /// Lines after each match; only with content
    #[serde(rename = "-A")]
    after: Option<u64>,
    /// Lines before and after each match; only with content
    #[serde(rename = "-C")]
    around: Option<u64>,
    /// Show line numbers; default true
    #[serde(rename = "-n")]
    numbers: Option<bool>,
    /// Ignore case
    #[serde(rename = "-i")]
    ignore_case: Option<bool>,
    /// Let matches span lines, and let a dot match line ends
    multiline: Option<bool>,
    /// Maximum number of lines or files; default 250, 0 for as many as fit
    head_limit: Option<u64>,
    /// Number of lines or files to skip first
    offset: Option<u64>,
}

/// What a search returns.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum GrepOutputMode {
    Content,
    FilesWithMatches,
    Count,
}

impl ToolInput for GrepInput {
    fn validation_error(&self) -> Option<String> {
        let glob = self.glob.as_deref().and_then(patterns::pattern_error);
        patterns::pattern_error(&self.pattern)
            .or_else(|| tool_input::path_error("path", self.search_path()))
            .or(glob)
    }
}

impl GrepInput {
    fn search_path(&self) -> &str {
        self.path.as_deref().unwrap_or(".")
    }

    fn match_options(&self) -> MatchOptions {
        MatchOptions {
            ignore_case: self.ignore_case == Some(true),
            multiline: self.multiline == Some(true),
        }
    }

    fn grep_output(&self) -> GrepOutput {
        let lines = |own: Option<u64>| {
            let lines = own.or(self.around).unwrap_or(0).min(MAX_CONTEXT_LINES);
            usize::try_from(lines).unwrap_or(0)
        };
        match self.output_mode.unwrap_or(GrepOutputMode::FilesWithMatches) {
            GrepOutputMode::FilesWithMatches => GrepOutput::Files,
            GrepOutputMode::Count => GrepOutput::Counts,
            GrepOutputMode::Content => GrepOutput::Lines {
                before: lines(self.before),
                after: lines(self.after),
                numbered: self.numbers != Some(false),
            },
        }
    }

    fn result_lines(&self) -> ResultLines {
        let number = |number: u64| usize::try_from(number).unwrap_or(usize::MAX);
        let remaining = match self.head_limit {
            None => DEFAULT_GREP_LINES,
            Some(0) => usize::MAX,
            Some(limit) => number(limit),
        };
        ResultLines::new(self.offset.map_or(0, number), remaining)
    }

    fn walk_filters(&self, resolved: &ResolvedPath) -> Result<WalkFilters, ToolError> {
        let root = resolved.real_path();
        let paths =
            self.glob.as_deref().map(|glob| patterns::path_filter(&root, glob)).transpose()?;
        let types = self.kind.as_deref().map(patterns::type_filter).transpose()?;
        Ok(WalkFilters { paths, types })
    }
}

impl GrepTool {
    /// Returns a tool that searches in `tool_context`.
    #[must_use]
    pub fn new(tool_context: impl Into<ToolContext>) -> Self {
        Self { tool_context: tool_context.into() }
    }
}

fn run_grep(
    tool_context: &ToolContext,
    state: &ToolState,
    asked: &GrepInput,
    stop: &StopFlag,
) -> Result<RawJson, ToolError> {
    let matcher = patterns::content_regex(&asked.pattern, asked.match_options())?;
    let resolved = tool_context.resolve_to_search(state, asked.search_path())?;
    let mut matches =
        GrepSearch::new(matcher, asked.grep_output(), asked.match_options(), asked.result_lines());
    let mut unreadable = 0;
    let mut left_out =
        walk_files(tool_context, &resolved, asked.walk_filters(&resolved)?, stop, |entry| {
            // Opened as the path it was found at; a link swapped in is rejected.
            let opened = resolved.join_beneath(entry.path()).and_then(|file| file.open_file().ok());
            let searched =
                opened.map(|file| matches.search_file(stop.stoppable_reader(file), entry));
            if !matches!(searched, Some(Ok(()))) {
                unreadable += 1;
            }
            if matches.is_full() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
    left_out.unreadable += unreadable;
    // The result already says that there is more.
    left_out.is_incomplete &= !matches.is_full();
    Ok(RawJson::string(&matches.finish(&left_out.to_note())))
}

impl Tool for GrepTool {
    fn spec(&self) -> ToolSpec {
        tool_spec::<GrepInput>(
            "Grep",
            "Searches file contents with a regular expression (Rust syntax). Respects .gitignore and skips binary files.",
        )
    }

    fn assess(&self, input: &RawJson) -> CallFacts {
        let facts = |asked: GrepInput| {
            let text = format!("{} in {}", asked.pattern, asked.search_path());
            let subject = self.tool_context.read_subject(asked.search_path());
            tool_input::read_only_facts(self.tool_context.resource_keys(asked.search_path()), &text)
                .with_subject(subject)
        };
        tool_input::read_input(input).map_or_else(problem_facts, facts)
    }

    fn assess_in_lane(&self, lane: &LaneId, input: &RawJson) -> CallFacts {
        self.tool_context.allow_own_outputs(lane, self.assess(input))
    }

    fn assess_in_run(&self, lane: &LaneId, run: &Settings, input: &RawJson) -> CallFacts {
        Self { tool_context: self.tool_context.with_folders_of(run) }.assess_in_lane(lane, input)
    }

    fn run(&self, context: CallContext, input: RawJson) -> BoxFuture<'_, ToolOutcome> {
        let tool_context = self.tool_context.of_run(&context);
        let state = tool_context.tool_state(&context.lane);
        let search = move |stop: &StopFlag| {
            run_grep(&tool_context, &state, &tool_input::read_input(&input)?, stop)
        };
        Box::pin(run_search_with_timeout(self.tool_context.clock().as_ref(), search))
    }
}
