//! How a tool call is shown: title, kind, locations, content.

use std::path::{Path, PathBuf};

use agent_client_protocol::v1::schema::{
    Content, ContentBlock, Diff, ImageContent, PlanEntry, PlanEntryPriority, PlanEntryStatus,
    TextContent, ToolCallContent, ToolCallLocation, ToolKind,
};
use serde_json::Value;

/// Maximum number of characters of a title.
const MAX_TITLE_CHARS: usize = 200;

/// Maximum bytes of a text that is shown, from its beginning and from its end each.
const MAX_SHOWN_BYTES: usize = 32 << 10;

/// Maximum number of entries of a task list that are shown.
const MAX_PLAN_ENTRIES: usize = 200;

/// What is shown of a call.
#[derive(Debug, Clone)]
pub(crate) struct ToolCallView {
    pub(crate) title: String,
    pub(crate) kind: ToolKind,
    pub(crate) locations: Vec<ToolCallLocation>,
    pub(crate) content: Vec<ToolCallContent>,
}

impl ToolCallView {
    /// Describes the call of a tool with this input, in this folder.
    pub(crate) fn new(tool: &str, input: &Value, folder: &Path) -> Self {
        let text = |name: &str| input.get(name).and_then(Value::as_str).unwrap_or_default();
        let path = |name: &str| absolute(text(name), folder);
        let view = |kind, title: String| Self {
            title: one_line(&title),
            kind,
            locations: Vec::new(),
            content: Vec::new(),
        };
        match tool {
            "Read" => {
                view(ToolKind::Read, read_title(input)).at(path("file_path"), first_line(input))
            }
            "Edit" => view(ToolKind::Edit, format!("Edit {}", text("file_path")))
                .at(path("file_path"), None)
                .showing(diff(path("file_path"), Some(text("old_string")), text("new_string"))),
            "Write" => view(ToolKind::Edit, format!("Write {}", text("file_path")))
                .at(path("file_path"), None)
                .showing(diff(path("file_path"), None, text("content"))),
            "Bash" => view(ToolKind::Execute, text("command").to_owned())
                .showing(text_content(&command_text(text("command"), text("description")))),
            "TaskOutput" | "TaskStop" => view(ToolKind::Execute, tool.to_owned()),
            "Glob" | "Grep" => {
                view(ToolKind::Search, search_title(tool, input)).at_folder(text("path"), folder)
            }
            "WebFetch" => view(ToolKind::Fetch, format!("Fetch {}", text("url"))),
            "WebSearch" => view(ToolKind::Fetch, format!("Search for {}", text("query"))),
            "Agent" => view(ToolKind::Think, format!("Agent: {}", text("description")))
                .showing(text_content(text("prompt"))),
            "ExitPlanMode" => {
                view(ToolKind::SwitchMode, "Plan".to_owned()).showing(text_content(text("plan")))
            }
            _ => view(ToolKind::Other, other_title(tool)),
        }
    }

    fn at(mut self, path: Option<PathBuf>, line: Option<u32>) -> Self {
        let location = path.map(|path| ToolCallLocation::new(path).line(line));
        self.locations.extend(location);
        self
    }

    fn at_folder(self, path: &str, folder: &Path) -> Self {
        let path = absolute(path, folder);
        self.at(path, None)
    }

    fn showing(mut self, content: Option<ToolCallContent>) -> Self {
        self.content.extend(content);
        self
    }
}

/// Returns the task list that a call of `TodoWrite` sets.
pub(crate) fn plan_entries(input: &Value) -> Vec<PlanEntry> {
    let todos = input.get("todos").and_then(Value::as_array).into_iter().flatten();
    todos.take(MAX_PLAN_ENTRIES).filter_map(plan_entry).collect()
}

fn plan_entry(todo: &Value) -> Option<PlanEntry> {
    let text = |name: &str| todo.get(name).and_then(Value::as_str);
    let status = match text("status")? {
        "in_progress" => PlanEntryStatus::InProgress,
        "completed" => PlanEntryStatus::Completed,
        _ => PlanEntryStatus::Pending,
    };
    let words = match status {
        PlanEntryStatus::InProgress => text("activeForm").or(text("content")),
        _ => text("content"),
    };
    Some(PlanEntry::new(words?, PlanEntryPriority::Medium, status))
}

/// Returns a result as it is shown: its text, and its images.
pub(crate) fn result_content(tool: &str, result: &Value) -> Vec<ToolCallContent> {
    let fence = |text: &str| match tool {
        "Bash" | "TaskOutput" => format!("```console\n{}\n```", shorten(text).trim_end()),
        _ => shorten(text),
    };
    match result {
        Value::String(text) => text_content(&fence(text)).into_iter().collect(),
        Value::Array(blocks) => blocks.iter().filter_map(result_block).collect(),
        _ => Vec::new(),
    }
}

fn result_block(block: &Value) -> Option<ToolCallContent> {
    if let Some(text) = block.get("text").and_then(Value::as_str) {
        return text_content(&shorten(text));
    }
    let image = image_content(block)?;
    Some(ToolCallContent::Content(Content::new(ContentBlock::Image(image))))
}

/// Reads an image block of the Messages API.
pub(crate) fn image_content(block: &Value) -> Option<ImageContent> {
    let source =
        block.get("source").filter(|_| block.get("type") == Some(&Value::from("image")))?;
    let text = |name: &str| source.get(name).and_then(Value::as_str);
    Some(ImageContent::new(text("data")?, text("media_type")?))
}

