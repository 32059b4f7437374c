//! `GlobTool`: finds files by name, the newest first.

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use schemars::JsonSchema;
use serde::Deserialize;
use windlass_core::call::call_facts::CallFacts;
use windlass_core::call::outcome::{ToolError, ToolOutcome};
use windlass_core::log::ids::LaneId;
use windlass_core::message::raw_json::RawJson;
use windlass_core::settings::conversation_settings::{Settings, ToolSpec};
use windlass_runtime::ports::{BoxFuture, CallContext, Tool};

use super::file_walk::{WalkFilters, walk_files};
use super::patterns;
use super::result_lines::{ResultLines, display_path};
use super::search_timeout::{StopFlag, run_search_with_timeout};
use crate::limits::{MAX_GLOB_RESULTS, MAX_SEARCH_CANDIDATES};
use crate::tool_context::ToolContext;
use crate::tool_definition::tool_input::{self, ToolInput, problem_facts};
use crate::tool_definition::tool_spec::tool_spec;

/// Finds files by name.
#[derive(Debug, Clone)]
pub struct GlobTool {
    tool_context: ToolContext,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct GlobInput {
    /// Glob pattern for paths below the folder, such as "src/**/*.rs" or "*.toml"
    #[schemars(length(min = 1))]
    pattern: String,
    /// The folder to search; default: the workspace
    path: Option<String>,
}

impl ToolInput for GlobInput {
    fn validation_error(&self) -> Option<String> {
        let leads_away = |part: &str| part == "..";
        match Path::new(&self.pattern) {
            pattern if pattern.is_absolute() || self.pattern.split('/').any(leads_away) => {
                Some("the pattern leads out of the folder; pass the folder as path".to_owned())
            }
            _ => patterns::pattern_error(&self.pattern)
                .or_else(|| tool_input::path_error("path", self.folder_path())),
        }
    }
}

impl GlobInput {
    fn folder_path(&self) -> &str {
        self.path.as_deref().unwrap_or(".")
    }
}

impl GlobTool {
    /// Returns a tool that searches in `tool_context`.
    #[must_use]
    pub fn new(tool_context: impl Into<ToolContext>) -> Self {
        Self { tool_context: tool_context.into() }
    }
}

fn run_glob(
    tool_context: &ToolContext,
    asked: &GlobInput,
    stop: &StopFlag,
) -> Result<RawJson, ToolError> {
    let names = patterns::path_glob(&asked.pattern)?;
    let resolved = tool_context.resolve_search_folder(asked.folder_path())?;
    let root = resolved.real_path();
    let mut files: Vec<(SystemTime, PathBuf)> = Vec::new();
    let left_out = walk_files(tool_context, &resolved, WalkFilters::default(), stop, |entry| {
        let below = entry.path().strip_prefix(&root).unwrap_or(entry.path());
        if names.is_match(below) {
            let changed = entry.metadata().ok().and_then(|found| found.modified().ok());
            files.push((changed.unwrap_or(SystemTime::UNIX_EPOCH), entry.path().to_owned()));
        }
        if files.len() < MAX_SEARCH_CANDIDATES {
            ControlFlow::Continue(())
        } else {
            ControlFlow::Break(())
        }
    });
    files.sort_by(|(a, x), (b, y)| b.cmp(a).then_with(|| x.cmp(y)));
    let mut found = ResultLines::new(0, MAX_GLOB_RESULTS);
    for (_, path) in &files {
        if !found.push(&display_path(path)) {
            break;
        }
    }
    Ok(RawJson::string(&found.finish("no files found", &left_out.to_note())))
}

impl Tool for GlobTool {
    fn spec(&self) -> ToolSpec {
        tool_spec::<GlobInput>(
            "Glob",
            "Finds files whose path matches a glob pattern, newest first. Respects .gitignore.",
        )
    }

    fn assess(&self, input: &RawJson) -> CallFacts {
        let facts = |asked: GlobInput| {
            let text = format!("{} in {}", asked.pattern, asked.folder_path());
            let subject = self.tool_context.read_subject(asked.folder_path());
            tool_input::read_only_facts(self.tool_context.resource_keys(asked.folder_path()), &text)
                .with_subject(subject)
        };
        tool_input::read_input(input).map_or_else(problem_facts, facts)
    }

    fn assess_in_run(&self, lane: &LaneId, run: &Settings, input: &RawJson) -> CallFacts {
        Self { tool_context: self.tool_context.with_folders_of(run) }.assess_in_lane(lane, input)
    }

    fn run(&self, context: CallContext, input: RawJson) -> BoxFuture<'_, ToolOutcome> {
        let tool_context = self.tool_context.of_run(&context);
        let search =
            move |stop: &StopFlag| run_glob(&tool_context, &tool_input::read_input(&input)?, stop);
        Box::pin(run_search_with_timeout(self.tool_context.clock().as_ref(), search))
    }
}
