//! Runs one hook command: the payload on its standard input, both output streams read and bounded,
//! all its processes ended with it.

use std::io;
use std::path::Path;
use std::process::{ExitStatus, Stdio};

use rustix::process::{Pid, Signal, kill_process_group};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt};
use tokio::process::{Child, ChildStdin};
use windlass_runtime::ports::Clock;

use crate::process::CommandEnvironment;

/// Maximum number of bytes kept of each stream.
const MAX_STREAM_BYTES: usize = 128 * 1024;

/// Size of the read buffer.
const HOOK_BUFFER_BYTES: usize = 16 * 1024;

/// How long a command may take between SIGTERM and SIGKILL.
const HOOK_GRACE_MS: u64 = 500;

/// How long output is awaited after the command itself has ended: a daemon may hold the pipe.
const HOOK_DRAIN_MS: u64 = 200;

/// A command to run.
pub(super) struct HookJob<'a> {
    pub(super) command: &'a str,
    pub(super) folder: &'a Path,
    pub(super) input: Vec<u8>,
    pub(super) timeout_ms: u64,
}

/// A command that has ended, with its output.
#[derive(Debug)]
pub(super) struct HookProcessEnd {
    pub(super) exit: HookExit,
    pub(super) stdout: CapturedStream,
    pub(super) stderr: CapturedStream,
}

impl HookProcessEnd {
    /// The exit code; `None` if the command was killed.
    pub(super) fn exit_code(&self) -> Option<i32> {
        match self.exit {
            HookExit::Exited(code) => Some(code),
            HookExit::Killed | HookExit::TimedOut { .. } => None,
        }
    }
}

/// The output of a command, as far as it is kept.
#[derive(Debug, Default)]
pub(super) struct CapturedStream {
    pub(super) text: String,
    /// Whether more was printed than is kept.
    pub(super) is_truncated: bool,
}

/// How the command ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum HookExit {
    /// The command exited with this code.
    Exited(i32),
    /// The command was killed by a signal that was not ours.
    Killed,
    /// The command timed out.
    TimedOut {
        /// The timeout in milliseconds.
        after_ms: u64,
    },
}

/// Runs a command to its end. Dropping the future ends it, with all its processes.
pub(super) async fn run_hook_process(
    job: HookJob<'_>,
    clock: &dyn Clock,
) -> io::Result<HookProcessEnd> {
    let mut child = spawn_shell(&job)?;
    let group = ProcessGroup::from_child(&child);
    let (mut stdout, mut stderr) = (BoundedBuffer::default(), BoundedBuffer::default());
    let (feeding, out, err) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
    let exit = {
        let talk = async {
            tokio::join!(
                write_stdin(feeding, &job.input),
                read_bounded(out, &mut stdout),
                read_bounded(err, &mut stderr)
            )
        };
        tokio::pin!(talk);
        let mut deadline = clock.sleep(job.timeout_ms);
        let mut talking = true;
        let how = loop {
            tokio::select! {
                status = child.wait() => break exit_of_status(status?),
                () = &mut deadline => break HookExit::TimedOut { after_ms: job.timeout_ms },
                _ = &mut talk, if talking => talking = false,
            }
        };
        if matches!(how, HookExit::TimedOut { .. }) {
            group.send_signal(Signal::TERM);
            tokio::select! {
                _ = child.wait() => {}
                () = clock.sleep(HOOK_GRACE_MS) => {}
            }
        }
        if talking {
            tokio::select! {
                _ = &mut talk => {}
                () = clock.sleep(HOOK_DRAIN_MS) => {}
            }
        }
        how
    };
    drop(group);
    let _ = child.wait().await;
    Ok(HookProcessEnd { exit, stdout: stdout.into_stream(), stderr: stderr.into_stream() })
}

#[expect(clippy::disallowed_methods, reason = "a hook is a process, and this is where it is made")]
fn spawn_shell(job: &HookJob<'_>) -> io::Result<Child> {
    let mut shell = tokio::process::Command::new("/bin/sh");
    // A command that begins with a dash is not an option of the shell.
    shell.args(["-c", "--"]).arg(job.command).current_dir(job.folder);
    let environment = CommandEnvironment::from_process();
    shell.env_clear().envs(environment.iter()).env("CLAUDE_PROJECT_DIR", job.folder);
    shell.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    shell.process_group(0).kill_on_drop(true).spawn()
}

fn exit_of_status(status: ExitStatus) -> HookExit {
    status.code().map_or(HookExit::Killed, HookExit::Exited)
}

/// Writes the input; a hook that ignores its input need not read it.
async fn write_stdin(pipe: Option<ChildStdin>, input: &[u8]) {
    if let Some(mut pipe) = pipe {
        let _ = pipe.write_all(input).await;
    }
}

/// Keeps the beginning of a stream and reads the rest too, so that the writer never blocks.
async fn read_bounded(pipe: Option<impl AsyncRead + Unpin>, kept: &mut BoundedBuffer) {
    let Some(mut pipe) = pipe else { return };
    let mut buffer = vec![0; HOOK_BUFFER_BYTES];
    // A pipe that cannot be read counts as closed.
    while let Ok(read @ 1..) = pipe.read(&mut buffer).await {
        let remaining = MAX_STREAM_BYTES.saturating_sub(kept.bytes.len()).min(read);
        kept.bytes.extend_from_slice(buffer.get(..remaining).unwrap_or_default());
        kept.is_cut |= remaining < read;
    }
}

/// The beginning of a stream, in bounded memory.
#[derive(Default)]
struct BoundedBuffer {
    bytes: Vec<u8>,
    is_cut: bool,
}

impl BoundedBuffer {
    fn into_stream(self) -> CapturedStream {
        CapturedStream {
            text: String::from_utf8_lossy(&self.bytes).into_owned(),
            is_truncated: self.is_cut,
        }
    }
}

/// The process group of a command. Dropping it kills what is left of the group.
struct ProcessGroup(Option<Pid>);

impl ProcessGroup {
    fn from_child(child: &Child) -> Self {
        Self(child.id().and_then(|id| Pid::from_raw(i32::try_from(id).ok()?)))
    }

    fn send_signal(&self, signal: Signal) {
        if let Some(group) = self.0 {
            // A group that has ended already is fine.
            kill_process_group(group, signal).unwrap_or_default();
        }
    }
}

impl Drop for ProcessGroup {
    fn drop(&mut self) {
        self.send_signal(Signal::KILL);
    }
}
