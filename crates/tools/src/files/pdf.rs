//! The text of a PDF, page by page.
//!
//! Not here: pictures of pages. A document that was only scanned has no text, and says so.

use std::io::Read;
use std::path::Path;

use lopdf::{Document, LoadOptions};
use windlass_core::outcome::ToolError;
use windlass_core::raw::Raw;

use super::kind::whole;
use super::pages::Pages;
use crate::limits::{MAX_PAGE_BYTES, MAX_PDF_BYTES, MAX_PDF_PAGES, MAX_UNPACKED_BYTES};

/// The text of the pages wanted; without a wish, of the first ones.
pub(super) fn read(file: impl Read, path: &Path, pages: Option<Pages>) -> Result<Raw, ToolError> {
    let bytes = whole(file, path, MAX_PDF_BYTES)?;
    let options =
        LoadOptions { max_decompressed_size: Some(MAX_UNPACKED_BYTES), ..LoadOptions::default() };
    let document = Document::load_mem_with_options(&bytes, options);
    let document = document.map_err(|error| unreadable(path, &error))?;
    let numbers: Vec<u32> = document.get_pages().into_keys().collect();
    let total = numbers.len();
    let wanted = pages.unwrap_or(Pages { first: 1, last: MAX_PDF_PAGES });
    let chosen: Vec<u32> =
        numbers.into_iter().filter(|page| (wanted.first..=wanted.last).contains(page)).collect();
    let Some(last) = chosen.last().copied() else { return Err(past_the_end(path, total)) };
    let mut text = String::new();
    for page in &chosen {
        if text.len() >= MAX_PAGE_BYTES {
            text.push_str(&format!("[too long: read it from page {page} on]\n"));
            return Ok(Raw::string(&text));
        }
        text.push_str(&format!("[page {page} of {total}]\n{}\n", page_text(&document, *page)));
    }
    if (last as usize) < total {
        text.push_str(&format!("[the document goes on: read it with pages \"{}-…\"]\n", last + 1));
    }
    Ok(Raw::string(&text))
}

fn page_text(document: &Document, page: u32) -> String {
    match document.extract_text_with_limit(&[page], MAX_UNPACKED_BYTES) {
        Ok(text) if text.trim().is_empty() => "(no text on this page)".to_owned(),
        Ok(text) => text.trim().chars().take(MAX_PAGE_BYTES).collect(),
        Err(error) => format!("(this page cannot be read: {error})"),
    }
}

fn unreadable(path: &Path, error: &lopdf::Error) -> ToolError {
    ToolError::new(
        "pdf_unreadable",
        &format!("{} cannot be read as a PDF: {error}", path.display()),
        "it may be damaged or encrypted; try pdftotext with Bash, or ask the user",
    )
}

fn past_the_end(path: &Path, total: usize) -> ToolError {
    ToolError::new(
        "offset_past_end",
        &format!("{} has {total} pages, and none of those asked for", path.display()),
        "ask for pages it has",
    )
}
