//! A process in a group that a guard ends: what commands and hooks have in common.

use std::io;
use std::process::ExitStatus;

use tokio::process::{ChildStderr, ChildStdin, ChildStdout};
use windlass_runtime::ports::{
    Clock, LaunchGroup, LaunchRequest, LaunchedProcess, ProcessLauncher,
};

use super::orphans::{OWNER_VARIABLE, own_owner_name};
use super::process_guard::ProcessGuard;
use super::{CleanupResult, group_cleanup, group_processes};

/// A running process whose group is ended with it. Dropping it ends the group, by its guard.
#[derive(Debug)]
pub(crate) struct GroupedProcess {
    process: LaunchedProcess,
    guard: ProcessGuard,
}

impl GroupedProcess {
    /// Starts a process in a group of its own, with the marks by which its descendants are found.
    pub(crate) async fn start(
        mut request: LaunchRequest,
        launcher: &dyn ProcessLauncher,
    ) -> io::Result<Self> {
        let guard = ProcessGuard::start()?;
        let mark = group_processes::group_mark(guard.group());
        request.environment.push((group_processes::GROUP_VARIABLE.into(), mark.into()));
        request.environment.push((OWNER_VARIABLE.into(), own_owner_name().into()));
        request.group = LaunchGroup::Join(guard.group().as_raw_nonzero().get());
        let process = launcher.launch(request).await?;
        Ok(Self { process, guard })
    }

    /// Takes the pipe to its standard input.
    pub(crate) fn take_stdin(&mut self) -> Option<ChildStdin> {
        self.process.stdin.take()
    }

    /// Takes the pipe from its standard output.
    pub(crate) fn take_stdout(&mut self) -> io::Result<ChildStdout> {
        self.process.stdout.take().ok_or_else(no_pipe)
    }

    /// Takes the pipe from its standard error.
    pub(crate) fn take_stderr(&mut self) -> io::Result<ChildStderr> {
        self.process.stderr.take().ok_or_else(no_pipe)
    }

    /// Waits until the process itself has ended.
    pub(crate) async fn wait(&mut self) -> io::Result<ExitStatus> {
        self.process.handle.wait().await
    }

    /// Returns the hosts that the launcher kept the process from reaching.
    pub(crate) fn blocked_hosts(&self) -> Vec<String> {
        self.process.handle.blocked_hosts()
    }

    /// Returns the hosts that the process reached through the launcher.
    pub(crate) fn reached_hosts(&self) -> Vec<String> {
        self.process.handle.reached_hosts()
    }

    /// Ends what is left of the group: SIGTERM, grace period, SIGKILL.
    pub(crate) async fn end_group(&mut self, clock: &dyn Clock) -> CleanupResult {
        let helpers = self.process.handle.helper_ids();
        let cleanup = group_cleanup::end_group(&mut self.guard, &helpers, clock).await;
        // A launcher's helper ends last: it is what everything else ends with.
        self.process.handle.end().await;
        cleanup
    }
}

fn no_pipe() -> io::Error {
    io::Error::other("no pipe to read from")
}
