//! Runs a program with separate arguments: no shell reads them. Its standard input is given, and its
//! two output streams are read apart.

use std::ffi::OsString;
use std::io;
use std::path::PathBuf;

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt};
use tokio::process::ChildStdin;
use windlass_runtime::ports::{Clock, LaunchPurpose, LaunchRequest, LaunchStream, ProcessLauncher};

use super::capture::HeadTailCapture;
use super::{
    CleanupResult, CommandEnvironment, CommandExit, GroupedProcess, ResourceLimits, SandboxNeeds,
};
use crate::limits::OUTPUT_DRAIN_MS;

/// Sets the resource limits and becomes the program. The program and its arguments are positional
/// parameters, which the shell does not read.
const EXEC_SCRIPT: &str = r#"trap '' TTIN TTOU TSTP; eval "$1"; shift; exec "$@""#;

const READ_BUFFER_BYTES: usize = 64 * 1024;

/// A program to run.
#[derive(Debug)]
pub(crate) struct ProgramJob {
    /// The program, as an absolute path.
    pub(crate) program: PathBuf,
    /// Its arguments.
    pub(crate) arguments: Vec<OsString>,
    /// What it reads from its standard input.
    pub(crate) input: Vec<u8>,
    /// The working folder.
    pub(crate) folder: PathBuf,
    /// The environment variables.
    pub(crate) environment: CommandEnvironment,
    /// The resource limits.
    pub(crate) limits: ResourceLimits,
    /// The timeout in milliseconds.
    pub(crate) timeout_ms: u64,
    /// What the program needs of the sandbox.
    pub(crate) needs: SandboxNeeds,
}

/// A program that has ended.
#[derive(Debug)]
pub(crate) struct ProgramEnd {
    /// How the program ended.
    pub(crate) exit: CommandExit,
    /// Its standard output, head and tail.
    pub(crate) stdout: String,
    /// Its standard error, head and tail.
    pub(crate) stderr: String,
    /// The processes that the program left running.
    pub(crate) cleanup: CleanupResult,
    /// How long the program took, including the cleanup of its processes.
    pub(crate) after_ms: u64,
}

/// Runs a program to its end. Dropping the future ends it, with everything it started.
pub(crate) async fn run_program(
    job: ProgramJob,
    launcher: &dyn ProcessLauncher,
    clock: &dyn Clock,
) -> io::Result<ProgramEnd> {
    let started = clock.monotonic_ms();
    let mut process = GroupedProcess::start(launch_request(&job), launcher).await?;
    let stdin = process.take_stdin();
    let (out, err) = (process.take_stdout()?, process.take_stderr()?);
    let (mut stdout, mut stderr) = (HeadTailCapture::default(), HeadTailCapture::default());
    let (exit, cleanup) = {
        let talk = async {
            tokio::join!(
                write_input(stdin, &job.input),
                read_stream(out, &mut stdout),
                read_stream(err, &mut stderr)
            )
        };
        tokio::pin!(talk);
        let mut is_talking = true;
        let mut deadline = clock.sleep(job.timeout_ms);
        let exit = loop {
            tokio::select! {
                status = process.wait() => break CommandExit::Exited(status?),
                () = &mut deadline => break CommandExit::TimedOut,
                _ = &mut talk, if is_talking => is_talking = false,
            }
        };
        // What the program left running is ended before the rest of the output is read.
        let cleanup = {
            let ending = process.end_group(clock);
            tokio::pin!(ending);
            loop {
                tokio::select! {
                    cleanup = &mut ending => break cleanup,
                    _ = &mut talk, if is_talking => is_talking = false,
                }
            }
        };
        if is_talking {
            tokio::select! {
                _ = &mut talk => {}
                () = clock.sleep(OUTPUT_DRAIN_MS) => {}
            }
        }
        (exit, cleanup)
    };
    let after_ms = clock.monotonic_ms().saturating_sub(started);
    Ok(ProgramEnd { exit, stdout: stdout.to_text(), stderr: stderr.to_text(), cleanup, after_ms })
}

/// Returns the shell that limits itself and becomes the program.
fn launch_request(job: &ProgramJob) -> LaunchRequest {
    let mut request = LaunchRequest::new(LaunchPurpose::CommandTool, "/bin/sh", &job.folder);
    request.arguments = vec!["-c".into(), EXEC_SCRIPT.into(), "windlass-program".into()];
    request.arguments.push(job.limits.ulimit_script().into());
    request.arguments.push(job.program.clone().into());
    request.arguments.extend(job.arguments.iter().cloned());
    request.environment =
        job.environment.iter().map(|(name, value)| (name.into(), value.into())).collect();
    (request.stdin, request.stdout) = (LaunchStream::Piped, LaunchStream::Piped);
    request.stderr = LaunchStream::Piped;
    job.needs.add_to(&mut request);
    request
}

/// Writes the input; a program need not read it.
async fn write_input(pipe: Option<ChildStdin>, input: &[u8]) {
    if let Some(mut pipe) = pipe {
        let _ = pipe.write_all(input).await;
    }
}

/// Reads a stream to its end, so that the writer never blocks; head and tail are kept.
async fn read_stream(mut pipe: impl AsyncRead + Unpin, capture: &mut HeadTailCapture) {
    let mut buffer = vec![0; READ_BUFFER_BYTES];
    // A pipe that cannot be read counts as closed.
    while let Ok(read @ 1..) = pipe.read(&mut buffer).await {
        capture.push(buffer.get(..read).unwrap_or_default());
    }
}
