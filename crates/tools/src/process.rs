//! Runs commands in process groups that are ended completely.
//!
//! A [guard](process_guard) process leads a command's group and exists before the command. So there
//! is no moment in which a command could outlive us: dropping the future that runs it, exiting the
//! process and being killed by SIGKILL all close the guard's pipe, and the guard ends the group.
//! Processes that left the group are found by a [mark](group_processes) in their environment.
//!
//! Not covered: a process that leaves the group and also clears its environment, or one of another
//! user. Containing those takes a cgroup or a pid namespace, which is a sandbox's task.

mod background_switch;
mod capture;
mod command_process;
mod environment;
mod group_cleanup;
mod group_processes;
mod grouped_process;
mod orphans;
mod output_reader;
mod piped_process;
mod process_guard;
mod program;
mod resource_limits;
mod spill_file;

#[cfg(test)]
mod capture_tests;
#[cfg(test)]
mod environment_tests;
#[cfg(test)]
mod group_processes_tests;

use std::ffi::OsStr;
use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitStatus;

#[cfg(feature = "shell")]
use windlass_core::permission::CommandAccess;
use windlass_runtime::ports::{
    Clock, LaunchAccess, LaunchRequest, ProcessLauncher, ProgressReporter,
};

#[cfg(feature = "shell")]
pub(crate) use background_switch::BackgroundMover;
pub(crate) use background_switch::BackgroundSwitch;
pub(crate) use environment::CommandEnvironment;
pub(crate) use grouped_process::GroupedProcess;
pub use orphans::{ReapedOrphans, count_orphans, reap_orphans};
pub use piped_process::{PipedCommand, PipedProcess, ProcessPipes};
pub(crate) use program::{ProgramEnd, ProgramJob, run_program};
pub(crate) use resource_limits::ResourceLimits;

/// A command to run.
#[derive(Debug)]
pub(crate) struct CommandJob {
    /// The shell that runs it.
    pub(crate) shell: PathBuf,
    /// The text of the command.
    pub(crate) command: String,
    /// The working folder.
    pub(crate) folder: PathBuf,
    /// The environment variables.
    pub(crate) environment: CommandEnvironment,
    /// The resource limits.
    pub(crate) limits: ResourceLimits,
    /// The timeout in milliseconds.
    pub(crate) timeout_ms: u64,
    /// Where and when its output is spilled to a file.
    pub(crate) spill_target: SpillTarget,
    /// The file to which its shell writes its final working folder.
    pub(crate) final_folder_file: Option<PathBuf>,
    /// Takes the output while the command runs.
    pub(crate) live_output: ProgressReporter,
    /// Tells when the command moves to the background.
    pub(crate) background: BackgroundSwitch,
    /// What the command needs of the sandbox.
    pub(crate) needs: SandboxNeeds,
}

/// What a process needs of the sandbox, as its launcher is told.
#[derive(Debug, Clone, Default)]
pub(crate) struct SandboxNeeds {
    /// Whether it only reads.
    pub(crate) access: LaunchAccess,
    /// The folder in which its run works in place of the workspace.
    pub(crate) workplace: Option<PathBuf>,
    /// Folders that were added to the workspace of its run.
    pub(crate) added_folders: Vec<PathBuf>,
    /// Files that rules deny to read.
    pub(crate) unreadable: Vec<PathBuf>,
    /// Files and folders that a person lets it write.
    pub(crate) writable: Vec<PathBuf>,
    /// Hosts with their ports that a person lets it reach.
    pub(crate) hosts: Vec<String>,
    /// Whether it may reach no hosts but these.
    pub(crate) withholds_hosts: bool,
}

