//! Commands in the background: they run on after their call and are looked at by later ones.
//!
//! They belong to a conversation and to this process. When either goes, so do they.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;
use tokio::task::AbortHandle;
use windlass_core::ids::LaneId;
use windlass_core::outcome::ToolError;
use windlass_runtime::ports::Clock;

use super::under_way::UnderWay;
use crate::limits::{MAX_BACKGROUND, POLLED_BYTES};
use crate::process::{self, Ended, Job};
use crate::workplace::Workplace;

/// The commands of all conversations.
#[derive(Debug, Default)]
pub(crate) struct Background {
    shells: Mutex<BTreeMap<(LaneId, String), Arc<Shell>>>,
}

/// One of them.
#[derive(Debug)]
pub(super) struct Shell {
    output: PathBuf,
    stop: Arc<Notify>,
    task: AbortHandle,
    seen: Mutex<u64>,
    ended: Arc<Mutex<Option<io::Result<Ended>>>>,
}

/// A command that is about to start.
pub(super) struct Started {
    pub(super) job: Job,
    pub(super) output: PathBuf,
    pub(super) under_way: Option<UnderWay>,
}

/// Dropping it drops the command, and that ends it.
impl Drop for Shell {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Background {
    /// Starts a command. `None` if the conversation has too many already.
    pub(super) fn start(
        &self,
        lane: &LaneId,
        id: &str,
        started: Started,
        clock: Arc<dyn Clock>,
    ) -> Option<()> {
        let Started { job, output, under_way } = started;
        let mut shells = held(&self.shells);
        let running = shells.iter().filter(|((of, _), shell)| of == lane && shell.is_running());
        if running.count() >= MAX_BACKGROUND {
            return None;
        }
        let (stop, ended) = (Arc::new(Notify::new()), Arc::new(Mutex::new(None)));
        let (stopped, result) = (Arc::clone(&stop), Arc::clone(&ended));
        let task = tokio::spawn(async move {
            let end = process::run(&job, clock.as_ref(), stopped.notified()).await;
            *held(&result) = Some(end);
            drop(under_way);
        });
        let shell = Shell { output, stop, task: task.abort_handle(), seen: Mutex::new(0), ended };
        shells.insert((lane.clone(), id.to_owned()), Arc::new(shell));
        Some(())
    }

    /// The command of this name.
    pub(super) fn get(&self, lane: &LaneId, id: &str) -> Option<Arc<Shell>> {
        held(&self.shells).get(&(lane.clone(), id.to_owned())).cloned()
    }

    /// The names of a conversation's commands.
    pub(super) fn names(&self, lane: &LaneId) -> Vec<String> {
        let shells = held(&self.shells);
        shells.keys().filter(|(of, _)| of == lane).map(|(_, id)| id.clone()).collect()
    }

    /// Ends all commands of a conversation. They have their grace, and nobody waits for it.
    pub(super) fn leave(&self, lane: &LaneId) {
        let shells: Vec<Arc<Shell>> = {
            let mut all = held(&self.shells);
            let leaving: Vec<_> = all.keys().filter(|(of, _)| of == lane).cloned().collect();
            leaving.iter().filter_map(|key| all.remove(key)).collect()
        };
        // Dropping the last handle aborts the command's task, and then its guard ends it.
        drop(shells);
    }
}

impl Workplace {
    /// The background command of this name.
    pub(super) fn shell(&self, lane: &LaneId, id: &str) -> Result<Arc<Shell>, ToolError> {
        let background = self.background();
        background.get(lane, id).ok_or_else(|| unknown(id, &background.names(lane)))
    }
}

fn unknown(id: &str, names: &[String]) -> ToolError {
    let hint = match names {
        [] => "there is none; commands in the background end with the process".to_owned(),
        names => format!("there are {}", names.join(", ")),
    };
    ToolError::new("unknown_shell", &format!("no command in the background is {id:?}"), &hint)
}

impl Shell {
    pub(super) fn is_running(&self) -> bool {
        held(&self.ended).is_none()
    }

    /// Asks it to end.
    pub(super) fn stop(&self) {
        self.stop.notify_one();
    }

    /// Looks at how it ended.
    pub(super) fn with_end<T>(&self, look: impl FnOnce(Option<&io::Result<Ended>>) -> T) -> T {
        look(held(&self.ended).as_ref())
    }

    pub(super) fn output(&self) -> &Path {
        &self.output
    }

    /// What it printed since somebody last looked, as much as is shown at once.
    pub(super) fn read_on(&self) -> io::Result<Vec<u8>> {
        let mut seen = held(&self.seen);
        // Asked before reading: what it printed before it ended is in the file by then.
        let is_running = self.is_running();
        let mut file = match File::open(&self.output) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            opened => opened?,
        };
        file.seek(SeekFrom::Start(*seen))?;
        let mut bytes = Vec::new();
        file.take(POLLED_BYTES).read_to_end(&mut bytes)?;
        let is_full = bytes.len() as u64 == POLLED_BYTES;
        // A line that is still being written, or goes on beyond what is shown, is told when it is
        // whole; one that is longer than all that is shown is told in parts.
        let torn = if is_full { bytes.len() } else { 0 };
        if is_full || is_running {
            bytes.truncate(memchr::memrchr(b'\n', &bytes).map_or(torn, |end| end + 1));
        }
        *seen = seen.saturating_add(bytes.len() as u64);
        Ok(bytes)
    }
}

/// A lock that a panic elsewhere does not take with it: what is behind it is whole at all times.
fn held<T>(lock: &Mutex<T>) -> MutexGuard<'_, T> {
    lock.lock().unwrap_or_else(PoisonError::into_inner)
}