/// Returns content of text; nothing if there is none.
pub(crate) fn text_content(text: &str) -> Option<ToolCallContent> {
    let is_empty = text.trim().is_empty();
    let block = || ContentBlock::Text(TextContent::new(text));
    (!is_empty).then(|| ToolCallContent::Content(Content::new(block())))
}

/// Shortens a long text in its middle.
pub(crate) fn shorten(text: &str) -> String {
    if text.len() <= 2 * MAX_SHOWN_BYTES {
        return text.to_owned();
    }
    let head = text.get(..text.floor_char_boundary(MAX_SHOWN_BYTES)).unwrap_or_default();
    let tail_at = text.ceil_char_boundary(text.len().saturating_sub(MAX_SHOWN_BYTES));
    let tail = text.get(tail_at..).unwrap_or_default();
    format!("{head}\n[{} bytes are not shown]\n{tail}", tail_at.saturating_sub(head.len()))
}

fn diff(path: Option<PathBuf>, old: Option<&str>, new: &str) -> Option<ToolCallContent> {
    let old = old.map(str::to_owned);
    Some(ToolCallContent::Diff(Diff::new(path?, new).old_text(old)))
}

/// Returns the change that `Write` is about to make, with what it replaces.
pub(crate) fn replacing_diff(input: &Value, folder: &Path) -> Option<ToolCallContent> {
    let text = |name: &str| input.get(name).and_then(Value::as_str);
    let path = absolute(text("file_path")?, folder)?;
    let is_small = std::fs::metadata(&path)
        .is_ok_and(|file| file.is_file() && file.len() <= MAX_COMPARED_BYTES);
    let old = is_small.then(|| std::fs::read_to_string(&path).ok()).flatten();
    diff(Some(path), old.as_deref(), text("content")?)
}

/// Returns the change that a call has made, from the patch that is recorded with its result.
pub(crate) fn patch_diff(object: Option<&Value>, folder: &Path) -> Option<ToolCallContent> {
    let object = object?;
    let path = absolute(object.get("filePath").and_then(Value::as_str)?, folder)?;
    let hunks = object.get("structuredPatch").and_then(Value::as_array)?;
    let lines = || {
        let of_hunk = |hunk: &'_ Value| hunk.get("lines").and_then(Value::as_array).cloned();
        hunks.iter().filter_map(of_hunk).flatten()
    };
    let side = |left_out: char| {
        let kept = lines().filter_map(|line| {
            let line = line.as_str()?;
            (!line.starts_with([left_out, '\\']))
                .then(|| line.get(1..).unwrap_or_default().to_owned())
        });
        kept.collect::<Vec<String>>().join("\n")
    };
    (!hunks.is_empty()).then(|| side('+')).and_then(|old| diff(Some(path), Some(&old), &side('-')))
}

/// Maximum size of a file that is compared with what would be written, in bytes.
const MAX_COMPARED_BYTES: u64 = 1 << 20;

/// The whole command, with what the model says about it.
fn command_text(command: &str, description: &str) -> String {
    let is_short = !command.contains('\n') && command.chars().count() <= MAX_TITLE_CHARS;
    match (is_short, description.is_empty()) {
        (true, _) => description.to_owned(),
        (false, true) => format!("```sh\n{command}\n```"),
        (false, false) => format!("{description}\n```sh\n{command}\n```"),
    }
}

fn read_title(input: &Value) -> String {
    let number = |name: &str| input.get(name).and_then(Value::as_u64);
    let path = input.get("file_path").and_then(Value::as_str).unwrap_or_default();
    match (number("offset"), number("limit")) {
        (None, None) => format!("Read {path}"),
        (first, None) => format!("Read {path} (from line {})", first.unwrap_or(1)),
        (first, Some(count)) => {
            let first = first.unwrap_or(1);
            format!(
                "Read {path} (lines {first} to {})",
                first.saturating_add(count).saturating_sub(1)
            )
        }
    }
}

fn first_line(input: &Value) -> Option<u32> {
    input.get("offset").and_then(Value::as_u64).and_then(|line| u32::try_from(line).ok())
}

fn search_title(tool: &str, input: &Value) -> String {
    let text = |name: &str| input.get(name).and_then(Value::as_str);
    let pattern = text("pattern").unwrap_or_default();
    match text("path") {
        Some(path) => format!("{tool} {pattern} in {path}"),
        None => format!("{tool} {pattern}"),
    }
}

/// The title of a tool of an MCP server, or of an application.
fn other_title(tool: &str) -> String {
    match tool.strip_prefix("mcp__").and_then(|rest| rest.split_once("__")) {
        Some((server, name)) => format!("{server}: {name}"),
        None => tool.to_owned(),
    }
}

fn absolute(path: &str, folder: &Path) -> Option<PathBuf> {
    (!path.is_empty()).then(|| folder.join(path))
}

/// Makes one line of a text that fits into a title.
fn one_line(text: &str) -> String {
    let line: String = text
        .trim()
        .chars()
        .map(|c| if c.is_control() { ' ' } else { c })
        .take(MAX_TITLE_CHARS)
        .collect();
    match text.trim().chars().count() > MAX_TITLE_CHARS {
        true => format!("{line}…"),
        false => line,
    }
}
