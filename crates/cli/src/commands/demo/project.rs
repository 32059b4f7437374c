//! The project of the demo, and this binary run in it.

use std::path::{Path, PathBuf};

use anyhow::Context;

use super::stage::Stage;
use crate::setup;

/// The conversation of the demo.
pub(super) const CONVERSATION: &str = "conversation:demo";

const FILES: [(&str, &str); 3] = [
    ("job.script", include_str!("../../../demo/job.script")),
    ("work/shop.sh", include_str!("../../../demo/shop.sh")),
    ("work/test.sh", include_str!("../../../demo/test.sh")),
];

/// What the agent is told.
const PROMPT: &str = "The discount in shop.sh is wrong. Mend it, prove it, and deploy it.";

/// Lines of the notes: long enough to fill a small window.
const NOTE_LINES: usize = 420;

/// Characters of an id that make the project's folder another one each time.
const ID_CHARS: usize = 8;

/// A temporary project.
pub(super) struct Project {
    root: PathBuf,
}

impl Project {
    /// Makes one. Its state lies in it, so that nothing of the demo stays when it is removed.
    pub(super) fn new() -> anyhow::Result<Self> {
        // Its end is random, and a path that is shown often should be short.
        let id = setup::new_id();
        let end = id.get(id.len().saturating_sub(ID_CHARS)..).unwrap_or(&id);
        let root = std::env::temp_dir().join(format!("windlass-demo-{end}"));
        let project = Self { root };
        std::fs::create_dir(&project.root)
            .and_then(|()| std::fs::create_dir(project.folder()))
            .with_context(|| format!("{} cannot be made", project.root.display()))?;
        for (name, text) in FILES {
            std::fs::write(project.root.join(name), text)?;
        }
        std::fs::write(project.folder().join("notes.md"), notes())?;
        Ok(project)
    }

    /// Removes everything.
    pub(super) fn remove(&self) -> anyhow::Result<()> {
        std::fs::remove_dir_all(&self.root)
            .with_context(|| format!("{} cannot be removed", self.root.display()))
    }

    /// Where the agent works.
    pub(super) fn folder(&self) -> PathBuf {
        self.root.join("work")
    }

    /// Where the conversation is kept.
    pub(super) fn store(&self) -> PathBuf {
        self.root.join("windlass.db")
    }

    /// What the deployments left.
    pub(super) fn deployments(&self) -> anyhow::Result<String> {
        Ok(std::fs::read_to_string(self.log_of_deployments()).unwrap_or_default())
    }

    pub(super) fn log_of_deployments(&self) -> PathBuf {
        self.folder().join("deployments.log")
    }

    /// The first process.
    pub(super) fn start(&self) -> anyhow::Result<Stage> {
        self.run(&["-p", PROMPT, "--conversation", CONVERSATION], Driven::Yes)
    }

    /// The second process: it halts.
    pub(super) async fn resume(&self) -> anyhow::Result<()> {
        self.run(&["resume", CONVERSATION], Driven::Yes)?.follow().await
    }

    /// The third process: it finishes.
    pub(super) async fn answer(&self) -> anyhow::Result<()> {
        let words = ["answer", CONVERSATION, "1", "mark-done", "deployed once"];
        self.run(&words, Driven::Yes)?.follow().await
    }

    pub(super) async fn explain(&self) -> anyhow::Result<()> {
        self.run(&["explain", CONVERSATION], Driven::No)?.follow().await
    }

    /// This binary, in the project.
    fn run(&self, words: &[&str], driven: Driven) -> anyhow::Result<Stage> {
        let store = self.store();
        let mut args: Vec<&Path> = words.iter().map(Path::new).collect();
        args.extend([Path::new("--store"), &store]);
        let (folder, script) = (self.folder(), self.root.join("job.script"));
        if driven == Driven::Yes {
            let driving = [
                "--script",
                "--workspace",
                "--when-asked",
                "--allowedTools",
                "--window-tokens",
                "--set",
                "--setting-sources",
            ];
            let values = [
                &*script,
                &*folder,
                Path::new("park"),
                Path::new("Edit Write Bash"),
                Path::new("13500"),
                Path::new("kept_messages=2"),
                Path::new(""),
            ];
            for (flag, value) in driving.iter().zip(values) {
                args.extend([Path::new(flag), value]);
            }
            return Stage::start(&args, (&folder, &self.root), self.log_of_deployments());
        }
        Stage::start(&args, (&self.root, &self.root), self.log_of_deployments())
    }
}

/// Whether a command drives the conversation.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Driven {
    Yes,
    No,
}

fn notes() -> String {
    let line =
        |n: usize| format!("{n}. A note about the shop that matters less than it is long.\n");
    (1..=NOTE_LINES).map(line).collect()
}
