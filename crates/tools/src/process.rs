//! Commands as processes: started in a group of their own, watched, and ended with everything they
//! left behind.
//!
//! A command's group is led by its [guard](guard), which exists before the command does. So there
//! is no instant in which a command runs and nobody would end it: dropping the future that runs
//! it, leaving the process and dying of SIGKILL all close the guard's pipe, and the guard ends the
//! group. Processes that left the group are found by a [mark](survivors) in their environment.
//!
//! Out of reach: a process that leaves the group and clears its environment too, or one of another
//! user. Holding those takes a cgroup or a pid namespace, which is a sandbox's work.

mod capture;
mod ending;
mod environment;
mod guard;
mod orphans;
mod output;
mod rations;
mod running;
mod spill;
mod survivors;

#[cfg(test)]
mod capture_tests;
#[cfg(test)]
mod environment_tests;
#[cfg(test)]
mod survivors_tests;

use std::ffi::OsStr;
use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitStatus;

use windlass_runtime::ports::Clock;

pub(crate) use environment::Environment;
pub use orphans::{Reaped, count_orphans, reap_orphans};
pub(crate) use rations::Rations;

/// A command to run.
#[derive(Debug)]
pub(crate) struct Job {
    /// The shell that reads it.
    pub(crate) shell: PathBuf,
    /// Its text.
    pub(crate) command: String,
    /// Where it runs.
    pub(crate) folder: PathBuf,
    /// What it finds in its environment.
    pub(crate) environment: Environment,
    /// How much of the machine it may take.
    pub(crate) rations: Rations,
    /// How long it may run.
    pub(crate) timeout_ms: u64,
    /// Where its output goes, and when.
    pub(crate) spill: Spill,
    /// Where its shell writes in which folder it ended.
    pub(crate) ended_in: Option<PathBuf>,
}

/// Where output is kept that is more than is shown.
#[derive(Debug, Clone)]
pub(crate) struct Spill {
    /// The file; without one only head and tail are kept.
    pub(crate) path: Option<PathBuf>,
    /// From how many bytes on.
    pub(crate) from: usize,
}

/// A command that came to its end.
#[derive(Debug)]
pub(crate) struct Ended {
    /// How it ended.
    pub(crate) how: How,
    /// What it printed, head and tail.
    pub(crate) output: String,
    /// The file with all of it, if there is one.
    pub(crate) kept: Option<Kept>,
    /// What it left behind.
    pub(crate) swept: Swept,
    /// How long it took, with all that was left behind.
    pub(crate) after_ms: u64,
}

/// How a command ended.
#[derive(Debug)]
pub(crate) enum How {
    /// By itself, or by a signal that was not ours.
    Exited(ExitStatus),
    /// Its time was up.
    TimedOut,
    /// Somebody said so.
    Stopped,
}

/// A file of output.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Kept {
    /// Where it is.
    pub(crate) path: PathBuf,
    /// How many bytes were printed.
    pub(crate) printed: u64,
    /// How many of them are in it.
    pub(crate) bytes: u64,
}

/// What became of the processes a command left behind.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Swept {
    /// How many there were.
    pub(crate) found: usize,
    /// How many would not go, even when killed.
    pub(crate) leaked: usize,
}

/// Runs a command to its end, or until `stop`. Dropping the future ends the command.
pub(crate) async fn run(
    job: &Job,
    clock: &dyn Clock,
    stop: impl Future<Output = ()>,
) -> io::Result<Ended> {
    let started = clock.monotonic_ms();
    let mut running = running::Running::start(job)?;
    let how = running.watch(job.timeout_ms, clock, stop).await?;
    let swept = running.end(clock).await;
    let after_ms = clock.monotonic_ms().saturating_sub(started);
    let (output, kept) = running.into_output();
    Ok(Ended { how, output, kept, swept, after_ms })
}

/// The one place where processes are made: nothing is inherited that is not named.
#[expect(clippy::disallowed_methods, reason = "this is where processes are meant to be made")]
fn command(program: impl AsRef<OsStr>, folder: &Path) -> tokio::process::Command {
    let mut command = tokio::process::Command::new(program);
    command.env_clear().current_dir(folder);
    command
}
