//! The port through which every process of a tool or hook is started.
//!
//! A launcher decides what a process may touch; the caller decides what runs, with which streams,
//! and when it ends. Not here: ending process groups and reading output, which is the caller's
//! task, and processes of our own, such as the guard of a group.

use std::ffi::OsString;
use std::io;
use std::path::PathBuf;
use std::process::{ExitStatus, Stdio};

use tokio::process::{ChildStderr, ChildStdin, ChildStdout};

use super::BoxFuture;

/// Starts processes for tools, hooks and servers.
pub trait ProcessLauncher: std::fmt::Debug + Send + Sync + 'static {
    /// Starts a process. An error means that nothing of it has run: a launcher that cannot confine
    /// a process as it must does not start it.
    fn launch(&self, request: LaunchRequest) -> BoxFuture<'_, io::Result<LaunchedProcess>>;

    /// Returns what its processes are confined by, in a few words for people.
    fn describe_confinement(&self) -> String;
}

/// A process to start. It inherits nothing of this process that is not named here.
#[derive(Debug, Clone)]
pub struct LaunchRequest {
    /// The program: a path, or a name that is searched in the `PATH` of `environment`.
    pub program: OsString,
    /// The arguments, without the name of the program.
    pub arguments: Vec<OsString>,
    /// The working folder.
    pub folder: PathBuf,
    /// All of its environment variables.
    pub environment: Vec<(OsString, OsString)>,
    /// Where its standard input comes from.
    pub stdin: LaunchStream,
    /// Where its standard output goes.
    pub stdout: LaunchStream,
    /// Where its standard error goes.
    pub stderr: LaunchStream,
    /// The process group that it joins.
    pub group: LaunchGroup,
    /// What the process is started for.
    pub purpose: LaunchPurpose,
    /// Files and folders that it may write beyond what the launcher lets every process write.
    pub writable: Vec<PathBuf>,
    /// The folder in which its run works in place of the workspace, such as a git worktree.
    pub workplace: Option<PathBuf>,
    /// Folders that were added to the workspace of its run: it may do there what it may do in the
    /// workspace.
    pub added_folders: Vec<PathBuf>,
    /// Files and folders that it may not read beyond those that the launcher hides from every
    /// process.
    pub unreadable: Vec<PathBuf>,
    /// How much of what the launcher allows it needs.
    pub access: LaunchAccess,
    /// Hosts with their ports that it may reach beyond those that the launcher lets every process
    /// reach.
    pub hosts: Vec<String>,
    /// Whether it may reach no hosts but those of `hosts`.
    pub withholds_hosts: bool,
}

impl LaunchRequest {
    /// Returns a request for a program in a folder: no arguments, an empty environment, no streams,
    /// a process group of its own.
    #[must_use]
    pub fn new(
        purpose: LaunchPurpose,
        program: impl Into<OsString>,
        folder: impl Into<PathBuf>,
    ) -> Self {
        Self {
            program: program.into(),
            arguments: Vec::new(),
            folder: folder.into(),
            environment: Vec::new(),
            stdin: LaunchStream::Null,
            stdout: LaunchStream::Null,
            stderr: LaunchStream::Null,
            group: LaunchGroup::New,
            purpose,
            writable: Vec::new(),
            workplace: None,
            added_folders: Vec::new(),
            unreadable: Vec::new(),
            access: LaunchAccess::default(),
            hosts: Vec::new(),
            withholds_hosts: false,
        }
    }
}

/// A standard stream of a process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LaunchStream {
    /// Nothing to read, and what is written is dropped.
    Null,
    /// A pipe to this process.
    Piped,
}

impl From<LaunchStream> for Stdio {
    fn from(stream: LaunchStream) -> Self {
        match stream {
            LaunchStream::Null => Self::null(),
            LaunchStream::Piped => Self::piped(),
        }
    }
}

/// How much of what a launcher allows a process needs.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum LaunchAccess {
    /// All of it.
    #[default]
    Full,
    /// It only reads: nothing is lost if it can neither write nor reach the network.
    ReadOnly,
}

/// The process group that a process joins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LaunchGroup {
    /// A new group, which has the id of the process.
    New,
    /// An existing group of this session.
    Join(i32),
}

/// What a process is started for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LaunchPurpose {
    /// A shell command of the model.
    Command,
    /// A hook that a person configured.
    Hook,
    /// A command that a person configured as a tool.
    CommandTool,
    /// An MCP server that a person configured.
    McpServer,
}

/// A process that was started. Dropping it kills the process itself; what the process started is
/// ended with its group.
#[derive(Debug)]
pub struct LaunchedProcess {
    /// The pipe to its standard input.
    pub stdin: Option<ChildStdin>,
    /// The pipe from its standard output.
    pub stdout: Option<ChildStdout>,
    /// The pipe from its standard error.
    pub stderr: Option<ChildStderr>,
    /// The handle to wait for its end.
    pub handle: Box<dyn ProcessHandle>,
}

/// A handle to a process that was started.
pub trait ProcessHandle: std::fmt::Debug + Send + Sync {
    /// Returns the id of the process in this process's pid namespace, and of its group if it leads
    /// one; `None` once its end was waited for.
    fn id(&self) -> Option<u32>;

    /// Returns the processes that the launcher runs beside it, in its group: they end with the
    /// process and are not its own.
    fn helper_ids(&self) -> Vec<i32> {
        Vec::new()
    }

    /// Returns the hosts that the launcher kept the process from reaching, with their ports.
    fn blocked_hosts(&self) -> Vec<String> {
        Vec::new()
    }

    /// Returns the hosts that the process reached through the launcher.
    fn reached_hosts(&self) -> Vec<String> {
        Vec::new()
    }

    /// Waits until the process has ended. May be called again, and dropped before it is ready.
    fn wait(&mut self) -> BoxFuture<'_, io::Result<ExitStatus>>;

    /// Kills the process if it is still running.
    fn start_kill(&mut self) -> io::Result<()>;

    /// Ends the launcher's helpers, and with them what they still hold of the process. Called when
    /// the process and its group have ended.
    fn end(&mut self) -> BoxFuture<'_, ()> {
        Box::pin(std::future::ready(()))
    }
}
