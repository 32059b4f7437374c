//! Commands that run now and may change files. While one of them runs, a path that was judged may lead
//! elsewhere before another shell opens it.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use windlass_core::ids::LaneId;
use windlass_core::permission::{Shell, is_read_only};

/// The commands of all conversations that run now.
#[derive(Debug, Default)]
pub(crate) struct CommandsUnderWay {
    running: Mutex<Vec<Arc<Entry>>>,
}

#[derive(Debug)]
struct Entry {
    lane: LaneId,
    place: RunsIn,
}

/// Where a command runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RunsIn {
    /// Its conversation waits for it.
    Foreground,
    /// Its conversation goes on.
    Background,
}

/// A command under way; dropping it says that the command has ended.
#[derive(Debug)]
pub(crate) struct UnderWay {
    all: Arc<CommandsUnderWay>,
    own: Arc<Entry>,
}

impl CommandsUnderWay {
    /// Notes that a command starts.
    pub(crate) fn start(all: &Arc<Self>, lane: &LaneId, place: RunsIn) -> UnderWay {
        let own = Arc::new(Entry { lane: lane.clone(), place });
        all.held().push(Arc::clone(&own));
        UnderWay { all: Arc::clone(all), own }
    }

    /// Whether a command runs that a command of `lane` does not wait for.
    pub(crate) fn has_beside(&self, lane: &LaneId) -> bool {
        let is_beside =
            |entry: &Arc<Entry>| entry.place == RunsIn::Background || entry.lane != *lane;
        self.held().iter().any(is_beside)
    }

    fn held(&self) -> MutexGuard<'_, Vec<Arc<Entry>>> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for UnderWay {
    fn drop(&mut self) {
        let own = &self.own;
        self.all.held().retain(|entry| !Arc::ptr_eq(entry, own));
    }
}

/// Whether a command leaves all files as they are.
pub(crate) fn leaves_files_alone(shell: &Shell) -> bool {
    shell.doubts.is_empty()
        && shell.writes.is_empty()
        && shell.redirects.is_empty()
        && shell.commands.iter().all(is_read_only)
}
