//! What a person puts before the model along with a prompt: a file as `Read` shows it, or the names
//! in a folder. Nothing that the model could not read without asking.

use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use rustix::fs::{Dir, FileType, OFlags};
use windlass_core::ids::LaneId;
use windlass_core::outcome::ToolError;
use windlass_core::permission::Ruling;
use windlass_core::raw::Raw;

use super::open::refused;
use super::page;
use super::place::Place;
use super::{kind, read};
use crate::input::path_problem;
use crate::limits::{MAX_LISTED, PAGE_LINES};
use crate::workplace::Workplace;

/// What a path brings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Attached {
    /// A file, as the result of reading it.
    File(Raw),
    /// The names in a folder, one a line.
    Folder(String),
}

impl Workplace {
    /// What `path` brings to the conversation on `lane`; `None` if nothing is there. A file counts
    /// as read. What the rules do not let `Read` have without asking is refused.
    pub fn attach(&self, lane: &LaneId, path: &str) -> Result<Option<Attached>, ToolError> {
        if path_problem("path", path).is_some() {
            return Ok(None);
        }
        let place = self.zones().place(path)?;
        if place.open(OFlags::PATH).is_err_and(|error| is_nothing(&error)) {
            return Ok(None);
        }
        self.check_leave(path)?;
        if place.check_folder().is_ok() {
            return self.names_in(&place).map(|names| Some(Attached::Folder(names)));
        }
        let lines = page::Wanted { first: 1, count: PAGE_LINES };
        let content = read::shown(&place, &self.desk(lane), kind::Wanted { lines, pages: None })?;
        Ok(Some(Attached::File(content)))
    }

    fn check_leave(&self, path: &str) -> Result<(), ToolError> {
        let why = match self.judged_to_read(path) {
            Ruling::Allow(_) => return Ok(()),
            Ruling::Deny(why) => why.to_string(),
            Ruling::Ask(_) | Ruling::Open => "reading it requires approval".to_owned(),
        };
        Err(ToolError::new("denied", &why, "add its folder with --add-dir, or allow it by a rule"))
    }

    fn names_in(&self, place: &Place) -> Result<String, ToolError> {
        let refused = |error: io::Error| refused(&place.shown, &error);
        let opened = place.open(OFlags::RDONLY | OFlags::DIRECTORY).map_err(refused)?;
        let folder = Dir::new(opened).map_err(|error| refused(error.into()))?;
        let mut names: Vec<String> = Vec::new();
        for entry in folder {
            let entry = entry.map_err(|error| refused(error.into()))?;
            let name = Path::new(std::ffi::OsStr::from_bytes(entry.file_name().to_bytes()));
            let is_folder = entry.file_type() == FileType::Directory;
            let is_itself = name == Path::new(".") || name == Path::new("..");
            if !is_itself && !self.hides(&place.real().join(name), is_folder) {
                let mark = if is_folder { "/" } else { "" };
                names.push(format!("{}{mark}", name.display()));
            }
        }
        names.sort();
        let more = names.len().saturating_sub(MAX_LISTED);
        names.truncate(MAX_LISTED);
        if more > 0 {
            names.push(format!("… and {more} more"));
        }
        Ok(names.join("\n"))
    }
}

fn is_nothing(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory | io::ErrorKind::InvalidFilename
    )
}
