//! A file that is about to change: what it is now, and whether it may be changed at all.

use std::fs::{File, Metadata};
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use windlass_core::outcome::ToolError;

use super::kind::whole;
use super::open::refused;
use super::place::Place;
use super::{digest, zones::Zones};
use crate::desk::Desk;
use crate::limits::MAX_EDIT_BYTES;

/// What a file is before it changes.
#[derive(Debug)]
pub(super) struct Before {
    pub(super) bytes: Vec<u8>,
    pub(super) hash: String,
    pub(super) found: Metadata,
}

/// The place of a file that may be changed.
pub(super) fn place(zones: &Zones, path: &str) -> Result<Place, ToolError> {
    let place = zones.place(path)?;
    match zones.protects(&place.real()) || zones.protects(&place.shown) {
        true => Err(protected(&place.shown)),
        false => Ok(place),
    }
}

/// What is there now, if anything is.
pub(super) fn before(place: &Place) -> Result<Option<Before>, ToolError> {
    let file = match place.open_file() {
        Err(error) if &*error.code == "file_not_found" => return Ok(None),
        opened => opened?,
    };
    let found = file.metadata().map_err(|error| refused(&place.shown, &error))?;
    if found.nlink() > 1 {
        return Err(linked(&place.shown));
    }
    // It would be replaced, whatever it says of itself; so it is asked.
    if found.permissions().readonly() {
        return Err(read_only(&place.shown));
    }
    let bytes = whole(&file as &File, &place.shown, MAX_EDIT_BYTES)?;
    Ok(Some(Before { hash: digest::of_bytes(&bytes), bytes, found }))
}

/// Only what was read, and is still what it was, may be overwritten.
pub(super) fn check_seen(desk: &Desk, place: &Place, before: &Before) -> Result<(), ToolError> {
    match desk.seen(&place.real()) {
        Some(hash) if hash == before.hash => Ok(()),
        Some(_) => Err(changed(&place.shown)),
        None => Err(not_read(&place.shown)),
    }
}

/// Somebody else changed it.
pub(super) fn changed(path: &Path) -> ToolError {
    ToolError::new(
        "file_changed",
        &format!("{} has changed since it was read", path.display()),
        "read it again, then make the change that is still needed",
    )
}

fn not_read(path: &Path) -> ToolError {
    ToolError::new(
        "file_not_read",
        &format!("{} exists and was not read in this conversation", path.display()),
        "read it first, so that nothing unseen is overwritten",
    )
}

fn protected(path: &Path) -> ToolError {
    ToolError::new(
        "protected_path",
        &format!("{} decides what may run and is not for tools to change", path.display()),
        "ask the user to change it",
    )
}

fn read_only(path: &Path) -> ToolError {
    ToolError::new(
        "read_only",
        &format!("{} is marked as not to be written", path.display()),
        "leave it, or ask the user; chmod makes it writable",
    )
}

fn linked(path: &Path) -> ToolError {
    ToolError::new(
        "hard_linked",
        &format!("{} has another name somewhere, and both would part", path.display()),
        "write to a new file, or ask the user",
    )
}
