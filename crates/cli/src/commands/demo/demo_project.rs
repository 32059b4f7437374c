//! The temporary project of the demo, and this binary started in it.

use std::path::{Path, PathBuf};

use anyhow::Context;

use super::demo_process::DemoProcess;
use crate::setup;

/// The id of the demo's conversation.
pub(super) const CONVERSATION: &str = "conversation:demo";

const PROJECT_FILES: [(&str, &str); 3] = [
    ("job.script", include_str!("../../../demo/job.script")),
    ("work/shop.sh", include_str!("../../../demo/shop.sh")),
    ("work/test.sh", include_str!("../../../demo/test.sh")),
];

/// The prompt for the agent.
const PROMPT: &str = "The discount in shop.sh is wrong. Mend it, prove it, and deploy it.";

/// Lines of the notes file: enough to fill a small context window.
const NOTE_LINES: usize = 420;

/// Characters of a random id that make the name of the project's folder unique.
const FOLDER_ID_CHARS: usize = 8;

/// A temporary project folder for the demo.
pub(super) struct DemoProject {
    root: PathBuf,
}

impl DemoProject {
    /// Creates the project. Its state folder is inside of it, so that removing the project removes
    /// everything of the demo.
    pub(super) fn new() -> anyhow::Result<Self> {
        // The end of the id is random; a short suffix keeps the often printed path short.
        let id = setup::new_id();
        let end = id.get(id.len().saturating_sub(FOLDER_ID_CHARS)..).unwrap_or(&id);
        let root = std::env::temp_dir().join(format!("windlass-demo-{end}"));
        let project = Self { root };
        std::fs::create_dir(&project.root)
            .and_then(|()| std::fs::create_dir(project.work_folder()))
            .with_context(|| format!("cannot create {}", project.root.display()))?;
        for (name, text) in PROJECT_FILES {
            std::fs::write(project.root.join(name), text)?;
        }
        std::fs::write(project.work_folder().join("notes.md"), long_notes())?;
        Ok(project)
    }

    /// Removes the project folder with its store.
    pub(super) fn remove(&self) -> anyhow::Result<()> {
        std::fs::remove_dir_all(&self.root)
            .with_context(|| format!("cannot remove {}", self.root.display()))
    }

    /// The folder in which the agent works.
    pub(super) fn work_folder(&self) -> PathBuf {
        self.root.join("work")
    }

    /// The path of the store.
    pub(super) fn store_path(&self) -> PathBuf {
        self.root.join("windlass.db")
    }

    /// Reads the file that the deployments append to.
    pub(super) fn read_deployments(&self) -> anyhow::Result<String> {
        Ok(std::fs::read_to_string(self.deployments_path()).unwrap_or_default())
    }

    pub(super) fn deployments_path(&self) -> PathBuf {
        self.work_folder().join("deployments.log")
    }

    /// Starts the first process, which is killed during the deployment.
    pub(super) fn start(&self) -> anyhow::Result<DemoProcess> {
        self.start_process(&["-p", PROMPT, "--conversation", CONVERSATION], DriveMode::Driving)
    }

    /// Runs the second process, which stops with a question.
    pub(super) async fn resume(&self) -> anyhow::Result<()> {
        self.start_process(&["resume", CONVERSATION], DriveMode::Driving)?.print_until_exit().await
    }

    /// Runs the third process, which answers the question and finishes.
    pub(super) async fn answer(&self) -> anyhow::Result<()> {
        let words = ["answer", CONVERSATION, "1", "mark-done", "deployed once"];
        self.start_process(&words, DriveMode::Driving)?.print_until_exit().await
    }

    pub(super) async fn explain(&self) -> anyhow::Result<()> {
        self.start_process(&["explain", CONVERSATION], DriveMode::ReadOnly)?
            .print_until_exit()
            .await
    }

    /// Starts this binary in the project.
    fn start_process(&self, words: &[&str], driven: DriveMode) -> anyhow::Result<DemoProcess> {
        let store = self.store_path();
        let mut args: Vec<&Path> = words.iter().map(Path::new).collect();
        args.extend([Path::new("--store"), &store]);
        let (folder, script) = (self.work_folder(), self.root.join("job.script"));
        if driven == DriveMode::Driving {
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
            return DemoProcess::start(&args, (&folder, &self.root), self.deployments_path());
        }
        DemoProcess::start(&args, (&self.root, &self.root), self.deployments_path())
    }
}

/// Whether a command drives the conversation.
#[derive(Clone, Copy, PartialEq, Eq)]
enum DriveMode {
    Driving,
    ReadOnly,
}

fn long_notes() -> String {
    let line =
        |n: usize| format!("{n}. A note about the shop that matters less than it is long.\n");
    (1..=NOTE_LINES).map(line).collect()
}
