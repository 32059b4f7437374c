//! The status line of the user: a command (`statusLine` of a settings file) that gets what is known
//! as JSON and prints the line.

use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::task::JoinHandle;

use super::status_line::StatusInfo;
use crate::terminal::{ColorSupport, sanitize_output};

/// How long the command may take.
const TIMEOUT: Duration = Duration::from_secs(2);

/// Maximum bytes of its output that are read.
const MAX_BYTES: u64 = 4 << 10;

/// The command, and the run of it that is in progress.
pub(super) struct StatusCommand {
    command: String,
    running: Option<JoinHandle<Option<String>>>,
    /// What the command was last told.
    told: Option<Value>,
}

/// What the command is told, besides the status.
pub(super) struct StatusContext<'a> {
    pub(super) session_id: &'a str,
    pub(super) folder: &'a Path,
}

impl StatusCommand {
    pub(super) fn new(command: String) -> Self {
        Self { command, running: None, told: None }
    }

    /// Runs the command if what it is told has changed. One run at a time; the next one follows.
    pub(super) fn refresh(&mut self, status: &StatusInfo, context: &StatusContext<'_>) {
        let told = json!({
            "hook_event_name": "Status",
            "session_id": context.session_id,
            "cwd": context.folder,
            "workspace": { "current_dir": context.folder, "project_dir": context.folder },
            "model": { "id": status.model, "display_name": status.model },
            "permission_mode": status.mode,
            "git_branch": status.branch,
            "version": env!("CARGO_PKG_VERSION"),
            "context_window": { "used_percentage": status.context_percent },
            "cost": { "total_cost_usd": f64::from(u32::try_from(status.usd_micros).unwrap_or(u32::MAX)) / 1e6 },
            "tokens": status.tokens,
        });
        if self.running.is_some() || self.told.as_ref() == Some(&told) {
            return;
        }
        let run = run_command(self.command.clone(), told.to_string(), context.folder.to_owned());
        self.running = Some(tokio::spawn(run));
        self.told = Some(told);
    }

    /// Waits for the line; `None` if the command failed. Nothing is lost if the future is dropped.
    pub(super) async fn next(&mut self) -> Option<String> {
        let Some(running) = &mut self.running else { return std::future::pending().await };
        let line = running.await.ok().flatten();
        self.running = None;
        line
    }
}

#[expect(clippy::disallowed_methods, reason = "the user's own command, with the user's rights")]
async fn run_command(command: String, input: String, folder: std::path::PathBuf) -> Option<String> {
    let mut child = tokio::process::Command::new("sh")
        .arg("-c")
        .arg(command)
        .current_dir(folder)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .kill_on_drop(true)
        .spawn()
        .ok()?;
    let (mut stdin, stdout) = (child.stdin.take()?, child.stdout.take()?);
    let talk = async {
        // A command that does not read its input is no error.
        let _ = stdin.write_all(input.as_bytes()).await;
        drop(stdin);
        let mut output = Vec::new();
        stdout.take(MAX_BYTES).read_to_end(&mut output).await.ok()?;
        child.wait().await.ok().filter(std::process::ExitStatus::success)?;
        Some(output)
    };
    let output = tokio::time::timeout(TIMEOUT, talk).await.ok().flatten()?;
    let text = String::from_utf8_lossy(&output);
    let line = text.lines().next()?;
    Some(sanitize_output(line, ColorSupport::Enabled))
}
