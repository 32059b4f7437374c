//! Detects the kind of a file by its first bytes; only a notebook is detected by its name.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Cursor, Read};
use std::path::Path;

use windlass_core::call::outcome::ToolError;
use windlass_core::message::raw_json::RawJson;

use super::image;
use super::notebook;
use super::page_range::PageRange;
#[cfg(feature = "pdf")]
use super::pdf;
use super::text_page;
use crate::files::file_errors::file_error;
use crate::files::write::encoding::TextEncoding;
use crate::limits::{BINARY_PROBE_BYTES, MAX_EDIT_BYTES};
use crate::tool_definition::tool_input::invalid_input_error;

/// The part of a file that a call asks for.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ReadRange {
    pub(crate) lines: text_page::LineRange,
    pub(crate) pages: Option<PageRange>,
}

/// Reads the requested part of an open file; `path` is used only for messages and for its
/// extension.
pub(crate) fn read_file(file: File, path: &Path, wanted: ReadRange) -> Result<RawJson, ToolError> {
    let mut file = BufReader::with_capacity(BINARY_PROBE_BYTES, file);
    let start = file.fill_buf().map_err(|error| file_error(path, &error))?.to_vec();
    let is_pdf = start.starts_with(b"%PDF-");
    if wanted.pages.is_some() && !is_pdf {
        return Err(invalid_input_error("pages applies to PDF files only; this is not a PDF"));
    }
    match image::media_type(&start) {
        Some(media) => image::read_image(file, path, media),
        None if is_pdf => read_pdf(file, path, wanted.pages),
        None if is_notebook(path) => notebook::read_notebook(file, path, wanted.lines),
        None => read_text(file, &start, path, wanted.lines).map(|page| RawJson::string(&page)),
    }
}

#[cfg(feature = "pdf")]
fn read_pdf(file: impl Read, path: &Path, pages: Option<PageRange>) -> Result<RawJson, ToolError> {
    pdf::read_pdf(file, path, pages)
}

#[cfg(not(feature = "pdf"))]
fn read_pdf(
    _file: impl Read,
    path: &Path,
    _pages: Option<PageRange>,
) -> Result<RawJson, ToolError> {
    let message = format!("{} is a PDF file, which this program cannot read", path.display());
    Err(ToolError::new("unsupported_file", &message, "convert it to text first"))
}

fn is_notebook(path: &Path) -> bool {
    path.extension().is_some_and(|ending| ending == "ipynb")
}

fn read_text(
    mut file: BufReader<File>,
    start: &[u8],
    path: &Path,
    wanted: text_page::LineRange,
) -> Result<String, ToolError> {
    let encoding = TextEncoding::detect(start);
    let page = match encoding {
        TextEncoding::Plain if start.contains(&0) => return Err(binary_file_error(path)),
        TextEncoding::Plain => text_page::read_page(file, path, wanted)?,
        TextEncoding::Utf8WithBom => {
            file.consume(start.len().min(3));
            text_page::read_page(file, path, wanted)?
        }
        TextEncoding::Utf16Le | TextEncoding::Utf16Be => {
            let bytes = read_whole(file, path, MAX_EDIT_BYTES)?;
            let text = encoding.decode(&bytes).ok_or_else(|| binary_file_error(path))?;
            text_page::read_page(Cursor::new(text), path, wanted)?
        }
    };
    let note = encoding.label().map(|note| format!("{note}\n"));
    Ok(format!("{page}{}", note.unwrap_or_default()))
}

/// Reads all bytes of a file that is not larger than the limit.
pub(crate) fn read_whole(file: impl Read, path: &Path, limit: u64) -> Result<Vec<u8>, ToolError> {
    let mut bytes = Vec::new();
    let read = file.take(limit.saturating_add(1)).read_to_end(&mut bytes);
    read.map_err(|error: io::Error| file_error(path, &error))?;
    match bytes.len() as u64 > limit {
        true => Err(too_large_error(path, limit)),
        false => Ok(bytes),
    }
}

pub(crate) fn too_large_error(path: &Path, limit: u64) -> ToolError {
    ToolError::new(
        "file_too_large",
        &format!("{} is larger than {limit} bytes", path.display()),
        "use Bash to look at a part of it, or to change it",
    )
}

fn binary_file_error(path: &Path) -> ToolError {
    ToolError::new(
        "binary_file",
        &format!("{} is not a text file", path.display()),
        "look at it with Bash (file, strings, xxd)",
    )
}
