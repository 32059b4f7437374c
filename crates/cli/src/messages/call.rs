//! A call with all of its arguments, the most important first; file changes as a diff.

use std::path::Path;

use serde_json::{Map, Value};
use windlass::core::message::content_block::ToolUse;
use windlass::tools::{DiffHunk, diff_hunks};

use crate::messages::model_question::parse_model_questions;
use crate::messages::task_list::task_summary;
use crate::terminal::escape_invisible;

#[cfg(test)]
#[path = "call_tests.rs"]
mod call_tests;

/// Maximum size of a file that is compared with what would be written.
const MAX_DIFF_BYTES: u64 = 4 * 1024 * 1024;

/// The summary of a call for its line: the most important argument, or all of them.
pub(crate) fn call_summary(call: &ToolUse) -> String {
    let special = match &*call.name {
        "TodoWrite" => task_summary(&call.input),
        "AskUserQuestion" => question_summary(call),
        "ExitPlanMode" => Some("the plan".to_owned()),
        _ => None,
    };
    let input = parse_arguments(call);
    let main = ["command", "file_path", "pattern", "path", "prompt", "question", "url"];
    let main = || main.iter().find_map(|name| input.get(*name).and_then(Value::as_str));
    let named = |(name, value): (&String, &Value)| match value {
        Value::String(text) => format!("{name}: {text}"),
        other => format!("{name}: {other}"),
    };
    special
        .or_else(|| main().map(str::to_owned))
        .or_else(|| {
            (!input.is_empty()).then(|| input.iter().map(named).collect::<Vec<_>>().join(", "))
        })
        .unwrap_or_else(|| match call.input.text() {
            "{}" => String::new(),
            raw => raw.to_owned(),
        })
}

fn question_summary(call: &ToolUse) -> Option<String> {
    let questions = parse_model_questions(&call.input);
    let texts: Vec<&str> = questions.iter().map(|question| question.question.trim()).collect();
    (!texts.is_empty()).then(|| texts.join("; "))
}

/// What the call would do, as the beginning of a question: `Allow Write to a.txt?`
pub(crate) fn approval_title(call: &ToolUse) -> String {
    let input = parse_arguments(call);
    let text = |name: &str| input.get(name).and_then(Value::as_str).map(visible_line);
    let tool = visible_line(&call.name);
    match (&*call.name, text("file_path"), text("command")) {
        ("Bash", _, Some(_)) => "Allow Bash to run this command?".to_owned(),
        ("Write", Some(path), _) => format!("Allow Write to {path}?"),
        ("Edit", Some(path), _) => format!("Allow Edit of {path}?"),
        (_, Some(path), _) => format!("Allow {tool} of {path}?"),
        _ => format!("Allow {tool} with these arguments?"),
    }
}

/// All arguments of the call, in lines. `folder` is the base of relative paths, if files may be
/// read.
pub(crate) fn call_details(call: &ToolUse, folder: Option<&Path>) -> Vec<String> {
    let mut input = parse_arguments(call);
    if input.is_empty() {
        let raw = call.input.text();
        return if raw.trim() == "{}" { Vec::new() } else { indent_block(raw) };
    }
    let mut lines = Vec::new();
    match &*call.name {
        "Write" => lines.extend(write_preview(&mut input, folder)),
        "Edit" => lines.extend(edit_preview(&mut input, folder)),
        _ => {}
    }
    for main in ["command", "prompt", "query"] {
        if let Some(Value::String(text)) = input.get(main).cloned() {
            input.remove(main);
            lines.extend(indent_block(&text));
            break;
        }
    }
    for (name, value) in input {
        lines.extend(argument_lines(&name, &value));
    }
    lines
}

fn parse_arguments(call: &ToolUse) -> Map<String, Value> {
    call.input.read::<Map<String, Value>>().unwrap_or_default()
}

fn visible_line(text: &str) -> String {
    escape_invisible(text).replace('\n', "\\n")
}

