//! Background commands: they continue after their call and are polled by later calls.
//!
//! They belong to a conversation and to this process, and end with either. A process that keeps a
//! conversation open ([`ToolContext::keep_background_commands`]) keeps them between its runs, too.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::{Notify, watch};
use tokio::task::AbortHandle;
use windlass_core::call::outcome::ToolError;
use windlass_core::log::ids::LaneId;
use windlass_runtime::ports::{Clock, ProcessLauncher};

use super::report;
use super::running_commands::RunningGuard;
use crate::limits::{MAX_BACKGROUND_COMMANDS, MAX_ENDED_COMMANDS, MAX_POLLED_BYTES};
use crate::process::{self, BackgroundMover, BackgroundSwitch, CommandEnd, CommandJob};
use crate::tool_context::ToolContext;

/// The background commands of all conversations.
#[derive(Debug, Default)]
pub(crate) struct BackgroundCommands {
    commands: Mutex<BTreeMap<(LaneId, String), Arc<BackgroundCommand>>>,
    /// The commands in the foreground that could move to the background.
    foreground: Mutex<BTreeMap<(LaneId, String), BackgroundMover>>,
    /// The conversations whose commands outlive their runs.
    kept: Mutex<BTreeSet<LaneId>>,
    /// How many commands have started and ended.
    changes: Arc<watch::Sender<u64>>,
}

/// A command that runs, or is about to.
pub(super) type RunningJob = Pin<Box<dyn Future<Output = io::Result<CommandEnd>> + Send>>;

/// A command in the foreground; dropping it means that it has ended or moved.
pub(super) struct ForegroundGuard<'a> {
    all: &'a BackgroundCommands,
    key: (LaneId, String),
}

impl Drop for ForegroundGuard<'_> {
    fn drop(&mut self) {
        lock_ignoring_poison(&self.all.foreground).remove(&self.key);
    }
}

/// A background command.
#[derive(Debug)]
pub(super) struct BackgroundCommand {
    /// Its number among the changes of this process: later ones are greater.
    number: u64,
    command: String,
    output_file: PathBuf,
    stop: Arc<Notify>,
    task: AbortHandle,
    read_offset: Mutex<u64>,
    ended: Arc<Mutex<Option<io::Result<CommandEnd>>>>,
}

/// A command that is to run in the background.
pub(super) struct BackgroundStart {
    pub(super) command: String,
    pub(super) running: RunningJob,
    /// Asks the command to end.
    pub(super) stop: Arc<Notify>,
    pub(super) output: PathBuf,
    pub(super) running_guard: Option<RunningGuard>,
}

/// Makes a future of a command, which owns what it needs.
pub(super) fn running_job(
    job: CommandJob,
    launcher: Arc<dyn ProcessLauncher>,
    clock: Arc<dyn Clock>,
    stop: Arc<Notify>,
) -> RunningJob {
    Box::pin(async move {
        let (launcher, clock) = (launcher.as_ref(), clock.as_ref());
        process::run_command(&job, launcher, clock, stop.notified()).await
    })
}

/// A background command, as people see it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BackgroundCommandInfo {
    /// The id by which the model reads its output.
    pub id: String,
    /// The command itself.
    pub command: String,
    /// Whether it is still running.
    pub is_running: bool,
    /// How it is doing, in a few words.
    pub state: String,
    /// The file with its output.
    pub output_file: PathBuf,
}

/// Dropping it drops the command's future, which ends the command.
impl Drop for BackgroundCommand {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl BackgroundCommands {
    /// Registers a command in the foreground, which the returned switch moves to the background.
    pub(super) fn enter_foreground(
        &self,
        lane: &LaneId,
        id: &str,
    ) -> (BackgroundSwitch, ForegroundGuard<'_>) {
        let (mover, switch) = BackgroundMover::new();
        let key = (lane.clone(), id.to_owned());
        lock_ignoring_poison(&self.foreground).insert(key.clone(), mover);
        (switch, ForegroundGuard { all: self, key })
    }

    /// Moves the commands of a conversation to the background, as far as there is room; returns their
    /// ids.
    fn move_to_background(&self, lane: &LaneId) -> Vec<String> {
        let room = MAX_BACKGROUND_COMMANDS.saturating_sub(self.count_running(lane));
        let foreground = lock_ignoring_poison(&self.foreground);
        let own = foreground.iter().filter(|((of, _), _)| of == lane).take(room);
        let moved = own.map(|((_, id), mover)| {
            mover.move_command();
            id.clone()
        });
        moved.collect()
    }

