//! `ToolSearch`: loads deferred tools when they are needed.
//!
//! Its result refers to the tools that it found; the core offers them from then on. Not here: which
//! tools are deferred.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;
use windlass_core::call::call_facts::CallFacts;
use windlass_core::call::outcome::{ToolError, ToolOutcome};
use windlass_core::message::loaded_tools::{TOOL_SEARCH, references_to};
use windlass_core::message::raw_json::RawJson;
use windlass_core::settings::conversation_settings::{Settings, ToolSpec};
use windlass_runtime::ports::{BoxFuture, CallContext, Tool};

use crate::tool_definition::tool_input::{self, ToolInput, problem_facts};
use crate::tool_definition::tool_spec::tool_spec;

#[cfg(test)]
#[path = "tool_search_tests.rs"]
mod tool_search_tests;

/// What the model is told.
const DESCRIPTION: &str = "Loads tools that are not offered yet, so that you can call them. Search with words (\"issue comment\"), require a word with + (\"+github issue\"), or name tools (\"select:mcp__github__create_issue,mcp__github__get_issue\"). Tools that were loaded can be called from the next reply on.";

/// How many tools a search loads if the call does not say.
const DEFAULT_RESULTS: usize = 5;

/// Maximum number of tools that one call loads.
const MAX_RESULTS: usize = 20;

/// Maximum number of characters of a query.
const MAX_QUERY_CHARS: usize = 2_000;

/// The prefix of a query that names tools.
const SELECT: &str = "select:";

/// What a word is worth that is a part of the name, occurs in it, in the description, or in the
/// schema.
const NAME_PART_SCORE: u32 = 8;
const NAME_SCORE: u32 = 4;
const DESCRIPTION_SCORE: u32 = 2;
const SCHEMA_SCORE: u32 = 1;

/// `ToolSearch`: loads deferred tools.
#[derive(Debug, Clone, Copy, Default)]
pub struct ToolSearchTool;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ToolSearchInput {
    /// Words to search for, or select: with names of tools
    query: String,
    /// Most tools to load; 5 if not given
    max_results: Option<usize>,
}

impl ToolInput for ToolSearchInput {
    fn validation_error(&self) -> Option<String> {
        let most = self.max_results.unwrap_or(DEFAULT_RESULTS);
        if self.query.trim().is_empty() {
            Some("the query is empty".to_owned())
        } else if self.query.chars().count() > MAX_QUERY_CHARS {
            Some(format!("the query has more than {MAX_QUERY_CHARS} characters"))
        } else if !(1..=MAX_RESULTS).contains(&most) {
            Some(format!("max_results must be between 1 and {MAX_RESULTS}"))
        } else {
            None
        }
    }
}

impl Tool for ToolSearchTool {
    fn spec(&self) -> ToolSpec {
        tool_spec::<ToolSearchInput>(TOOL_SEARCH, DESCRIPTION)
    }

    fn assess(&self, input: &RawJson) -> CallFacts {
        let facts = |asked: ToolSearchInput| tool_input::read_only_facts(Vec::new(), &asked.query);
        tool_input::read_input(input).map_or_else(problem_facts, facts)
    }

    fn run(&self, context: CallContext, input: RawJson) -> BoxFuture<'_, ToolOutcome> {
        let found = tool_input::read_input::<ToolSearchInput>(&input).and_then(|asked| {
            let settings = context.settings.ok_or_else(no_tools_error)?;
            find_tools(&settings, &asked)
        });
        let loads = |names: Vec<Arc<str>>| {
            ToolOutcome::Done(references_to(names.iter().map(|name| &**name)))
        };
        Box::pin(std::future::ready(found.map_or_else(ToolOutcome::Failed, loads)))
    }

    fn needs_workspace(&self) -> bool {
        false
    }
}

/// Returns the tools that the query finds, the best first.
fn find_tools(settings: &Settings, asked: &ToolSearchInput) -> Result<Vec<Arc<str>>, ToolError> {
    let deferred: Vec<&ToolSpec> =
        settings.tools.iter().filter(|tool| settings.is_deferred(&tool.name)).collect();
    if deferred.is_empty() {
        return Err(no_tools_error());
    }
    let most = asked.max_results.unwrap_or(DEFAULT_RESULTS);
    let found = match asked.query.trim().strip_prefix(SELECT) {
        Some(names) => select_tools(&deferred, names),
        None => rank_tools(&deferred, &asked.query, most),
    };
    if found.is_empty() {
        let message = format!("no tool matches {:?}", asked.query);
        let hint = "use other words, or names of the list in the description of ToolSearch";
        return Err(ToolError::new("no_such_tool", &message, hint));
    }
    Ok(found)
}