fn indent_block(text: &str) -> Vec<String> {
    escape_invisible(text).split('\n').map(|line| format!("    {line}")).collect()
}

fn argument_lines(name: &str, value: &Value) -> Vec<String> {
    let name = visible_line(name);
    match value {
        Value::String(text) if text.contains('\n') => {
            let mut lines = vec![format!("  {name}:")];
            lines.extend(indent_block(text));
            lines
        }
        Value::String(text) => vec![format!("  {name}: {}", escape_invisible(text))],
        other => vec![format!("  {name}: {}", escape_invisible(&other.to_string()))],
    }
}

/// The diff that `WriteTool` would make.
fn write_preview(input: &mut Map<String, Value>, folder: Option<&Path>) -> Vec<String> {
    let (Some(Value::String(path)), Some(Value::String(content))) =
        (input.get("file_path"), input.get("content"))
    else {
        return Vec::new();
    };
    let before = folder.and_then(|folder| read_text_file(&folder.join(path)));
    let mut lines = match (&before, folder) {
        (Some(_), _) => vec!["  replaces the file:".to_owned()],
        (None, Some(_)) => vec!["  new file:".to_owned()],
        (None, None) => vec!["  content:".to_owned()],
    };
    lines.extend(diff_lines(before.as_deref().unwrap_or_default(), content));
    ["content", "file_path"].iter().for_each(|text| drop(input.remove(*text)));
    lines
}

/// The diff that `Edit` would make.
fn edit_preview(input: &mut Map<String, Value>, folder: Option<&Path>) -> Vec<String> {
    let (Some(Value::String(path)), Some(Value::String(old)), Some(Value::String(new))) =
        (input.get("file_path"), input.get("old_string"), input.get("new_string"))
    else {
        return Vec::new();
    };
    let all = input.get("replace_all").and_then(Value::as_bool).unwrap_or(false);
    let before = folder.and_then(|folder| read_text_file(&folder.join(path)));
    let before = before.filter(|before| !old.is_empty() && before.contains(old.as_str()));
    let lines = match before {
        Some(before) => {
            let after = match all {
                true => before.replace(old.as_str(), new),
                false => before.replacen(old.as_str(), new, 1),
            };
            diff_lines(&before, &after)
        }
        None => diff_lines(old, new),
    };
    // The path is in the title.
    let shown = ["old_string", "new_string", "file_path"];
    shown.iter().for_each(|text| drop(input.remove(*text)));
    lines
}

/// Reads a text file: a regular one, not a link, not too large.
fn read_text_file(path: &Path) -> Option<String> {
    let about = std::fs::symlink_metadata(path).ok()?;
    let looks_fine = about.is_file() && about.len() <= MAX_DIFF_BYTES;
    looks_fine.then(|| std::fs::read_to_string(path).ok())?
}

fn diff_lines(before: &str, after: &str) -> Vec<String> {
    let hunks = diff_hunks(before, after);
    if hunks.is_empty() {
        return vec!["    (no changes)".to_owned()];
    }
    hunks.iter().flat_map(hunk_lines).collect()
}

/// The lines of a hunk, complete: removed lines have their old number, all others the new one.
fn hunk_lines(hunk: &DiffHunk) -> Vec<String> {
    let (mut old, mut new) = (hunk.old_start, hunk.new_start);
    let line = |text: &String| {
        let sign = text.chars().next().unwrap_or(' ');
        let number = match sign {
            '-' => old.to_string(),
            '+' | ' ' => new.to_string(),
            _ => String::new(),
        };
        old += usize::from(matches!(sign, '-' | ' '));
        new += usize::from(matches!(sign, '+' | ' '));
        // Spaces and tabs of an indentation are distinguished.
        let rest: String = text.chars().skip(1).collect();
        let rest = rest.split('\t').map(escape_invisible).collect::<Vec<_>>().join("→   ");
        format!("    {number:>4} {sign}{rest}")
    };
    hunk.lines.iter().map(line).collect()
}
