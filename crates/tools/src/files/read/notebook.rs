//! Notebooks: cells with their sources and outputs, as text.

use std::io::Read;
use std::path::Path;

use serde::Deserialize;
use serde_json::Value;
use windlass_core::call::outcome::ToolError;
use windlass_core::message::raw_json::RawJson;
use windlass_core::message::truncate;

use super::file_kind::read_whole;
use super::text_page::LineRange;
use crate::limits::{MAX_CELL_OUTPUT_BYTES, MAX_NOTEBOOK_BYTES, MAX_PAGE_BYTES};

#[derive(Deserialize)]
struct NotebookFile {
    cells: Vec<NotebookCell>,
}

#[derive(Deserialize)]
struct NotebookCell {
    cell_type: String,
    #[serde(default)]
    source: Value,
    #[serde(default)]
    outputs: Vec<Value>,
}

/// Returns the requested cells, numbered from 1.
pub(crate) fn read_notebook(
    file: impl Read,
    path: &Path,
    wanted: LineRange,
) -> Result<RawJson, ToolError> {
    let bytes = read_whole(file, path, MAX_NOTEBOOK_BYTES)?;
    let notebook: NotebookFile =
        serde_json::from_slice(&bytes).map_err(|error| unreadable_error(path, &error))?;
    let total = notebook.cells.len();
    let first = usize::try_from(wanted.first.saturating_sub(1)).unwrap_or(usize::MAX);
    let count = usize::try_from(wanted.count).unwrap_or(usize::MAX);
    let mut text = String::new();
    for (index, cell) in notebook.cells.iter().enumerate().skip(first).take(count) {
        if text.len() >= MAX_PAGE_BYTES {
            text.push_str(&format!("[more cells: continue with offset {}]\n", index + 1));
            return Ok(RawJson::string(&text));
        }
        text.push_str(&cell.to_text(index + 1, total));
    }
    if text.is_empty() { Err(past_end_error(path, total)) } else { Ok(RawJson::string(&text)) }
}

impl NotebookCell {
    fn to_text(&self, number: usize, total: usize) -> String {
        let source = truncate::truncate_text(&join_lines(&self.source), MAX_PAGE_BYTES as u64 / 2)
            .into_owned();
        let mut text = format!("[cell {number} of {total}: {}]\n{source}\n", self.cell_type);
        for output in &self.outputs {
            let said = truncate::truncate_text(&output_text(output), MAX_CELL_OUTPUT_BYTES as u64)
                .into_owned();
            text.push_str(&format!("[output]\n{said}\n"));
        }
        text
    }
}

/// Returns a text that a notebook stores as one string or as a list of lines.
fn join_lines(text: &Value) -> String {
    match text {
        Value::String(text) => text.clone(),
        Value::Array(lines) => lines.iter().filter_map(Value::as_str).collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => String::new(),
    }
}

/// Returns the text of an output: its text, the error, or only its kind.
fn output_text(output: &Value) -> String {
    let data = output.get("data");
    let plain = data.and_then(|data| data.get("text/plain"));
    if let Some(text) = output.get("text").or(plain) {
        return join_lines(text);
    }
    let word = |key: &str| output.get(key).and_then(Value::as_str).unwrap_or_default();
    match data.and_then(Value::as_object) {
        Some(kinds) => format!("({})", kinds.keys().cloned().collect::<Vec<_>>().join(", ")),
        None => format!("{}: {}", word("ename"), word("evalue")),
    }
}

fn unreadable_error(path: &Path, error: &serde_json::Error) -> ToolError {
    ToolError::new(
        "notebook_unreadable",
        &format!("{} is not a notebook: {error}", path.display()),
        "look at it as text with Bash",
    )
}

fn past_end_error(path: &Path, total: usize) -> ToolError {
    ToolError::new(
        "offset_past_end",
        &format!("{} has {total} cells; the requested ones do not exist", path.display()),
        &format!("request cells between 1 and {total}"),
    )
}