/// The tools of a list of names, as they are called or as they are named on their server.
fn select_tools(deferred: &[&ToolSpec], names: &str) -> Vec<Arc<str>> {
    let names = names.split(',').map(str::trim).filter(|name| !name.is_empty());
    let find = |name: &str| {
        let exact = deferred.iter().find(|tool| *tool.name == *name);
        let by_end = || {
            let mut ends = deferred.iter().filter(|tool| own_name(&tool.name) == name);
            // A name that two servers have means neither.
            ends.next().filter(|_| ends.next().is_none())
        };
        exact.or_else(by_end).map(|tool| tool.name.clone())
    };
    names.take(MAX_RESULTS).filter_map(find).collect()
}

/// The tools with the highest scores; those of one score in the order of the list.
fn rank_tools(deferred: &[&ToolSpec], query: &str, most: usize) -> Vec<Arc<str>> {
    let query = query.to_lowercase();
    let words: Vec<&str> = query.split_whitespace().collect();
    let (required, wanted): (Vec<&str>, Vec<&str>) =
        words.into_iter().partition(|word| word.starts_with('+'));
    let required: Vec<&str> = required
        .iter()
        .map(|word| word.trim_start_matches('+'))
        .filter(|w| !w.is_empty())
        .collect();
    let score = |tool: &&ToolSpec| {
        let text = SearchedText::new(tool);
        let has_all = required.iter().all(|word| text.score(word) > 0);
        let words = required.iter().chain(&wanted);
        let score: u32 = words.map(|word| text.score(word)).sum();
        (has_all && score > 0).then(|| (score, tool.name.clone()))
    };
    let mut found: Vec<_> = deferred.iter().filter_map(score).collect();
    found.sort_by_key(|(score, _)| std::cmp::Reverse(*score));
    found.into_iter().take(most).map(|(_, name)| name).collect()
}

/// A tool as it is searched.
struct SearchedText {
    name: String,
    name_parts: Vec<String>,
    description: String,
    arguments: String,
}

impl SearchedText {
    fn new(tool: &ToolSpec) -> Self {
        Self {
            name: tool.name.to_lowercase(),
            name_parts: name_parts(&tool.name),
            description: tool.description.to_lowercase(),
            arguments: argument_words(&tool.input_schema),
        }
    }

    fn score(&self, word: &str) -> u32 {
        if self.name_parts.iter().any(|part| part == word) {
            NAME_PART_SCORE
        } else if self.name.contains(word) {
            NAME_SCORE
        } else if self.description.contains(word) {
            DESCRIPTION_SCORE
        } else if self.arguments.contains(word) {
            SCHEMA_SCORE
        } else {
            0
        }
    }
}

/// The words of a name: `create_issue` and `createIssue` have two.
fn name_parts(name: &str) -> Vec<String> {
    let mut spaced = String::with_capacity(name.len());
    for c in name.chars() {
        if c.is_uppercase() {
            spaced.push(' ');
        }
        spaced.push(c);
    }
    let parts = spaced.split(|c: char| !c.is_alphanumeric()).filter(|part| !part.is_empty());
    parts.map(str::to_lowercase).collect()
}

/// The names and descriptions of the arguments.
fn argument_words(schema: &RawJson) -> String {
    let schema: Value = schema.read().unwrap_or_default();
    let Some(properties) = schema.get("properties").and_then(Value::as_object) else {
        return String::new();
    };
    let described = |(name, argument): (&String, &Value)| {
        let description = argument.get("description").and_then(Value::as_str).unwrap_or_default();
        format!("{name} {description}").to_lowercase()
    };
    properties.iter().map(described).collect::<Vec<_>>().join("\n")
}

/// The name of a tool on its server.
fn own_name(name: &str) -> &str {
    name.splitn(3, "__").nth(2).unwrap_or(name)
}

fn no_tools_error() -> ToolError {
    let message = "there are no deferred tools in this conversation";
    ToolError::new("no_such_tool", message, "call the tools that are offered")
}
