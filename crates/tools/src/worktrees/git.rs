//! Runs git for worktrees, with nothing of the repository that could make it run something else: no
//! hooks, no file system monitor, no signing program.

use std::path::Path;
use std::sync::Arc;

use windlass_runtime::UnconfinedLauncher;
use windlass_runtime::ports::Clock;

use crate::process::{
    CommandEnvironment, CommandExit, ProgramJob, ResourceLimits, SandboxNeeds, run_program,
};

/// How long one command of git may take. A worktree is a copy of every tracked file.
const GIT_TIMEOUT_MS: u64 = 50_000;

/// Options of every command.
const SETTINGS: [&str; 5] = [
    "core.hooksPath=/dev/null",
    "core.fsmonitor=false",
    "commit.gpgSign=false",
    "user.name=Windlass",
    "user.email=windlass@localhost",
];

/// Runs git. Clones are the same.
#[derive(Clone)]
pub(super) struct Git {
    clock: Arc<dyn Clock>,
}

impl Git {
    pub(super) fn new(clock: Arc<dyn Clock>) -> Self {
        Self { clock }
    }

    /// Runs a command in a folder, and returns what it prints.
    pub(super) async fn run(&self, folder: &Path, arguments: &[&str]) -> Result<String, String> {
        let settings = SETTINGS.iter().flat_map(|setting| ["-c", setting]);
        let job = ProgramJob {
            program: "git".into(),
            arguments: settings.chain(arguments.iter().copied()).map(Into::into).collect(),
            input: Vec::new(),
            folder: folder.to_owned(),
            environment: CommandEnvironment::from_process().with("GIT_TERMINAL_PROMPT", "0"),
            limits: ResourceLimits::for_this_machine(),
            timeout_ms: GIT_TIMEOUT_MS,
            needs: SandboxNeeds::default(),
        };
        let ended = run_program(job, &UnconfinedLauncher, self.clock.as_ref()).await;
        let ended = ended.map_err(|error| format!("git cannot be started: {error}"))?;
        match ended.exit {
            CommandExit::Exited(status) if status.success() => {
                Ok(ended.stdout.trim_end().to_owned())
            }
            CommandExit::Exited(_) => Err(format!("git says: {}", ended.stderr.trim())),
            CommandExit::TimedOut | CommandExit::Stopped => {
                Err(format!("git took longer than {} seconds", GIT_TIMEOUT_MS / 1_000))
            }
        }
    }
}
