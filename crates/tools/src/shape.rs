//! Results as programs around a coding agent know them: an object for each tool, made from what is
//! recorded of a call, so that it can be made at any time again.
//!
//! Not here: the whole of a file before it changed. What is recorded of a change is its patch.

use serde::Deserialize;
use serde_json::{Value, json};
use windlass_core::outcome::Outcome;
use windlass_core::raw::Raw;

use crate::files::Hunk;

/// The object that goes with a result, or the sentence that goes with a failure. `None` for tools
/// that are not ours.
#[must_use]
pub fn shape(tool: &str, input: &Raw, outcome: &Outcome) -> Option<Value> {
    let content = match outcome {
        Outcome::Done(content) | Outcome::Detailed { content, .. } => content,
        Outcome::Failed(error) => {
            return Some(Value::from(format!("Error: {}", error.message_and_output())));
        }
        Outcome::TimedOut { after_ms } => {
            return Some(Value::from(format!("Error: timed out after {after_ms} ms")));
        }
        Outcome::Interrupted { after_ms } => {
            return Some(Value::from(format!("Error: interrupted after {after_ms} ms")));
        }
    };
    let input: Value = input.read().ok()?;
    let text: String = content.read().unwrap_or_default();
    match tool {
        "Bash" => Some(bash(&text)),
        "Read" => Some(read(&input, content, &text)),
        "Write" => Some(write(&input, &text, &patch(outcome))),
        "Edit" => Some(edit(&input, &patch(outcome))),
        "Glob" | "Grep" => Some(found(&text)),
        "TodoWrite" => Some(json!({ "newTodos": input.get("todos") })),
        "BashOutput" | "KillShell" => Some(Value::from(text)),
        _ => None,
    }
}

/// Both streams come through one pipe, so all of it stands as one.
fn bash(text: &str) -> Value {
    let stdout = if text == "(no output)" { "" } else { text };
    json!({
        "stdout": stdout, "stderr": "", "interrupted": false, "isImage": false,
        "noOutputExpected": false,
    })
}

#[derive(Deserialize)]
struct Picture {
    source: Source,
}

#[derive(Deserialize)]
struct Source {
    media_type: String,
    data: String,
}

/// How many lines the file has is known as far as it was read.
fn read(input: &Value, content: &Raw, text: &str) -> Value {
    if let Ok([picture]) = content.read::<[Picture; 1]>() {
        let Source { media_type, data } = picture.source;
        return json!({ "type": "image", "file": { "base64": data, "type": media_type } });
    }
    let numbered: Vec<(u64, &str)> = text.lines().filter_map(number).collect();
    let lines: Vec<&str> = numbered.iter().map(|(_, line)| *line).collect();
    let first = numbered.first().map_or(1, |(number, _)| *number);
    let last = numbered.last().map_or(0, |(number, _)| *number);
    json!({
        "type": "text",
        "file": {
            "filePath": input.get("file_path"), "content": lines.join("\n"), "numLines": lines.len(),
            "startLine": first, "totalLines": last,
        },
    })
}

fn number(line: &str) -> Option<(u64, &str)> {
    let (number, text) = line.split_once('\t')?;
    Some((number.trim_start().parse().ok()?, text))
}

/// What was recorded of a change.
fn patch(outcome: &Outcome) -> Value {
    let hunks = outcome.detail().and_then(|detail| detail.read::<Vec<Hunk>>().ok());
    json!(hunks.unwrap_or_default())
}

fn write(input: &Value, text: &str, patch: &Value) -> Value {
    let kind = if text.starts_with("created ") { "create" } else { "update" };
    json!({
        "type": kind, "filePath": input.get("file_path"), "content": input.get("content"),
        "structuredPatch": patch, "originalFile": null, "userModified": false,
    })
}

fn edit(input: &Value, patch: &Value) -> Value {
    json!({
        "filePath": input.get("file_path"), "oldString": input.get("old_string"),
        "newString": input.get("new_string"), "originalFile": null, "structuredPatch": patch,
        "userModified": false, "replaceAll": input.get("replace_all").and_then(Value::as_bool).unwrap_or(false),
    })
}

fn found(text: &str) -> Value {
    let is_note = |line: &&str| line.starts_with('[') && line.ends_with(']');
    let lines: Vec<&str> = text.lines().filter(|line| !is_note(line)).collect();
    json!({ "content": text, "numLines": lines.len() })
}
