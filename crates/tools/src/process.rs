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
mod output;
mod running;
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
    /// How long it may run.
    pub(crate) timeout_ms: u64,
}

/// A command that came to its end.
#[derive(Debug)]
pub(crate) struct Ended {
    /// How it ended.
    pub(crate) how: How,
    /// What it printed, head and tail.
    pub(crate) output: String,
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
}

/// What became of the processes a command left behind.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Swept {
    /// How many there were.
    pub(crate) found: usize,
    /// How many would not go, even when killed.
    pub(crate) leaked: usize,
}

/// Runs a command to its end. Dropping the future ends the command.
pub(crate) async fn run(job: &Job, clock: &dyn Clock) -> io::Result<Ended> {
    let started = clock.monotonic_ms();
    let mut running = running::Running::start(job)?;
    let how = running.watch(job.timeout_ms, clock).await?;
    let swept = running.end(clock).await;
    let after_ms = clock.monotonic_ms().saturating_sub(started);
    Ok(Ended { how, output: running.output_text(), swept, after_ms })
}

/// The one place where processes are made: nothing is inherited that is not named.
#[expect(clippy::disallowed_methods, reason = "this is where processes are meant to be made")]
fn command(program: impl AsRef<OsStr>, folder: &Path) -> tokio::process::Command {
    let mut command = tokio::process::Command::new(program);
    command.env_clear().current_dir(folder);
    command
}
