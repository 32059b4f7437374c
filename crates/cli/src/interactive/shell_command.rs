//! `!command`: a command of the user, in the folder of the session. Its output is shown, and the
//! model reads it with the next prompt.

use std::path::Path;
use std::process::Stdio;

use tokio::io::{AsyncBufReadExt, AsyncRead, BufReader};
use tokio::process::Child;
use tokio::sync::mpsc;

/// Lines that may wait to be shown.
const MAX_WAITING_LINES: usize = 256;

/// Maximum bytes of one line; a longer one is shown in parts.
const MAX_LINE_BYTES: usize = 16 << 10;

/// Maximum bytes of the output that the model reads.
const MAX_KEPT_BYTES: usize = 30_000;

/// A command of the user that runs.
pub(super) struct ShellCommand {
    pub(super) command: String,
    lines: mpsc::Receiver<String>,
    child: Child,
    kept: String,
    is_cut: bool,
}

/// What happened to the command.
pub(super) enum ShellEvent {
    /// It printed a line.
    Line(String),
    /// It ended.
    Ended(ShellEnd),
}

/// How a command ended.
pub(super) struct ShellEnd {
    /// What the model reads with the next prompt.
    pub(super) context: String,
    /// What is said about an end that is not a success.
    pub(super) note: Option<String>,
}

impl ShellCommand {
    /// Starts the command in a process group of its own.
    #[expect(clippy::disallowed_methods, reason = "the user's own command, with the user's rights")]
    pub(super) fn start(command: &str, folder: &Path) -> std::io::Result<Self> {
        // One pipe keeps the order of both streams.
        let script = format!("exec 2>&1\n{command}");
        let mut child = tokio::process::Command::new("sh")
            .arg("-c")
            .arg(script)
            .current_dir(folder)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .process_group(0)
            .kill_on_drop(true)
            .spawn()?;
        let (sender, lines) = mpsc::channel(MAX_WAITING_LINES);
        if let Some(output) = child.stdout.take() {
            tokio::spawn(read_lines(output, sender));
        }
        let command = command.to_owned();
        Ok(Self { command, lines, child, kept: String::new(), is_cut: false })
    }

    /// Waits for what happens next. Nothing is lost if the future is dropped.
    pub(super) async fn next(&mut self) -> ShellEvent {
        if let Some(line) = self.lines.recv().await {
            if self.kept.len() + line.len() <= MAX_KEPT_BYTES {
                self.kept.push_str(&line);
                self.kept.push('\n');
            } else {
                self.is_cut = true;
            }
            return ShellEvent::Line(line);
        }
        let status = self.child.wait().await;
        let (state, is_success) = match &status {
            Ok(status) => (status.to_string(), status.success()),
            Err(error) => (error.to_string(), false),
        };
        let cut = if self.is_cut { "[the rest of the output is left out]\n" } else { "" };
        let context = format!(
            "The user ran this command in the folder of the session:\n$ {}\n{}{cut}[{state}]",
            self.command, self.kept
        );
        let note = (!is_success).then(|| format!("  {state}"));
        ShellEvent::Ended(ShellEnd { context, note })
    }

    /// Ends the command and what it has started.
    pub(super) fn stop(&self) {
        let pid = self.child.id().and_then(|pid| i32::try_from(pid).ok());
        if let Some(pid) = pid.and_then(rustix::process::Pid::from_raw) {
            let _ = rustix::process::kill_process_group(pid, rustix::process::Signal::TERM);
        }
    }
}

impl Drop for ShellCommand {
    fn drop(&mut self) {
        self.stop();
    }
}

async fn read_lines(output: impl AsyncRead + Unpin, sender: mpsc::Sender<String>) {
    let mut reader = BufReader::with_capacity(MAX_LINE_BYTES, output);
    loop {
        let mut line = Vec::new();
        let read = read_line(&mut reader, &mut line).await;
        if read.is_err() || line.is_empty() || sender.send(to_line(&line)).await.is_err() {
            return;
        }
    }
}

/// Reads up to the end of the line, or up to the longest line.
async fn read_line(
    reader: &mut BufReader<impl AsyncRead + Unpin>,
    line: &mut Vec<u8>,
) -> std::io::Result<()> {
    while line.len() < MAX_LINE_BYTES {
        let bytes = reader.fill_buf().await?;
        let end = bytes.iter().position(|byte| *byte == b'\n');
        let length = end.map_or(bytes.len(), |end| end + 1);
        line.extend_from_slice(bytes.get(..length).unwrap_or_default());
        reader.consume(length);
        if end.is_some() || length == 0 {
            break;
        }
    }
    Ok(())
}

fn to_line(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).trim_end_matches(['\n', '\r']).to_owned()
}
