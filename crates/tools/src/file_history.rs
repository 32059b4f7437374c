//! File history: what a file contained before a tool changed it. With it a user takes back what a
//! conversation has done to the files since one of its prompts.
//!
//! The journal of changes is an append-only file in the tool state, the contents are blobs beside
//! it, named by their hash. A change is noted before it is made; a rewind is a change too, so that
//! it can be taken back itself, and can be repeated after a crash.
//!
//! Not here: changes that commands make. They are noticed, because the file is not as it was left.

mod change_journal;
mod rewind_plan;

use std::path::Path;

use windlass_core::call::outcome::ToolError;
use windlass_core::log::entry::Entry;
use windlass_core::log::ids::{CallId, LaneId, ModelCallId, UnixMillis};
use windlass_core::log::record::Record;
use windlass_core::run::child_runs::root_lane;

use self::change_journal::{ChangeJournal, ChangeSource, FileChange};
pub use self::rewind_plan::{FileRewind, FileRewindError};
use crate::ToolContext;
use crate::files::write_target::FileSnapshot;
use crate::tool_context::tool_state::ToolState;

/// A prompt, as far as the file history is concerned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RewindPoint {
    /// The first model call of its run.
    first_call: ModelCallId,
    /// When the run started.
    at: UnixMillis,
}

impl RewindPoint {
    /// Finds the prompt with this id in the log of a conversation; the id of a prompt is that of
    /// its run.
    #[must_use]
    pub fn find(log: &[Entry], prompt: &str) -> Option<Self> {
        let mut found = None;
        let records = log.iter().flat_map(|entry| entry.records.iter().map(move |it| (entry, it)));
        for (entry, record) in records {
            match (record, found) {
                (Record::RunStarted { run }, None) if run.as_str() == prompt => {
                    found = Some(entry.at);
                }
                (Record::ModelCallStarted { model_call, .. }, Some(at)) => {
                    return Some(Self { first_call: *model_call, at });
                }
                _ => {}
            }
        }
        found.map(|at| Self { first_call: ModelCallId::MAX, at })
    }

    /// Returns whether a change was made after the prompt.
    fn is_before(&self, change: &FileChange) -> bool {
        match &change.source {
            ChangeSource::Call { call } => call.model_call >= self.first_call,
            // Those of sub-agents have calls of their own.
            ChangeSource::SubAgent { .. } | ChangeSource::Rewind {} => change.at >= self.at.0,
        }
    }
}

/// The call that changes a file.
pub(crate) struct ChangeOrigin<'a> {
    pub(crate) lane: &'a LaneId,
    pub(crate) call: CallId,
    pub(crate) at: UnixMillis,
}

/// Notes a change before it is made. A history that cannot be written does not keep a tool from its
/// work; the rewind says then that the file was changed.
pub(crate) fn note_change(
    root: &ToolState,
    origin: &ChangeOrigin<'_>,
    path: &Path,
    before: Option<&FileSnapshot>,
    after: &str,
) {
    let source = match root_lane(origin.lane) == *origin.lane {
        true => ChangeSource::Call { call: origin.call },
        false => ChangeSource::SubAgent { lane: origin.lane.clone(), call: origin.call },
    };
    let Ok(journal) = ChangeJournal::of(root) else { return };
    let change = FileChange::new(source, origin.at, path, before, Some(after));
    journal.note(&change, before.map(|before| before.bytes.as_slice())).unwrap_or_default();
}

impl ToolContext {
    /// Finds out what it takes to bring the files that the tools of a conversation have changed to
    /// the state before a prompt.
    ///
    /// # Errors
    ///
    /// Returns an error if the file history cannot be read.
    pub fn plan_file_rewind(
        &self,
        lane: &LaneId,
        point: RewindPoint,
    ) -> Result<FileRewind, FileRewindError> {
        FileRewind::plan(self, &self.tool_state(&root_lane(lane)), point)
    }

    /// Brings the files to the state that was planned.
    ///
    /// # Errors
    ///
    /// Returns an error if a file cannot be written. What was done until then is noted; the rewind
    /// can be repeated.
    pub fn rewind_files(&self, lane: &LaneId, rewind: &FileRewind) -> Result<(), ToolError> {
        rewind.apply(self, &self.tool_state(&root_lane(lane)))
    }
}