    fn count_running(&self, lane: &LaneId) -> usize {
        let shells = lock_ignoring_poison(&self.commands);
        shells.iter().filter(|((of, _), shell)| of == lane && shell.is_running()).count()
    }

    /// Returns whether the conversation may have another command in the background.
    pub(super) fn has_room(&self, lane: &LaneId) -> bool {
        self.count_running(lane) < MAX_BACKGROUND_COMMANDS
    }

    /// Leaves a command to the background.
    pub(super) fn start(&self, lane: &LaneId, id: &str, started: BackgroundStart) {
        let BackgroundStart { command, running, stop, output: output_file, running_guard } =
            started;
        let ended = Arc::new(Mutex::new(None));
        let (result, changes) = (Arc::clone(&ended), Arc::clone(&self.changes));
        let task = tokio::spawn(async move {
            let end = running.await;
            *lock_ignoring_poison(&result) = Some(end);
            drop(running_guard);
            count_change(&changes);
        });
        let shell = BackgroundCommand {
            number: *self.changes.borrow(),
            command,
            output_file,
            stop,
            task: task.abort_handle(),
            read_offset: Mutex::new(0),
            ended,
        };
        let key = (lane.clone(), id.to_owned());
        let mut all = lock_ignoring_poison(&self.commands);
        all.insert(key, Arc::new(shell));
        forget_oldest_ended(&mut all, lane);
        drop(all);
        count_change(&self.changes);
    }

    /// This process no longer drives the conversation: ends its background commands, unless they are
    /// kept.
    pub(super) fn release(&self, lane: &LaneId) {
        if !lock_ignoring_poison(&self.kept).contains(lane) {
            self.end_all(lane);
        }
    }

    /// Returns the command with this id.
    pub(super) fn get(&self, lane: &LaneId, id: &str) -> Option<Arc<BackgroundCommand>> {
        lock_ignoring_poison(&self.commands).get(&(lane.clone(), id.to_owned())).cloned()
    }

    /// Returns the ids of a conversation's commands.
    pub(super) fn ids(&self, lane: &LaneId) -> Vec<String> {
        let shells = lock_ignoring_poison(&self.commands);
        shells.keys().filter(|(of, _)| of == lane).map(|(_, id)| id.clone()).collect()
    }

    /// Ends all background commands of a conversation, without waiting for their grace period.
    fn end_all(&self, lane: &LaneId) {
        let shells: Vec<Arc<BackgroundCommand>> = {
            let mut all = lock_ignoring_poison(&self.commands);
            let leaving: Vec<_> = all.keys().filter(|(of, _)| of == lane).cloned().collect();
            leaving.iter().filter_map(|key| all.remove(key)).collect()
        };
        // Dropping the last handle aborts the command's task, and then its guard ends it.
        drop(shells);
    }
}

impl ToolContext {
    /// Returns the background commands of a conversation that this process has started.
    #[must_use]
    pub fn list_background_commands(&self, lane: &LaneId) -> Vec<BackgroundCommandInfo> {
        let commands = lock_ignoring_poison(&self.background_commands().commands);
        let own = commands.iter().filter(|((of, _), _)| of == lane);
        let info = |((_, id), command): (&(LaneId, String), &Arc<BackgroundCommand>)| {
            BackgroundCommandInfo {
                id: id.clone(),
                command: command.command.clone(),
                is_running: command.is_running(),
                state: report::describe_state(command),
                output_file: command.output_file.clone(),
            }
        };
        own.map(info).collect()
    }

    /// Moves the running commands of a conversation to the background: their calls end at once, and
    /// the model reads their output later. Returns the ids by which it does.
    pub fn move_to_background(&self, lane: &LaneId) -> Vec<String> {
        self.background_commands().move_to_background(lane)
    }

    /// Keeps the background commands of a conversation between its runs, until
    /// [`ToolContext::end_background_commands`] or the end of this process. Otherwise they end with
    /// the run.
    pub fn keep_background_commands(&self, lane: &LaneId) {
        lock_ignoring_poison(&self.background_commands().kept).insert(lane.clone());
    }

