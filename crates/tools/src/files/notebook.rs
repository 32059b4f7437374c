//! Notebooks: cells with their sources and what came of them, as text.

use std::io::Read;
use std::path::Path;

use serde::Deserialize;
use serde_json::Value;
use windlass_core::cut;
use windlass_core::outcome::ToolError;
use windlass_core::raw::Raw;

use super::kind::whole;
use super::page::Wanted;
use crate::limits::{MAX_CELL_OUTPUT_BYTES, MAX_NOTEBOOK_BYTES, MAX_PAGE_BYTES};

#[derive(Deserialize)]
struct Notebook {
    cells: Vec<Cell>,
}

#[derive(Deserialize)]
struct Cell {
    cell_type: String,
    #[serde(default)]
    source: Value,
    #[serde(default)]
    outputs: Vec<Value>,
}

/// The cells wanted, numbered from 1.
pub(super) fn read(file: impl Read, path: &Path, wanted: Wanted) -> Result<Raw, ToolError> {
    let bytes = whole(file, path, MAX_NOTEBOOK_BYTES)?;
    let notebook: Notebook =
        serde_json::from_slice(&bytes).map_err(|error| unreadable(path, &error))?;
    let total = notebook.cells.len();
    let first = usize::try_from(wanted.first.saturating_sub(1)).unwrap_or(usize::MAX);
    let count = usize::try_from(wanted.count).unwrap_or(usize::MAX);
    let mut text = String::new();
    for (index, cell) in notebook.cells.iter().enumerate().skip(first).take(count) {
        if text.len() >= MAX_PAGE_BYTES {
            text.push_str(&format!("[the notebook goes on: read it with offset {}]\n", index + 1));
            return Ok(Raw::string(&text));
        }
        text.push_str(&cell.text(index + 1, total));
    }
    if text.is_empty() { Err(past_the_end(path, total)) } else { Ok(Raw::string(&text)) }
}

impl Cell {
    fn text(&self, number: usize, total: usize) -> String {
        let source = cut::text(&joined(&self.source), MAX_PAGE_BYTES as u64 / 2).into_owned();
        let mut text = format!("[cell {number} of {total}: {}]\n{source}\n", self.cell_type);
        for output in &self.outputs {
            let said = cut::text(&said(output), MAX_CELL_OUTPUT_BYTES as u64).into_owned();
            text.push_str(&format!("[output]\n{said}\n"));
        }
        text
    }
}

/// A notebook writes text as one string or as a list of lines.
fn joined(text: &Value) -> String {
    match text {
        Value::String(text) => text.clone(),
        Value::Array(lines) => lines.iter().filter_map(Value::as_str).collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => String::new(),
    }
}

/// What an output says: its text, the error, or only which kind it is.
fn said(output: &Value) -> String {
    let data = output.get("data");
    let plain = data.and_then(|data| data.get("text/plain"));
    if let Some(text) = output.get("text").or(plain) {
        return joined(text);
    }
    let word = |key: &str| output.get(key).and_then(Value::as_str).unwrap_or_default();
    match data.and_then(Value::as_object) {
        Some(kinds) => format!("({})", kinds.keys().cloned().collect::<Vec<_>>().join(", ")),
        None => format!("{}: {}", word("ename"), word("evalue")),
    }
}

fn unreadable(path: &Path, error: &serde_json::Error) -> ToolError {
    ToolError::new(
        "notebook_unreadable",
        &format!("{} is not a notebook: {error}", path.display()),
        "look at it as text with Bash",
    )
}

fn past_the_end(path: &Path, total: usize) -> ToolError {
    ToolError::new(
        "offset_past_end",
        &format!("{} has {total} cells, and none of those asked for", path.display()),
        "ask for cells it has",
    )
}
