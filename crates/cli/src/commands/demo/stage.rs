//! One process of the demo: this very binary, shown line by line.

use std::io::{BufRead, BufReader, PipeReader};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use anyhow::{Context, bail};
use tokio::process::{Child, Command};
use tokio::task::JoinHandle;

use crate::look::paper::Paper;
use crate::show::line;

/// How long a stage may take before something is wrong.
const PATIENCE: Duration = Duration::from_secs(30);

/// How often it is looked whether the deployment has begun.
const LOOK: Duration = Duration::from_millis(20);

/// How long the last words of a process that was killed are awaited.
const LAST_WORDS: Duration = Duration::from_millis(500);

/// Blanks before what a process says.
const INDENT: usize = 3;

/// A process and what it says.
pub(super) struct Stage {
    child: Child,
    said: JoinHandle<()>,
    deployments: PathBuf,
}

impl Stage {
    #[expect(clippy::disallowed_methods, reason = "the demo runs this binary as people would")]
    pub(super) fn start(
        args: &[&Path],
        (folder, state): (&Path, &Path),
        deployments: PathBuf,
    ) -> anyhow::Result<Self> {
        let program = std::env::current_exe().context("this program cannot find itself")?;
        let paper = Paper::stdout();
        let width = paper.width().saturating_sub(INDENT);
        // One pipe for both, so that everything is shown in the order it was said.
        let (said, writer) = std::io::pipe()?;
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
            .context("the demo cannot start another process of this program")?;
        let said = tokio::task::spawn_blocking(move || shown(said, paper));
        Ok(Self { child, said, deployments })
    }

    /// Waits until the side effect has begun.
    pub(super) async fn follow_until_deployed(&mut self) -> anyhow::Result<()> {
        let deployments = self.deployments.clone();
        let begun = async move {
            while !std::fs::metadata(&deployments).is_ok_and(|found| found.len() > 0) {
                wait(LOOK).await;
            }
        };
        tokio::select! {
            () = begun => Ok(()),
            ended = self.child.wait() => bail!("the agent ended before it deployed ({})", ended?),
            () = wait(PATIENCE) => bail!("the agent did not deploy in time"),
        }
    }

    /// Kills it: no warning, no clean-up.
    pub(super) async fn kill(mut self) -> anyhow::Result<()> {
        self.child.kill().await.context("the process could not be killed")?;
        // Commands it ran may hold the pipe a moment longer.
        let _ = tokio::time::timeout(LAST_WORDS, self.said).await;
        Ok(())
    }

    /// Waits for its end and shows everything it says.
    pub(super) async fn follow(mut self) -> anyhow::Result<()> {
        tokio::select! {
            ended = self.child.wait() => drop(ended?),
            () = wait(PATIENCE) => bail!("a step of the demo did not end in time"),
        }
        Ok(self.said.await?)
    }
}

/// Shows what a process says, indented, in lines that fit.
fn shown(said: PipeReader, paper: Paper) {
    for text in BufReader::new(said).lines().map_while(Result::ok) {
        let words = text.trim_start();
        let own = text.len().saturating_sub(words.len());
        line(&paper.wrap(words, INDENT + own));
    }
}

#[expect(clippy::disallowed_methods, reason = "the demo waits for processes, not for the driver")]
async fn wait(time: Duration) {
    tokio::time::sleep(time).await;
}