    /// Ends the background commands of a conversation, and keeps none from now on. Returns those
    /// that were running.
    pub fn end_background_commands(&self, lane: &LaneId) -> Vec<BackgroundCommandInfo> {
        let known = self.list_background_commands(lane);
        let background = self.background_commands();
        lock_ignoring_poison(&background.kept).remove(lane);
        background.end_all(lane);
        known.into_iter().filter(|command| command.is_running).collect()
    }

    /// Returns a counter that changes when a background command starts or ends, of any conversation.
    #[must_use]
    pub fn watch_background_commands(&self) -> watch::Receiver<u64> {
        self.background_commands().changes.subscribe()
    }

    /// Asks a background command to end; returns whether there is one with this id.
    pub fn stop_background_command(&self, lane: &LaneId, id: &str) -> bool {
        let command = self.background_commands().get(lane, id);
        command.inspect(|command| command.stop()).is_some()
    }

    /// Returns the background command with this id, or an error that lists the known ids.
    pub(super) fn background_command(
        &self,
        lane: &LaneId,
        id: &str,
    ) -> Result<Arc<BackgroundCommand>, ToolError> {
        let background = self.background_commands();
        background.get(lane, id).ok_or_else(|| unknown_shell_error(id, &background.ids(lane)))
    }
}

/// Forgets the commands of a conversation that ended first, if there are too many.
fn forget_oldest_ended(
    all: &mut BTreeMap<(LaneId, String), Arc<BackgroundCommand>>,
    lane: &LaneId,
) {
    let own = all.iter().filter(|((of, _), command)| of == lane && !command.is_running());
    let mut ended: Vec<(u64, (LaneId, String))> =
        own.map(|(key, command)| (command.number, key.clone())).collect();
    ended.sort();
    let too_many = ended.len().saturating_sub(MAX_ENDED_COMMANDS);
    for (_, key) in ended.into_iter().take(too_many) {
        all.remove(&key);
    }
}

fn count_change(changes: &watch::Sender<u64>) {
    changes.send_modify(|count| *count = count.wrapping_add(1));
}

fn unknown_shell_error(id: &str, names: &[String]) -> ToolError {
    let hint = match names {
        [] => "none are running; background commands end with the process".to_owned(),
        names => format!("there are {}", names.join(", ")),
    };
    ToolError::new("unknown_shell", &format!("no background command {id:?}"), &hint)
}

impl BackgroundCommand {
    pub(super) fn is_running(&self) -> bool {
        lock_ignoring_poison(&self.ended).is_none()
    }

    /// Asks the command to end.
    pub(super) fn stop(&self) {
        self.stop.notify_one();
    }

    /// Reads how the command ended, if it has.
    pub(super) fn inspect_end<T>(
        &self,
        look: impl FnOnce(Option<&io::Result<CommandEnd>>) -> T,
    ) -> T {
        look(lock_ignoring_poison(&self.ended).as_ref())
    }

    pub(super) fn output_path(&self) -> &Path {
        &self.output_file
    }

    /// Returns new output since the last read, up to the limit of one result.
    pub(super) fn read_new_output(&self) -> io::Result<Vec<u8>> {
        let mut seen = lock_ignoring_poison(&self.read_offset);
        // Checked before reading: what it printed before it ended is in the file by then.
        let is_running = self.is_running();
        let mut file = match File::open(&self.output_file) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            opened => opened?,
        };
        file.seek(SeekFrom::Start(*seen))?;
        let mut bytes = Vec::new();
        file.take(MAX_POLLED_BYTES).read_to_end(&mut bytes)?;
        let is_full = bytes.len() as u64 == MAX_POLLED_BYTES;
        // An incomplete line, or one that continues beyond the limit, is returned when it is
        // complete; one that is longer than the limit is returned in parts.
        let torn = if is_full { bytes.len() } else { 0 };
        if is_full || is_running {
            bytes.truncate(memchr::memrchr(b'\n', &bytes).map_or(torn, |end| end + 1));
        }
        *seen = seen.saturating_add(bytes.len() as u64);
        Ok(bytes)
    }
}

/// Locks a mutex even if it is poisoned: the data behind it is consistent at all times.
fn lock_ignoring_poison<T>(lock: &Mutex<T>) -> MutexGuard<'_, T> {
    lock.lock().unwrap_or_else(PoisonError::into_inner)
}
