//! A running command.

use std::ffi::{OsStr, OsString};
use std::io;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::process::Stdio;

use tokio::process::Child;
use windlass_runtime::ports::Clock;

use super::orphans::{OWNER_VARIABLE, own_owner_name};
use super::output_reader::OutputReader;
use super::process_guard::ProcessGuard;
use super::{CleanupResult, CommandExit, CommandJob, OutputFile, group_cleanup, group_processes};

/// Both streams go to one pipe, in the order they were written. A command that asks the terminal
/// gets an error instead of being stopped in the background for ever.
const COMMAND_SCRIPT: &str = r#"trap '' TTIN TTOU TSTP; eval "$2"; exec "$0" -c -- "$1" 2>&1"#;

/// A running command. Dropping it ends the command, by its guard.
#[derive(Debug)]
pub(super) struct CommandProcess {
    child: Child,
    output: OutputReader,
    guard: ProcessGuard,
}

impl CommandProcess {
    pub(super) fn start(job: &CommandJob) -> io::Result<Self> {
        let guard = ProcessGuard::start()?;
        let group = guard.group();
        let mut shell = super::new_command("/bin/sh", &job.folder);
        shell
            .args(["-c", COMMAND_SCRIPT])
            .arg(&job.shell)
            .arg(shell_text(job))
            .arg(job.limits.ulimit_script());
        shell
            .envs(job.environment.iter())
            .env(group_processes::GROUP_VARIABLE, group_processes::group_mark(group));
        shell.env(OWNER_VARIABLE, own_owner_name());
        shell.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = shell.process_group(group.as_raw_nonzero().get()).spawn()?;
        let pipe = child.stdout.take().ok_or_else(|| io::Error::other("no pipe to read from"))?;
        Ok(Self { child, output: OutputReader::new(pipe, job.spill_target.clone()), guard })
    }

    /// Waits until the command itself ends or times out.
    pub(super) async fn wait(
        &mut self,
        timeout_ms: u64,
        clock: &dyn Clock,
        stop: impl Future<Output = ()>,
    ) -> io::Result<CommandExit> {
        let how = tokio::select! {
            status = self.child.wait() => CommandExit::Exited(status?),
            () = clock.sleep(timeout_ms) => return Ok(CommandExit::TimedOut),
            () = stop => return Ok(CommandExit::Stopped),
            never = self.output.read_forever() => match never {},
        };
        self.output.drain(clock).await;
        Ok(how)
    }

    /// Ends what is left of the command, and reads its last output.
    pub(super) async fn end_group(&mut self, clock: &dyn Clock) -> CleanupResult {
        tokio::select! {
            cleanup = group_cleanup::end_group(&mut self.guard, clock) => cleanup,
            never = self.output.read_forever() => match never {},
        }
    }

    /// Returns the output of the command.
    pub(super) fn into_output(self) -> (String, Option<OutputFile>) {
        self.output.finish()
    }
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
