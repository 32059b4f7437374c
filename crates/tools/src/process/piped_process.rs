//! A program that runs beside the agent and talks through pipes, such as an MCP server.

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};

use tokio::process::{ChildStderr, ChildStdin, ChildStdout};
use windlass_runtime::ports::{Clock, LaunchPurpose, LaunchRequest, LaunchStream, ProcessLauncher};

use super::{CommandEnvironment, GroupedProcess};

/// How long a program may take to end by itself once its input has ended.
const CLOSE_GRACE_MS: u64 = 1_000;

/// A program to start.
#[derive(Debug, Clone)]
pub struct PipedCommand {
    /// The program: a path, or a name that is searched for in `PATH`.
    pub program: String,
    /// Its arguments.
    pub arguments: Vec<String>,
    /// The folder that it works in.
    pub folder: PathBuf,
    /// Variables beside those that every command gets.
    pub variables: Vec<(String, String)>,
}

/// The pipes of a program.
#[derive(Debug)]
pub struct ProcessPipes {
    /// What it reads.
    pub stdin: ChildStdin,
    /// What it writes.
    pub stdout: ChildStdout,
    /// Its messages.
    pub stderr: ChildStderr,
}

/// A program that runs in a process group that is ended completely: when this is dropped, and also
/// when this process is killed.
#[derive(Debug)]
pub struct PipedProcess(GroupedProcess);

impl PipedCommand {
    /// Starts the program.
    ///
    /// # Errors
    ///
    /// Returns an error if the program cannot be started.
    pub async fn start(
        &self,
        launcher: &dyn ProcessLauncher,
    ) -> io::Result<(PipedProcess, ProcessPipes)> {
        let mut environment = CommandEnvironment::from_process();
        for (name, value) in &self.variables {
            environment = environment.with(name, value);
        }
        let own = |(name, value): (&std::ffi::OsStr, &std::ffi::OsStr)| {
            (name.to_owned(), value.to_owned())
        };
        let mut request =
            LaunchRequest::new(LaunchPurpose::McpServer, self.program_path(), &self.folder);
        request.arguments = self.arguments.iter().map(OsString::from).collect();
        request.environment = environment.iter().map(own).collect();
        request.stdin = LaunchStream::Piped;
        request.stdout = LaunchStream::Piped;
        request.stderr = LaunchStream::Piped;
        let mut process = GroupedProcess::start(request, launcher).await?;
        let no_pipe = || io::Error::other("the program has no pipe to write to");
        let stdin = process.take_stdin().ok_or_else(no_pipe)?;
        let (stdout, stderr) = (process.take_stdout()?, process.take_stderr()?);
        Ok((PipedProcess(process), ProcessPipes { stdin, stdout, stderr }))
    }

    /// A program with a slash is relative to the folder it works in.
    fn program_path(&self) -> OsString {
        let path = Path::new(&self.program);
        match self.program.contains('/') && path.is_relative() {
            true => self.folder.join(path).into_os_string(),
            false => OsString::from(&self.program),
        }
    }
}

impl PipedProcess {
    /// Ends the program, whose input was closed, and everything that it started.
    pub async fn end(mut self, clock: &dyn Clock) {
        tokio::select! {
            _ = self.0.wait() => {}
            () = clock.sleep(CLOSE_GRACE_MS) => {}
        }
        self.0.end_group(clock).await;
    }
}
