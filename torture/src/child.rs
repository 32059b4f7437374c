//! A process of ours: started in a group of its own, waited for, killed when dropped.

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

use crate::brood::Brood;
use crate::clock::Deadline;

/// How to start a process.
#[derive(Debug, Clone)]
pub(crate) struct Invocation {
    pub(crate) program: PathBuf,
    pub(crate) arguments: Vec<String>,
    pub(crate) variables: Vec<(&'static str, String)>,
    pub(crate) work: PathBuf,
    /// What it prints is added here.
    pub(crate) output: PathBuf,
}

/// A running process.
#[derive(Debug)]
pub(crate) struct Child<'b> {
    process: std::process::Child,
    pid: Pid,
    watch: OwnedFd,
    brood: &'b Brood,
}

/// How a process ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ended {
    /// By itself, and it said that all is well.
    Well,
    /// By itself, with a complaint.
    Badly,
    /// It died of this signal.
    Died(i32),
}

impl<'b> Child<'b> {
    pub(crate) fn start(brood: &'b Brood, invocation: &Invocation) -> Result<Self> {
        let mut command = command(invocation)?;
        let what = || format!("{} cannot be started", invocation.program.display());
        brood.add(|| {
            let process = command.spawn().with_context(what)?;
            let pid = pid(&process)?;
            let watch = pidfd_open(pid, PidfdFlags::empty()).with_context(what)?;
            Ok((pid, Self { process, pid, watch, brood }))
        })
    }

    /// Waits for its end, but not longer than `patience`.
    pub(crate) fn wait(&mut self, patience: Duration) -> Result<Option<Ended>> {
        let deadline = Deadline::after(patience);
        loop {
            if let Some(status) = self.process.try_wait()? {
                self.brood.remove(self.pid);
                return Ok(Some(Ended::from(status)));
            }
            if deadline.has_passed() {
                return Ok(None);
            }
            self.watch_for(deadline.left())?;
        }
    }

    /// Sleeps until it ends or the time is over.
    fn watch_for(&self, time: Duration) -> Result<()> {
        let time = Timespec {
            tv_sec: i64::try_from(time.as_secs())?,
            tv_nsec: i64::from(time.subsec_nanos()),
        };
        match poll(&mut [PollFd::new(&self.watch, PollFlags::IN)], Some(&time)) {
            Ok(_) | Err(Errno::INTR) => Ok(()),
            Err(error) => Err(error).context("a process cannot be watched"),
        }
    }

    /// Sends it a signal; its children get none.
    pub(crate) fn signal(&self, signal: Signal) -> Result<()> {
        kill_process(self.pid, signal).context("a process cannot be signalled")
    }
}

impl Drop for Child<'_> {
    fn drop(&mut self) {
        // It may have been waited for already; then both do nothing.
        let _ = self.process.kill();
        let _ = self.process.wait();
        self.brood.remove(self.pid);
    }
}

impl From<ExitStatus> for Ended {
    fn from(status: ExitStatus) -> Self {
        match status.signal() {
            Some(signal) => Self::Died(signal),
            None if status.success() => Self::Well,
            None => Self::Badly,
        }
    }
}

/// The number of a process that was just started.
pub(crate) fn pid(process: &std::process::Child) -> Result<Pid> {
    let pid = i32::try_from(process.id()).ok().and_then(Pid::from_raw);
    pid.context("a process has no number")
}

fn command(invocation: &Invocation) -> Result<Command> {
    let output = File::options().create(true).append(true).open(&invocation.output);
    let output = output.with_context(|| format!("the file {}", invocation.output.display()))?;
    let mut command = bare(&invocation.program);
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
pub(crate) fn bare(program: &std::path::Path) -> Command {
    Command::new(program)
}
