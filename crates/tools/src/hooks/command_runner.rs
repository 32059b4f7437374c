//! Runs one hook command: the payload on its standard input, both output streams read and bounded,
//! all its processes ended with it.

use std::io;
use std::path::Path;
use std::process::ExitStatus;
use std::sync::Arc;

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt};
use tokio::process::ChildStdin;
use windlass_runtime::ports::{Clock, LaunchPurpose, LaunchRequest, LaunchStream, ProcessLauncher};

use crate::process::{CommandEnvironment, GroupedProcess};

/// Maximum number of bytes kept of each stream.
pub(super) const MAX_STREAM_BYTES: usize = 128 * 1024;

/// Size of the read buffer.
const HOOK_BUFFER_BYTES: usize = 16 * 1024;

/// How long output is awaited after the command itself has ended: a daemon may hold the pipe.
const HOOK_DRAIN_MS: u64 = 200;

/// A command to run.
pub(super) struct HookJob<'a> {
    pub(super) command: &'a str,
    pub(super) folder: &'a Path,
    pub(super) input: Vec<u8>,
    pub(super) timeout_ms: u64,
    /// Further variables.
    pub(super) variables: &'a [(Arc<str>, Arc<str>)],
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
    launcher: &dyn ProcessLauncher,
    clock: &dyn Clock,
) -> io::Result<HookProcessEnd> {
    let mut process = GroupedProcess::start(launch_request(&job), launcher).await?;
    let (mut stdout, mut stderr) = (BoundedBuffer::default(), BoundedBuffer::default());
    let feeding = process.take_stdin();
    let (out, err) = (process.take_stdout()?, process.take_stderr()?);
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
                status = process.wait() => break exit_of_status(status?),
                () = &mut deadline => break HookExit::TimedOut { after_ms: job.timeout_ms },
                _ = &mut talk, if talking => talking = false,
            }
        };
        if talking && !matches!(how, HookExit::TimedOut { .. }) {
            tokio::select! {
                _ = &mut talk => talking = false,
                () = clock.sleep(HOOK_DRAIN_MS) => {}
            }
        }
        // A process that ends properly may still print; the pipe must not block it.
        tokio::select! {
            _ = process.end_group(clock) => {}
            () = async { if talking { talk.await; } std::future::pending().await } => {}
        }
        how
    };
    Ok(HookProcessEnd { exit, stdout: stdout.into_stream(), stderr: stderr.into_stream() })
}

fn launch_request(job: &HookJob<'_>) -> LaunchRequest {
    let mut request = LaunchRequest::new(LaunchPurpose::Hook, "/bin/sh", job.folder);
    // A command that begins with a dash is not an option of the shell.
    request.arguments = vec!["-c".into(), "--".into(), job.command.into()];
    let environment = CommandEnvironment::from_process();
    request.environment =
        environment.iter().map(|(name, value)| (name.into(), value.into())).collect();
    request.environment.push(("CLAUDE_PROJECT_DIR".into(), job.folder.into()));
    let more = job.variables.iter().map(|(name, value)| ((**name).into(), (**value).into()));
    request.environment.extend(more);
    request.stdin = LaunchStream::Piped;
    request.stdout = LaunchStream::Piped;
    request.stderr = LaunchStream::Piped;
    request
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
async fn read_bounded(mut pipe: impl AsyncRead + Unpin, kept: &mut BoundedBuffer) {
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
