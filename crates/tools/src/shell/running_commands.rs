//! Running commands that may change files: while one runs, an authorised path may lead elsewhere
//! before another shell opens it.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use windlass_core::log::ids::LaneId;
use windlass_core::permission::{ShellCommand, is_read_only};

/// The running commands of all conversations.
#[derive(Debug, Default)]
pub(crate) struct RunningCommands {
    running: Mutex<Vec<Arc<RunningEntry>>>,
}

#[derive(Debug)]
struct RunningEntry {
    lane: LaneId,
    place: RunMode,
}

/// Whether a command runs in the foreground.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RunMode {
    /// Its conversation waits for it.
    Foreground,
    /// Its conversation continues meanwhile.
    Background,
}

/// A running command; dropping it records that the command has ended.
#[derive(Debug)]
pub(crate) struct RunningGuard {
    all: Arc<RunningCommands>,
    own: Arc<RunningEntry>,
}

impl RunningCommands {
    /// Records that a command starts.
    pub(crate) fn register(all: &Arc<Self>, lane: &LaneId, place: RunMode) -> RunningGuard {
        let own = Arc::new(RunningEntry { lane: lane.clone(), place });
        all.lock_running().push(Arc::clone(&own));
        RunningGuard { all: Arc::clone(all), own }
    }

    /// Returns whether a command is running in the background or in another conversation than
    /// `lane`, so that a command of `lane` does not wait for it.
    pub(crate) fn has_concurrent(&self, lane: &LaneId) -> bool {
        let is_beside =
            |entry: &Arc<RunningEntry>| entry.place == RunMode::Background || entry.lane != *lane;
        self.lock_running().iter().any(is_beside)
    }

    fn lock_running(&self) -> MutexGuard<'_, Vec<Arc<RunningEntry>>> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for RunningGuard {
    fn drop(&mut self) {
        let own = &self.own;
        self.all.lock_running().retain(|entry| !Arc::ptr_eq(entry, own));
    }
}

/// Returns whether a command changes no files.
pub(crate) fn changes_no_files(shell: &ShellCommand) -> bool {
    shell.unsupported.is_empty()
        && shell.writes.is_empty()
        && shell.redirects.is_empty()
        && shell.commands.iter().all(is_read_only)
}
