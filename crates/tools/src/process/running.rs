//! A command while it runs.

use std::ffi::{OsStr, OsString};
use std::io;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::process::Stdio;

use tokio::process::Child;
use windlass_runtime::ports::Clock;

use super::guard::Guard;
use super::orphans::{OWNER, owner};
use super::output::Output;
use super::{How, Job, Kept, Swept, ending, survivors};

/// Both streams go to one pipe, in the order they were written. A command that asks the terminal
/// is told that there is none instead of being stopped in the background for ever.
const SCRIPT: &str = r#"trap '' TTIN TTOU TSTP; eval "$2"; exec "$0" -c -- "$1" 2>&1"#;

/// Dropping it ends the command: the guard sees to that.
#[derive(Debug)]
pub(super) struct Running {
    child: Child,
    output: Output,
    guard: Guard,
}

impl Running {
    pub(super) fn start(job: &Job) -> io::Result<Self> {
        let guard = Guard::start()?;
        let group = guard.group();
        let mut shell = super::command("/bin/sh", &job.folder);
        shell.args(["-c", SCRIPT]).arg(&job.shell).arg(text(job)).arg(job.rations.script());
        shell.envs(job.environment.iter()).env(survivors::MARK, survivors::mark(group));
        shell.env(OWNER, owner());
        shell.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = shell.process_group(group.as_raw_nonzero().get()).spawn()?;
        let pipe = child.stdout.take().ok_or_else(|| io::Error::other("no pipe to read from"))?;
        Ok(Self { child, output: Output::of(pipe, job.spill.clone()), guard })
    }

    /// Waits until the command itself ends or its time is up.
    pub(super) async fn watch(
        &mut self,
        timeout_ms: u64,
        clock: &dyn Clock,
        stop: impl Future<Output = ()>,
    ) -> io::Result<How> {
        let how = tokio::select! {
            status = self.child.wait() => How::Exited(status?),
            () = clock.sleep(timeout_ms) => return Ok(How::TimedOut),
            () = stop => return Ok(How::Stopped),
            never = self.output.read_on() => match never {},
        };
        self.output.drain(clock).await;
        Ok(how)
    }

    /// Ends whatever is left of the command, listening to its last words.
    pub(super) async fn end(&mut self, clock: &dyn Clock) -> Swept {
        tokio::select! {
            swept = ending::end(&mut self.guard, clock) => swept,
            never = self.output.read_on() => match never {},
        }
    }

    /// What it printed.
    pub(super) fn into_output(self) -> (String, Option<Kept>) {
        self.output.finish()
    }
}

/// The command, and before it the order to say at the end in which folder it is. It stands on the
/// same line, so that what a shell says about a line of the command is right.
fn text(job: &Job) -> OsString {
    let Some(file) = &job.ended_in else { return OsString::from(&job.command) };
    let mut order = OsString::from("{ pwd -P >| ");
    order.push(quoted(file.as_os_str()));
    order.push("; } 2>/dev/null");
    let mut text = OsString::from("trap ");
    text.push(quoted(&order));
    text.push(" EXIT; ");
    text.push(&job.command);
    text
}

/// A word that a shell takes as it is.
fn quoted(word: &OsStr) -> OsString {
    let escaped: Vec<u8> = word
        .as_bytes()
        .iter()
        .flat_map(|byte| if *byte == b'\'' { b"'\\''".to_vec() } else { vec![*byte] })
        .collect();
    OsString::from_vec([b"'".as_slice(), &escaped, b"'"].concat())
}
