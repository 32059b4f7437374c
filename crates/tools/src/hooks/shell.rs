//! Running one command: input on its standard input, both streams read and bounded, everything it
//! started ended with it.

use std::io;
use std::path::Path;
use std::process::{ExitStatus, Stdio};

use rustix::process::{Pid, Signal, kill_process_group};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt};
use tokio::process::{Child, ChildStdin};
use windlass_runtime::ports::Clock;

use crate::process::Environment;

/// Bytes kept of each stream.
const MAX_OUTPUT_BYTES: usize = 128 * 1024;

/// Bytes read at once.
const BUFFER_BYTES: usize = 16 * 1024;

/// How long a command that is told to end may take before it is made to.
const GRACE_MS: u64 = 500;

/// How long output is awaited after the command itself has ended: a daemon may hold the pipe.
const DRAIN_MS: u64 = 200;

/// A command to run.
pub(super) struct Job<'a> {
    pub(super) command: &'a str,
    pub(super) folder: &'a Path,
    pub(super) input: Vec<u8>,
    pub(super) timeout_ms: u64,
}

/// A command that came to its end.
#[derive(Debug)]
pub(super) struct Ended {
    pub(super) how: How,
    pub(super) stdout: Stream,
    pub(super) stderr: Stream,
}

/// What a command printed, as far as it is kept.
#[derive(Debug, Default)]
pub(super) struct Stream {
    pub(super) text: String,
    /// Whether more was printed than is kept.
    pub(super) is_cut: bool,
}

/// How it ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum How {
    /// By itself, with this code.
    Exited(i32),
    /// By a signal that was not ours.
    Killed,
    /// Its time was up.
    TimedOut {
        /// After so long.
        after_ms: u64,
    },
}

/// Runs a command to its end. Dropping the future ends it, with all it started.
pub(super) async fn run(job: Job<'_>, clock: &dyn Clock) -> io::Result<Ended> {
    let mut child = start(&job)?;
    let group = Group::of(&child);
    let (mut stdout, mut stderr) = (Kept::default(), Kept::default());
    let (feeding, out, err) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
    let how = {
        let talk = async {
            tokio::join!(feed(feeding, &job.input), keep(out, &mut stdout), keep(err, &mut stderr))
        };
        tokio::pin!(talk);
        let mut deadline = clock.sleep(job.timeout_ms);
        let mut talking = true;
        let how = loop {
            tokio::select! {
                status = child.wait() => break exited(status?),
                () = &mut deadline => break How::TimedOut { after_ms: job.timeout_ms },
                _ = &mut talk, if talking => talking = false,
            }
        };
        if matches!(how, How::TimedOut { .. }) {
            group.tell(Signal::TERM);
            tokio::select! {
                _ = child.wait() => {}
                () = clock.sleep(GRACE_MS) => {}
            }
        }
        if talking {
            tokio::select! {
                _ = &mut talk => {}
                () = clock.sleep(DRAIN_MS) => {}
            }
        }
        how
    };
    drop(group);
    let _ = child.wait().await;
    Ok(Ended { how, stdout: stdout.into_stream(), stderr: stderr.into_stream() })
}

#[expect(clippy::disallowed_methods, reason = "a hook is a process, and this is where it is made")]
fn start(job: &Job<'_>) -> io::Result<Child> {
    let mut shell = tokio::process::Command::new("/bin/sh");
    // A command that begins with a dash is not an option of the shell.
    shell.args(["-c", "--"]).arg(job.command).current_dir(job.folder);
    let environment = Environment::inherited();
    shell.env_clear().envs(environment.iter()).env("CLAUDE_PROJECT_DIR", job.folder);
    shell.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    shell.process_group(0).kill_on_drop(true).spawn()
}

fn exited(status: ExitStatus) -> How {
    status.code().map_or(How::Killed, How::Exited)
}

/// A hook that does not care for its input need not read it.
async fn feed(pipe: Option<ChildStdin>, input: &[u8]) {
    if let Some(mut pipe) = pipe {
        let _ = pipe.write_all(input).await;
    }
}

/// Keeps the beginning of a stream and reads the rest too, so that no writer ever blocks.
async fn keep(pipe: Option<impl AsyncRead + Unpin>, kept: &mut Kept) {
    let Some(mut pipe) = pipe else { return };
    let mut buffer = vec![0; BUFFER_BYTES];
    // A pipe that cannot be read has nothing more to say.
    while let Ok(read @ 1..) = pipe.read(&mut buffer).await {
        let room = MAX_OUTPUT_BYTES.saturating_sub(kept.bytes.len()).min(read);
        kept.bytes.extend_from_slice(buffer.get(..room).unwrap_or_default());
        kept.is_cut |= room < read;
    }
}

/// The beginning of a stream.
#[derive(Default)]
struct Kept {
    bytes: Vec<u8>,
    is_cut: bool,
}

impl Kept {
    fn into_stream(self) -> Stream {
        Stream { text: String::from_utf8_lossy(&self.bytes).into_owned(), is_cut: self.is_cut }
    }
}

/// The processes of a command. Dropping it ends whatever is left of them.
struct Group(Option<Pid>);

impl Group {
    fn of(child: &Child) -> Self {
        Self(child.id().and_then(|id| Pid::from_raw(i32::try_from(id).ok()?)))
    }

    fn tell(&self, signal: Signal) {
        if let Some(group) = self.0 {
            // A group that is gone is what was wanted.
            kill_process_group(group, signal).unwrap_or_default();
        }
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        self.tell(Signal::KILL);
    }
}
