//! One process of the demo: this binary, with its output printed line by line.

use std::io::{BufRead, BufReader, PipeReader};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use anyhow::{Context, bail};
use tokio::process::{Child, Command};
use tokio::task::JoinHandle;

use crate::terminal::{OutputStyle, print_line};

/// Time limit of one step of the demo; a slower one is an error.
const STEP_TIMEOUT: Duration = Duration::from_secs(30);

/// Time between two checks whether the deployment has started.
const POLL_INTERVAL: Duration = Duration::from_millis(20);

/// How long to wait for the last output of a killed process.
const FINAL_OUTPUT_TIMEOUT: Duration = Duration::from_millis(500);

/// Spaces before each output line of a process.
const INDENT: usize = 3;

/// A running process of the demo and the task that prints its output.
pub(super) struct DemoProcess {
    child: Child,
    output_task: JoinHandle<()>,
    deployments: PathBuf,
}

impl DemoProcess {
    #[expect(clippy::disallowed_methods, reason = "the demo runs this binary as people would")]
    pub(super) fn start(
        args: &[&Path],
        (folder, state): (&Path, &Path),
        deployments: PathBuf,
    ) -> anyhow::Result<Self> {
        let program = std::env::current_exe().context("cannot find this executable")?;
        let style = OutputStyle::stdout();
        let width = style.width().saturating_sub(INDENT);
        // One pipe for both streams, so that everything is printed in the order it was written.
        let (reader, writer) = std::io::pipe()?;
        let child = Command::new(program)
            .args(args)
            .current_dir(folder)
            .env("COLUMNS", width.to_string())
            .env("WINDLASS_HOME", state.join("state"))
            .stdin(Stdio::null())
            .stdout(writer.try_clone()?)
            .stderr(writer)
            .kill_on_drop(true)
            .spawn()
            .context("cannot start a process for the demo")?;
        let output_task = tokio::task::spawn_blocking(move || print_output(reader, style));
        Ok(Self { child, output_task, deployments })
    }

    /// Waits until the side effect (the deployment) has started.
    pub(super) async fn wait_until_deployed(&mut self) -> anyhow::Result<()> {
        let deployments = self.deployments.clone();
        let begun = async move {
            while !std::fs::metadata(&deployments).is_ok_and(|found| found.len() > 0) {
                sleep(POLL_INTERVAL).await;
            }
        };
        tokio::select! {
            () = begun => Ok(()),
            ended = self.child.wait() => bail!("the agent ended before it deployed ({})", ended?),
            () = sleep(STEP_TIMEOUT) => bail!("the agent did not deploy in time"),
        }
    }

    /// Kills the process without warning or clean-up (SIGKILL).
    pub(super) async fn kill(mut self) -> anyhow::Result<()> {
        self.child.kill().await.context("the process could not be killed")?;
        // Commands that the process started may keep the pipe open a moment longer.
        let _ = tokio::time::timeout(FINAL_OUTPUT_TIMEOUT, self.output_task).await;
        Ok(())
    }

    /// Waits until the process exits and prints all of its output.
    pub(super) async fn print_until_exit(mut self) -> anyhow::Result<()> {
        tokio::select! {
            ended = self.child.wait() => drop(ended?),
            () = sleep(STEP_TIMEOUT) => bail!("a step of the demo timed out"),
        }
        Ok(self.output_task.await?)
    }
}

/// Prints the output of a process, indented and wrapped to the line width.
fn print_output(reader: PipeReader, style: OutputStyle) {
    for text in BufReader::new(reader).lines().map_while(Result::ok) {
        let words = text.trim_start();
        let own = text.len().saturating_sub(words.len());
        print_line(&style.wrap(words, INDENT + own));
    }
}

#[expect(clippy::disallowed_methods, reason = "the demo waits for processes, not for the driver")]
async fn sleep(time: Duration) {
    tokio::time::sleep(time).await;
}
