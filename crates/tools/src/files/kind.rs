//! What kind of file it is, by its first bytes; only a notebook goes by its name.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Cursor, Read};
use std::path::Path;

use windlass_core::outcome::ToolError;
use windlass_core::raw::Raw;

use super::encoding::Encoding;
use super::open::refused;
use super::pages::Pages;
use super::{notebook, page, pdf, picture};
use crate::input::invalid;
use crate::limits::{MAX_EDIT_BYTES, PROBE_BYTES};

/// What is wanted of a file.
#[derive(Debug, Clone, Copy)]
pub(super) struct Wanted {
    pub(super) lines: page::Wanted,
    pub(super) pages: Option<Pages>,
}

/// Reads what is wanted of an opened file; `path` is only for words and for its ending.
pub(super) fn read(file: File, path: &Path, wanted: Wanted) -> Result<Raw, ToolError> {
    let mut file = BufReader::with_capacity(PROBE_BYTES, file);
    let start = file.fill_buf().map_err(|error| refused(path, &error))?.to_vec();
    let is_pdf = start.starts_with(b"%PDF-");
    if wanted.pages.is_some() && !is_pdf {
        return Err(invalid("pages are for PDF files; this one is none"));
    }
    match picture::media_type(&start) {
        Some(media) => picture::read(file, path, media),
        None if is_pdf => pdf::read(file, path, wanted.pages),
        None if is_notebook(path) => notebook::read(file, path, wanted.lines),
        None => text(file, &start, path, wanted.lines).map(|page| Raw::string(&page)),
    }
}

fn is_notebook(path: &Path) -> bool {
    path.extension().is_some_and(|ending| ending == "ipynb")
}

fn text(
    mut file: BufReader<File>,
    start: &[u8],
    path: &Path,
    wanted: page::Wanted,
) -> Result<String, ToolError> {
    let encoding = Encoding::of(start);
    let page = match encoding {
        Encoding::Plain if start.contains(&0) => return Err(binary(path)),
        Encoding::Plain => page::read(file, path, wanted)?,
        Encoding::Utf8Marked => {
            file.consume(start.len().min(3));
            page::read(file, path, wanted)?
        }
        Encoding::Utf16Little | Encoding::Utf16Big => {
            let bytes = whole(file, path, MAX_EDIT_BYTES)?;
            let text = encoding.decode(&bytes).ok_or_else(|| binary(path))?;
            page::read(Cursor::new(text), path, wanted)?
        }
    };
    let note = encoding.note().map(|note| format!("{note}\n"));
    Ok(format!("{page}{}", note.unwrap_or_default()))
}

/// All bytes of a file that is not larger than it may be.
pub(super) fn whole(file: impl Read, path: &Path, most: u64) -> Result<Vec<u8>, ToolError> {
    let mut bytes = Vec::new();
    let read = file.take(most.saturating_add(1)).read_to_end(&mut bytes);
    read.map_err(|error: io::Error| refused(path, &error))?;
    match bytes.len() as u64 > most {
        true => Err(too_large(path, most)),
        false => Ok(bytes),
    }
}

pub(super) fn too_large(path: &Path, most: u64) -> ToolError {
    ToolError::new(
        "file_too_large",
        &format!("{} has more than {most} bytes", path.display()),
        "use Bash to look at a part of it, or to change it",
    )
}

fn binary(path: &Path) -> ToolError {
    ToolError::new(
        "binary_file",
        &format!("{} is not a text file", path.display()),
        "look at it with Bash (file, strings, xxd)",
    )
}
