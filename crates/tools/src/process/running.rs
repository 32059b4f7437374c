//! A command while it runs.

use std::io;
use std::process::Stdio;

use tokio::process::Child;
use windlass_runtime::ports::Clock;

use super::guard::Guard;
use super::output::Output;
use super::{How, Job, Swept, ending, survivors};

/// Both streams go to one pipe, in the order they were written. A command that asks the terminal
/// is told that there is none instead of being stopped in the background for ever.
const SCRIPT: &str = r#"trap '' TTIN TTOU TSTP; exec "$0" -c "$1" 2>&1"#;

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
        shell.args(["-c", SCRIPT]).arg(&job.shell).arg(&job.command);
        shell.envs(job.environment.iter()).env(survivors::MARK, survivors::mark(group));
        shell.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = shell.process_group(group.as_raw_nonzero().get()).spawn()?;
        let pipe = child.stdout.take().ok_or_else(|| io::Error::other("no pipe to read from"))?;
        Ok(Self { child, output: Output::of(pipe), guard })
    }

    /// Waits until the command itself ends or its time is up.
    pub(super) async fn watch(&mut self, timeout_ms: u64, clock: &dyn Clock) -> io::Result<How> {
        let how = tokio::select! {
            status = self.child.wait() => How::Exited(status?),
            () = clock.sleep(timeout_ms) => return Ok(How::TimedOut),
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

    pub(super) fn output_text(&self) -> String {
        self.output.text()
    }
}
