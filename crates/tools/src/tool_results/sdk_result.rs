//! Tool results as SDK objects, derived from what is recorded of a call, so that they can be
//! derived again at any time.
//!
//! Not here: the whole of a file before it changed. Only the patch of a change is recorded.

use serde::Deserialize;
use serde_json::{Value, json};
use windlass_core::call::outcome::ToolOutcome;
use windlass_core::message::raw_json::RawJson;

use crate::files::DiffHunk;

/// Returns the object for a result, or the message for a failure. `None` for tools that are not
/// built in.
#[must_use]
pub fn sdk_result(tool: &str, input: &RawJson, outcome: &ToolOutcome) -> Option<Value> {
    let content = match outcome {
        ToolOutcome::Done(content) | ToolOutcome::DoneWithDetail { content, .. } => content,
        ToolOutcome::Failed(error) => {
            return Some(Value::from(format!("Error: {}", error.message_and_output())));
        }
        ToolOutcome::TimedOut { after_ms } => {
            return Some(Value::from(format!("Error: timed out after {after_ms} ms")));
        }
        ToolOutcome::Interrupted { after_ms } => {
            return Some(Value::from(format!("Error: interrupted after {after_ms} ms")));
        }
        ToolOutcome::InputRequested(_) => return Some(Value::from("Error: not answered")),
    };
    let input: Value = input.read().ok()?;
    let text: String = content.read().unwrap_or_default();
    match tool {
        "Bash" => Some(bash_result(&text)),
        "Read" => Some(read_result(&input, content, &text)),
        "Write" => Some(write_result(&input, &text, &recorded_patch(outcome))),
        "Edit" => Some(edit_result(&input, &recorded_patch(outcome))),
        "Glob" | "Grep" => Some(search_result(&text)),
        "TodoWrite" => Some(json!({ "newTodos": input.get("todos") })),
        "TaskOutput" | "TaskStop" => Some(Value::from(text)),
        _ => None,
    }
}

/// Returns what the model reads of a result that a hook gives in the shape of [`sdk_result`]. A
/// result of another shape is returned as it is.
#[must_use]
pub(crate) fn model_content(tool: &str, output: RawJson) -> RawJson {
    let streams = (tool == "Bash").then(|| output.read::<BashStreams>().ok()).flatten();
    let Some(BashStreams { stdout, stderr }) = streams else { return output };
    let gap = if stdout.is_empty() || stderr.is_empty() { "" } else { "\n" };
    RawJson::encode(&format!("{stdout}{gap}{stderr}"))
}

#[derive(Deserialize)]
struct BashStreams {
    stdout: String,
    #[serde(default)]
    stderr: String,
}

/// Both streams come through one pipe, so all of the output is standard output.
fn bash_result(text: &str) -> Value {
    let stdout = if text == "(no output)" { "" } else { text };
    json!({
        "stdout": stdout, "stderr": "", "interrupted": false, "isImage": false,
        "noOutputExpected": false,
    })
}

#[derive(Deserialize)]
struct ImageResult {
    source: ImageResultSource,
}

#[derive(Deserialize)]
struct ImageResultSource {
    media_type: String,
    data: String,
}

/// The number of lines of the file is known only as far as it was read.
fn read_result(input: &Value, content: &RawJson, text: &str) -> Value {
    if let Ok([picture]) = content.read::<[ImageResult; 1]>() {
        let ImageResultSource { media_type, data } = picture.source;
        return json!({ "type": "image", "file": { "base64": data, "type": media_type } });
    }
    let numbered: Vec<(u64, &str)> = text.lines().filter_map(split_line_number).collect();
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

fn split_line_number(line: &str) -> Option<(u64, &str)> {
    let (number, text) = line.split_once('\t')?;
    Some((number.trim_start().parse().ok()?, text))
}

/// Returns the patch that was recorded with a change.
fn recorded_patch(outcome: &ToolOutcome) -> Value {
    let hunks = outcome.detail().and_then(|detail| detail.read::<Vec<DiffHunk>>().ok());
    json!(hunks.unwrap_or_default())
}

fn write_result(input: &Value, text: &str, patch: &Value) -> Value {
    let kind = if text.starts_with("created ") { "create" } else { "update" };
    json!({
        "type": kind, "filePath": input.get("file_path"), "content": input.get("content"),
        "structuredPatch": patch, "originalFile": null, "userModified": false,
    })
}

fn edit_result(input: &Value, patch: &Value) -> Value {
    json!({
        "filePath": input.get("file_path"), "oldString": input.get("old_string"),
        "newString": input.get("new_string"), "originalFile": null, "structuredPatch": patch,
        "userModified": false, "replaceAll": input.get("replace_all").and_then(Value::as_bool).unwrap_or(false),
    })
}

fn search_result(text: &str) -> Value {
    let is_note = |line: &&str| line.starts_with('[') && line.ends_with(']');
    let lines: Vec<&str> = text.lines().filter(|line| !is_note(line)).collect();
    json!({ "content": text, "numLines": lines.len() })
}
