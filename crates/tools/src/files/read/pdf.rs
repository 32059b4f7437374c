//! The text of a PDF, page by page.
//!
//! Not here: images of pages. A document that was only scanned has no text, and the result says so.

use std::io::Read;
use std::path::Path;

use lopdf::{Document, LoadOptions};
use windlass_core::call::outcome::ToolError;
use windlass_core::message::raw_json::RawJson;

use super::file_kind::read_whole;
use super::page_range::PageRange;
use crate::limits::{MAX_DECOMPRESSED_BYTES, MAX_PAGE_BYTES, MAX_PDF_BYTES, MAX_PDF_PAGES};

/// Returns the text of the requested pages; by default, of the first ones.
pub(crate) fn read_pdf(
    file: impl Read,
    path: &Path,
    pages: Option<PageRange>,
) -> Result<RawJson, ToolError> {
    let bytes = read_whole(file, path, MAX_PDF_BYTES)?;
    let options = LoadOptions {
        max_decompressed_size: Some(MAX_DECOMPRESSED_BYTES),
        ..LoadOptions::default()
    };
    let document = Document::load_mem_with_options(&bytes, options);
    let document = document.map_err(|error| unreadable_error(path, &error))?;
    let numbers: Vec<u32> = document.get_pages().into_keys().collect();
    let total = numbers.len();
    let wanted = pages.unwrap_or(PageRange { first: 1, last: MAX_PDF_PAGES });
    let chosen: Vec<u32> =
        numbers.into_iter().filter(|page| (wanted.first..=wanted.last).contains(page)).collect();
    let Some(last) = chosen.last().copied() else { return Err(past_end_error(path, total)) };
    let mut text = String::new();
    for page in &chosen {
        if text.len() >= MAX_PAGE_BYTES {
            text.push_str(&format!("[too long: continue with page {page}]\n"));
            return Ok(RawJson::string(&text));
        }
        text.push_str(&format!("[page {page} of {total}]\n{}\n", page_text(&document, *page)));
    }
    if (last as usize) < total {
        text.push_str(&format!("[more pages: continue with pages \"{}-…\"]\n", last + 1));
    }
    Ok(RawJson::string(&text))
}

fn page_text(document: &Document, page: u32) -> String {
    match document.extract_text_with_limit(&[page], MAX_DECOMPRESSED_BYTES) {
        Ok(text) if text.trim().is_empty() => "(no text on this page)".to_owned(),
        Ok(text) => text.trim().chars().take(MAX_PAGE_BYTES).collect(),
        Err(error) => format!("(this page cannot be read: {error})"),
    }
}

fn unreadable_error(path: &Path, error: &lopdf::Error) -> ToolError {
    ToolError::new(
        "pdf_unreadable",
        &format!("{} cannot be read as a PDF: {error}", path.display()),
        "it may be damaged or encrypted; try pdftotext with Bash, or ask the user",
    )
}

fn past_end_error(path: &Path, total: usize) -> ToolError {
    ToolError::new(
        "offset_past_end",
        &format!("{} has {total} pages; the requested ones do not exist", path.display()),
        &format!("request pages between 1 and {total}"),
    )
}
