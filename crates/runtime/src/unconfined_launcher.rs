//! The launcher without confinement: a process has the rights of this process.

use std::io;
use std::process::ExitStatus;

use tokio::process::{Child, Command};

use crate::ports::{
    BoxFuture, LaunchGroup, LaunchRequest, LaunchedProcess, ProcessHandle, ProcessLauncher,
};

/// Starts processes without confining them.
#[derive(Debug, Clone, Copy, Default)]
pub struct UnconfinedLauncher;

impl ProcessLauncher for UnconfinedLauncher {
    fn launch(&self, request: LaunchRequest) -> BoxFuture<'_, io::Result<LaunchedProcess>> {
        Box::pin(async move {
            let mut child = new_command(&request).spawn()?;
            Ok(LaunchedProcess {
                stdin: child.stdin.take(),
                stdout: child.stdout.take(),
                stderr: child.stderr.take(),
                handle: Box::new(ChildHandle(child)),
            })
        })
    }

    fn describe_confinement(&self) -> String {
        "off: commands run with the rights of this process".to_owned()
    }
}

#[expect(clippy::disallowed_methods, reason = "this is an adapter of the launcher port")]
fn new_command(request: &LaunchRequest) -> Command {
    let mut command = Command::new(&request.program);
    command.args(&request.arguments).current_dir(&request.folder);
    command.env_clear().envs(request.environment.iter().map(|(name, value)| (name, value)));
    command.stdin(request.stdin).stdout(request.stdout).stderr(request.stderr);
    let group = match request.group {
        LaunchGroup::New => 0,
        LaunchGroup::Join(group) => group,
    };
    command.process_group(group).kill_on_drop(true);
    command
}

/// A child of this process.
#[derive(Debug)]
struct ChildHandle(Child);

impl ProcessHandle for ChildHandle {
    fn id(&self) -> Option<u32> {
        self.0.id()
    }

    fn wait(&mut self) -> BoxFuture<'_, io::Result<ExitStatus>> {
        Box::pin(self.0.wait())
    }

    fn start_kill(&mut self) -> io::Result<()> {
        self.0.start_kill()
    }
}
