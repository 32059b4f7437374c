//! A rewind: which files it changes, and which ones others have changed since.

use std::collections::BTreeMap;
use std::fs::Permissions;
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use windlass_core::call::outcome::ToolError;

use super::RewindPoint;
use super::change_journal::{ChangeJournal, ChangeSource, FileChange, FileVersion};
use crate::ToolContext;
use crate::files::write_target::{self, FileSnapshot};
use crate::files::{ResolvedPath, atomic_write, diff_hunks};
use crate::tool_context::tool_state::ToolState;

/// What a rewind does to the files.
#[derive(Debug, Default)]
pub struct FileRewind {
    changes: Vec<PlannedChange>,
    conflicts: Vec<PathBuf>,
    lost: Vec<PathBuf>,
    /// Lines that are added.
    pub insertions: u64,
    /// Lines that are removed.
    pub deletions: u64,
}

/// A file that the rewind changes.
#[derive(Debug)]
struct PlannedChange {
    path: PathBuf,
    /// What it becomes; `None` removes it.
    becomes: Option<(FileVersion, Vec<u8>)>,
}

/// Why a rewind cannot be planned.
#[derive(Debug, thiserror::Error)]
#[error("cannot read the file history ({0}); check the state folder")]
pub struct FileRewindError(#[from] io::Error);

/// What the journal says about a file.
struct PathHistory {
    /// The state before the first change after the prompt; `None` if there is no such change.
    target: Option<Option<FileVersion>>,
    last: FileChange,
}

impl FileRewind {
    pub(super) fn plan(
        context: &ToolContext,
        state: &ToolState,
        point: RewindPoint,
    ) -> Result<Self, FileRewindError> {
        let journal = ChangeJournal::of(state)?;
        let mut files: BTreeMap<PathBuf, PathHistory> = BTreeMap::new();
        for change in journal.read()? {
            let target = point.is_before(&change).then(|| change.before.clone());
            match files.get_mut(&change.path) {
                Some(history) => {
                    history.target = history.target.take().or(target);
                    history.last = change;
                }
                None => {
                    files.insert(change.path.clone(), PathHistory { target, last: change });
                }
            }
        }
        let mut rewind = Self::default();
        for (path, history) in files {
            if let Some(target) = &history.target {
                rewind.add(context, &journal, path, target.as_ref(), &history.last)?;
            }
        }
        Ok(rewind)
    }

    fn add(
        &mut self,
        context: &ToolContext,
        journal: &ChangeJournal,
        path: PathBuf,
        target: Option<&FileVersion>,
        last: &FileChange,
    ) -> io::Result<()> {
        let Ok((_, now)) = current_state(context, &path) else {
            self.conflicts.push(path);
            return Ok(());
        };
        let hash = now.as_ref().map(|now| now.hash.as_str());
        if hash == target.map(|target| target.hash.as_str()) {
            return Ok(());
        }
        // A crash may have come between the note of the last change and the change.
        let before_last = last.before.as_ref().map(|before| before.hash.as_str());
        if hash != last.after.as_deref() && hash != before_last {
            self.conflicts.push(path.clone());
        }
        let becomes = match target {
            None => None,
            Some(version) => match journal.read_blob(&version.hash)? {
                Some(bytes) => Some((version.clone(), bytes)),
                None => {
                    self.lost.push(path);
                    return Ok(());
                }
            },
        };
        let old = now.map(|now| now.bytes).unwrap_or_default();
        let new = becomes.as_ref().map(|(_, bytes)| bytes.as_slice()).unwrap_or_default();
        self.count_lines(&old, new);
        self.changes.push(PlannedChange { path, becomes });
        Ok(())
    }

    fn count_lines(&mut self, old: &[u8], new: &[u8]) {
        let (old, new) = (String::from_utf8_lossy(old), String::from_utf8_lossy(new));
        for line in diff_hunks(&old, &new).iter().flat_map(|hunk| &hunk.lines) {
            self.insertions += u64::from(line.starts_with('+'));
            self.deletions += u64::from(line.starts_with('-'));
        }
    }

    /// The files that the rewind changes or removes.
    pub fn changed_files(&self) -> impl Iterator<Item = &Path> {
        self.changes.iter().map(|change| change.path.as_path())
    }

    /// The files that are not as a tool of the conversation left them: the rewind would overwrite
    /// what another program or a person has done.
    #[must_use]
    pub fn conflicts(&self) -> &[PathBuf] {
        &self.conflicts
    }

    /// The files whose contents are not kept any more; they stay as they are.
    #[must_use]
    pub fn lost(&self) -> &[PathBuf] {
        &self.lost
    }

    pub(super) fn apply(&self, context: &ToolContext, state: &ToolState) -> Result<(), ToolError> {
        let journal = ChangeJournal::of(state).map_err(|error| journal_error(&error))?;
        for change in &self.changes {
            change.apply(context, state, &journal)?;
        }
        Ok(())
    }
}

impl PlannedChange {
    fn apply(
        &self,
        context: &ToolContext,
        state: &ToolState,
        journal: &ChangeJournal,
    ) -> Result<(), ToolError> {
        let (resolved, now) = current_state(context, &self.path)?;
        let after = self.becomes.as_ref().map(|(version, _)| version.hash.as_str());
        let at = context.clock().now();
        let source = ChangeSource::Rewind {};
        let noted = FileChange::new(source, at, &self.path, now.as_ref(), after);
        journal
            .note(&noted, now.as_ref().map(|now| now.bytes.as_slice()))
            .map_err(|error| journal_error(&error))?;
        match &self.becomes {
            Some((version, bytes)) => {
                atomic_write::replace_atomically(&resolved, now.as_ref(), bytes)?;
                let mode = Permissions::from_mode(version.mode);
                std::fs::set_permissions(&self.path, mode)
                    .map_err(|error| rewind_error(&self.path, &error))?;
                state.record_read(&resolved.real_path(), &version.hash).unwrap_or_default();
            }
            None if now.is_some() => {
                std::fs::remove_file(&self.path)
                    .map_err(|error| rewind_error(&self.path, &error))?;
            }
            None => {}
        }
        Ok(())
    }
}

/// The file as it is now.
fn current_state(
    context: &ToolContext,
    path: &Path,
) -> Result<(ResolvedPath, Option<FileSnapshot>), ToolError> {
    let resolved = write_target::resolve_writable(context.zones(), &path.to_string_lossy())?;
    let now = write_target::read_snapshot(&resolved)?;
    Ok((resolved, now))
}

fn rewind_error(path: &Path, error: &io::Error) -> ToolError {
    ToolError::new(
        "rewind_failed",
        &format!("{} could not be brought back: {error}", path.display()),
        "check the folder and the disk, then repeat the rewind",
    )
}

fn journal_error(error: &io::Error) -> ToolError {
    ToolError::new(
        "rewind_failed",
        &format!("cannot write the file history: {error}"),
        "check the state folder and the disk, then repeat the rewind",
    )
}