impl SandboxNeeds {
    /// Returns them with what a person gives a command.
    ///
    /// # Errors
    ///
    /// Fails if a path leads elsewhere than when the person saw it.
    #[cfg(feature = "shell")]
    pub(crate) fn with_access(mut self, access: &CommandAccess) -> io::Result<Self> {
        let CommandAccess { added, withholds_hosts } = access;
        for path in &added.write {
            let path = PathBuf::from(&**path);
            match path.canonicalize() {
                Ok(real) if real == path => self.writable.push(path),
                // A rule may outlive what it names; a link would be another place.
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                _ => {
                    let path = path.display();
                    return Err(io::Error::other(format!("{path} is not the place it was")));
                }
            }
        }
        self.hosts = added.hosts.iter().map(ToString::to_string).collect();
        self.withholds_hosts = *withholds_hosts;
        Ok(self)
    }

    /// Adds them to a request.
    fn add_to(&self, request: &mut LaunchRequest) {
        request.access = self.access;
        request.workplace.clone_from(&self.workplace);
        request.added_folders.clone_from(&self.added_folders);
        request.unreadable.clone_from(&self.unreadable);
        request.writable.extend_from_slice(&self.writable);
        request.hosts.clone_from(&self.hosts);
        request.withholds_hosts = self.withholds_hosts;
    }
}

/// The file for output that is longer than shown.
#[derive(Debug, Clone)]
pub(crate) struct SpillTarget {
    /// The path of the file; without one only head and tail are kept.
    pub(crate) path: Option<PathBuf>,
    /// The number of bytes above which the file is written.
    pub(crate) threshold_bytes: usize,
}

/// A command that has ended.
#[derive(Debug)]
pub(crate) struct CommandEnd {
    /// How the command ended.
    pub(crate) exit: CommandExit,
    /// The output, head and tail.
    pub(crate) output: String,
    /// The file with all of the output, if there is one.
    pub(crate) output_file: Option<OutputFile>,
    /// The processes that the command left running.
    pub(crate) cleanup: CleanupResult,
    /// How long the command took, including the cleanup of its processes.
    pub(crate) after_ms: u64,
    /// The hosts that the sandbox kept it from reaching.
    pub(crate) blocked_hosts: Vec<String>,
    /// The hosts that it reached through the sandbox.
    pub(crate) reached_hosts: Vec<String>,
}

/// How a command ended.
#[derive(Debug)]
pub(crate) enum CommandExit {
    /// The command exited, or was ended by a signal that was not ours.
    Exited(ExitStatus),
    /// The command timed out.
    TimedOut,
    /// The command was stopped on request.
    Stopped,
}

/// A file with output.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct OutputFile {
    /// The path of the file.
    pub(crate) path: PathBuf,
    /// The number of bytes that were printed.
    pub(crate) printed_bytes: u64,
    /// The number of bytes in the file.
    pub(crate) kept_bytes: u64,
}

/// The result of ending the processes that a command left running.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct CleanupResult {
    /// The number of processes found.
    pub(crate) found: usize,
    /// The number of processes that did not end, even when killed.
    pub(crate) leaked: usize,
}

/// Runs a command to its end, or until `stop`. Dropping the future ends the command.
pub(crate) async fn run_command(
    job: &CommandJob,
    launcher: &dyn ProcessLauncher,
    clock: &dyn Clock,
    stop: impl Future<Output = ()>,
) -> io::Result<CommandEnd> {
    let started = clock.monotonic_ms();
    let mut running = command_process::CommandProcess::start(job, launcher).await?;
    let exit = running.wait(job, clock, stop).await?;
    let cleanup = running.end_group(clock).await;
    let after_ms = clock.monotonic_ms().saturating_sub(started);
    let (blocked_hosts, reached_hosts) = (running.blocked_hosts(), running.reached_hosts());
    let (output, output_file) = running.into_output();
    Ok(CommandEnd { exit, output, output_file, cleanup, after_ms, blocked_hosts, reached_hosts })
}

/// Creates a process of our own, such as a guard: it inherits nothing that is not named.
#[expect(clippy::disallowed_methods, reason = "a guard is no process of a tool")]
fn new_command(program: impl AsRef<OsStr>, folder: &Path) -> tokio::process::Command {
    let mut command = tokio::process::Command::new(program);
    command.env_clear().current_dir(folder);
    command
}
