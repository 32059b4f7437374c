//! A child process: started in a process group of its own, waited for, killed when dropped.

use std::fs::File;
use std::os::fd::OwnedFd;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::PathBuf;
use std::process::{Command, ExitStatus, Stdio};
use std::time::Duration;

use anyhow::{Context, Result};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::process::{Pid, PidfdFlags, Signal, kill_process, pidfd_open};

use crate::process::child_registry::ChildRegistry;
use crate::process::clock::Deadline;

/// How to start a process.
#[derive(Debug, Clone)]
pub(crate) struct ProcessSpec {
    pub(crate) program: PathBuf,
    pub(crate) arguments: Vec<String>,
    pub(crate) variables: Vec<(&'static str, String)>,
    pub(crate) work: PathBuf,
    /// The file to which its output is appended.
    pub(crate) output: PathBuf,
}

/// A running process.
#[derive(Debug)]
pub(crate) struct ChildProcess<'b> {
    process: std::process::Child,
    pid: Pid,
    watch: OwnedFd,
    registry: &'b ChildRegistry,
}

/// How a process ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ProcessEnd {
    /// It exited by itself, with success.
    Success,
    /// It exited by itself, with an error.
    Failure,
    /// It was killed by this signal.
    Killed(i32),
}

impl<'b> ChildProcess<'b> {
    pub(crate) fn start(registry: &'b ChildRegistry, invocation: &ProcessSpec) -> Result<Self> {
        let mut command = build_command(invocation)?;
        let what = || format!("cannot start {}", invocation.program.display());
        registry.start_child(|| {
            let process = command.spawn().with_context(what)?;
            let pid = pid_of(&process)?;
            let watch = pidfd_open(pid, PidfdFlags::empty()).with_context(what)?;
            Ok((pid, Self { process, pid, watch, registry }))
        })
    }

    /// Waits until the process ends, at most for `patience`.
    pub(crate) fn wait(&mut self, patience: Duration) -> Result<Option<ProcessEnd>> {
        let deadline = Deadline::after(patience);
        loop {
            if let Some(status) = self.process.try_wait()? {
                self.registry.remove(self.pid);
                return Ok(Some(ProcessEnd::from(status)));
            }
            if deadline.has_passed() {
                return Ok(None);
            }
            self.sleep_until_end(deadline.left())?;
        }
    }

    /// Sleeps until the process ends or the time is over.
    fn sleep_until_end(&self, time: Duration) -> Result<()> {
        let time = Timespec {
            tv_sec: i64::try_from(time.as_secs())?,
            tv_nsec: i64::from(time.subsec_nanos()),
        };
        match poll(&mut [PollFd::new(&self.watch, PollFlags::IN)], Some(&time)) {
            Ok(_) | Err(Errno::INTR) => Ok(()),
            Err(error) => Err(error).context("a process cannot be watched"),
        }
    }

    /// Sends the process a signal; its children get none.
    pub(crate) fn signal(&self, signal: Signal) -> Result<()> {
        kill_process(self.pid, signal).context("a process cannot be signalled")
    }
}

impl Drop for ChildProcess<'_> {
    fn drop(&mut self) {
        // It may have been waited for already; then both calls do nothing.
        let _ = self.process.kill();
        let _ = self.process.wait();
        self.registry.remove(self.pid);
    }
}

impl From<ExitStatus> for ProcessEnd {
    fn from(status: ExitStatus) -> Self {
        match status.signal() {
            Some(signal) => Self::Killed(signal),
            None if status.success() => Self::Success,
            None => Self::Failure,
        }
    }
}

/// The id of a process that was just started.
pub(crate) fn pid_of(process: &std::process::Child) -> Result<Pid> {
    let pid = i32::try_from(process.id()).ok().and_then(Pid::from_raw);
    pid.context("a process has no number")
}

fn build_command(invocation: &ProcessSpec) -> Result<Command> {
    let output = File::options().create(true).append(true).open(&invocation.output);
    let output = output.with_context(|| format!("the file {}", invocation.output.display()))?;
    let mut command = bare_command(&invocation.program);
    command
        .args(&invocation.arguments)
        .envs(invocation.variables.iter().map(|(name, value)| (*name, value)))
        .current_dir(&invocation.work)
        .stdin(Stdio::null())
        .stdout(output.try_clone()?)
        .stderr(output)
        .process_group(0);
    Ok(command)
}

#[expect(clippy::disallowed_methods, reason = "starting processes is what this program is for")]
pub(crate) fn bare_command(program: &std::path::Path) -> Command {
    Command::new(program)
}
