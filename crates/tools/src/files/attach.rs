//! Attachments: a file or folder that the user adds to a prompt; a file as `ReadTool` returns it,
//! or the names in a folder. They are read with the permissions of `ReadTool`, so nothing is
//! attached that the model could not read without approval.

use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use rustix::fs::{Dir, FileType, OFlags};
use windlass_core::call::outcome::ToolError;
use windlass_core::log::ids::LaneId;
use windlass_core::message::raw_json::RawJson;
use windlass_core::permission::RuleDecision;

use super::file_errors::file_error;
use super::paths::resolved_path::ResolvedPath;
use super::read;
use super::read::file_kind;
use super::read::text_page;
use crate::limits::{DEFAULT_PAGE_LINES, MAX_LISTED_NAMES};
use crate::tool_context::ToolContext;
use crate::tool_definition::tool_input::path_error;

/// An attached file or folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Attachment {
    /// A file, as the result of reading it.
    File(RawJson),
    /// The names in a folder, one per line.
    Folder(String),
}

impl ToolContext {
    /// Returns the attachment at `path` for the conversation on `lane`; `None` if nothing is there.
    /// A file counts as read. A path that `ReadTool` may not read without approval is rejected.
    pub fn attach(&self, lane: &LaneId, path: &str) -> Result<Option<Attachment>, ToolError> {
        if path_error("path", path).is_some() {
            return Ok(None);
        }
        let resolved = self.zones().resolve(path)?;
        if resolved.open_with(OFlags::PATH).is_err_and(|error| is_not_found(&error)) {
            return Ok(None);
        }
        self.check_read_approval(path)?;
        if resolved.check_folder().is_ok() {
            return self.list_folder(&resolved).map(|names| Some(Attachment::Folder(names)));
        }
        let lines = text_page::LineRange { first: 1, count: DEFAULT_PAGE_LINES };
        let content = read::read_and_record(
            &resolved,
            &self.tool_state(lane),
            file_kind::ReadRange { lines, pages: None },
        )?;
        Ok(Some(Attachment::File(content)))
    }

    fn check_read_approval(&self, path: &str) -> Result<(), ToolError> {
        let reason = match self.read_decision(path) {
            RuleDecision::Allow(_) => return Ok(()),
            RuleDecision::Deny(_, reason) => reason.to_string(),
            RuleDecision::Ask(_) | RuleDecision::Undecided => {
                "reading it requires approval".to_owned()
            }
        };
        Err(ToolError::new(
            "denied",
            &reason,
            "add its folder with --add-dir, or allow it by a rule",
        ))
    }

    fn list_folder(&self, resolved: &ResolvedPath) -> Result<String, ToolError> {
        let refused = |error: io::Error| file_error(&resolved.display_path, &error);
        let opened = resolved.open_with(OFlags::RDONLY | OFlags::DIRECTORY).map_err(refused)?;
        let folder = Dir::new(opened).map_err(|error| refused(error.into()))?;
        let mut names: Vec<String> = Vec::new();
        for entry in folder {
            let entry = entry.map_err(|error| refused(error.into()))?;
            let name = Path::new(std::ffi::OsStr::from_bytes(entry.file_name().to_bytes()));
            let is_folder = entry.file_type() == FileType::Directory;
            let is_itself = name == Path::new(".") || name == Path::new("..");
            if !is_itself && !self.is_hidden(&resolved.real_path().join(name), is_folder) {
                let mark = if is_folder { "/" } else { "" };
                names.push(format!("{}{mark}", name.display()));
            }
        }
        names.sort();
        let more = names.len().saturating_sub(MAX_LISTED_NAMES);
        names.truncate(MAX_LISTED_NAMES);
        if more > 0 {
            names.push(format!("… and {more} more"));
        }
        Ok(names.join("\n"))
    }
}

fn is_not_found(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory | io::ErrorKind::InvalidFilename
    )
}
