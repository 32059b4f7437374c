//! A running command.

use std::ffi::{OsStr, OsString};
use std::io;
use std::os::unix::ffi::{OsStrExt, OsStringExt};

use windlass_runtime::ports::{Clock, LaunchPurpose, LaunchRequest, LaunchStream, ProcessLauncher};

use super::output_reader::OutputReader;
use super::{CleanupResult, CommandExit, CommandJob, GroupedProcess, OutputFile};
use crate::limits::DEFAULT_BACKGROUND_TIMEOUT_MS;

/// Both streams go to one pipe, in the order they were written. A command that asks the terminal
/// gets an error instead of being stopped in the background for ever.
const COMMAND_SCRIPT: &str = r#"trap '' TTIN TTOU TSTP; eval "$2"; exec "$0" -c -- "$1" 2>&1"#;

/// A running command. Dropping it ends the command, by its guard.
#[derive(Debug)]
pub(super) struct CommandProcess {
    process: GroupedProcess,
    output: OutputReader,
}

impl CommandProcess {
    pub(super) async fn start(
        job: &CommandJob,
        launcher: &dyn ProcessLauncher,
    ) -> io::Result<Self> {
        let mut process = GroupedProcess::start(launch_request(job), launcher).await?;
        let pipe = process.take_stdout()?;
        let (spill, live) = (job.spill_target.clone(), job.live_output.clone());
        let output = OutputReader::new(pipe, spill, live, job.background.clone());
        Ok(Self { process, output })
    }

    /// Waits until the command itself ends or times out.
    pub(super) async fn wait(
        &mut self,
        job: &CommandJob,
        clock: &dyn Clock,
        stop: impl Future<Output = ()>,
    ) -> io::Result<CommandExit> {
        let how = tokio::select! {
            status = self.process.wait() => CommandExit::Exited(status?),
            () = time_out(job, clock) => return Ok(CommandExit::TimedOut),
            () = stop => return Ok(CommandExit::Stopped),
            never = self.output.read_forever() => match never {},
        };
        self.output.drain(clock).await;
        Ok(how)
    }

    /// Ends what is left of the command, and reads its last output.
    pub(super) async fn end_group(&mut self, clock: &dyn Clock) -> CleanupResult {
        tokio::select! {
            cleanup = self.process.end_group(clock) => cleanup,
            never = self.output.read_forever() => match never {},
        }
    }

    /// Returns the hosts that the command was kept from reaching.
    pub(super) fn blocked_hosts(&self) -> Vec<String> {
        self.process.blocked_hosts()
    }

    /// Returns the hosts that the command reached through the sandbox.
    pub(super) fn reached_hosts(&self) -> Vec<String> {
        self.process.reached_hosts()
    }

    /// Returns the output of the command.
    pub(super) fn into_output(self) -> (String, Option<OutputFile>) {
        self.output.finish()
    }
}

/// Waits for the timeout of the command, which is a longer one from when it moves to the background.
async fn time_out(job: &CommandJob, clock: &dyn Clock) {
    let mut background = job.background.clone();
    tokio::select! {
        () = clock.sleep(job.timeout_ms) => {}
        () = background.moved() => clock.sleep(DEFAULT_BACKGROUND_TIMEOUT_MS).await,
    }
}

/// Returns the shell that limits itself and becomes the command's shell.
fn launch_request(job: &CommandJob) -> LaunchRequest {
    let mut request = LaunchRequest::new(LaunchPurpose::Command, "/bin/sh", &job.folder);
    request.arguments = vec![
        "-c".into(),
        COMMAND_SCRIPT.into(),
        job.shell.clone().into(),
        shell_text(job),
        job.limits.ulimit_script().into(),
    ];
    request.environment =
        job.environment.iter().map(|(name, value)| (name.into(), value.into())).collect();
    request.stdout = LaunchStream::Piped;
    request.writable.extend(job.final_folder_file.clone());
    job.needs.add_to(&mut request);
    request
}

/// Returns the command, and before it the code that writes the final working folder. It is on the
/// same line, so that line numbers in error messages of the shell are right.
fn shell_text(job: &CommandJob) -> OsString {
    let Some(file) = &job.final_folder_file else { return OsString::from(&job.command) };
    let mut order = OsString::from("{ pwd -P >| ");
    order.push(shell_quote(file.as_os_str()));
    order.push("; } 2>/dev/null");
    let mut text = OsString::from("trap ");
    text.push(shell_quote(&order));
    text.push(" EXIT; ");
    text.push(&job.command);
    text
}

/// Quotes a word for a shell.
fn shell_quote(word: &OsStr) -> OsString {
    let escaped: Vec<u8> = word
        .as_bytes()
        .iter()
        .flat_map(|byte| if *byte == b'\'' { b"'\\''".to_vec() } else { vec![*byte] })
        .collect();
    OsString::from_vec([b"'".as_slice(), &escaped, b"'"].concat())
}
