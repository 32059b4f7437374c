//! `Bash`: a command in the workspace.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use schemars::JsonSchema;
use serde::Deserialize;
use windlass_core::facts::{Facts, Repeat};
use windlass_core::order::Touches;
use windlass_core::outcome::Outcome;
use windlass_core::raw::Raw;
use windlass_core::settings::ToolSpec;
use windlass_runtime::ports::{CallContext, Clock, Task, Tool};

use super::report;
use crate::input::{self, Input, unfit};
use crate::limits::{ENDING_MS, MAX_COMMAND_BYTES, MAX_TIMEOUT_MS, TIMEOUT_MS};
use crate::offer::offer;
use crate::process::{self, Environment, Job};
use crate::workplace::Workplace;

/// Runs commands with `bash`, or with `sh` where there is no bash.
///
/// Every call is a shell of its own: a change of folder or of a variable does not last. What a
/// command leaves running is ended with the call.
pub struct Bash {
    workspace: PathBuf,
    shell: PathBuf,
    environment: Environment,
    clock: Arc<dyn Clock>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Asked {
    /// The command to run
    #[schemars(length(min = 1))]
    command: String,
    /// How many milliseconds it may take; 120000 if left out
    #[schemars(range(min = 1, max = 600_000))]
    timeout: Option<u64>,
    /// What it does, in a few words, for whoever approves it
    description: Option<String>,
}

impl Input for Asked {
    fn problem(&self) -> Option<String> {
        let bytes = self.command.len();
        match self.timeout_ms() {
            _ if self.command.trim().is_empty() => Some("the command is empty".to_owned()),
            _ if self.command.contains('\0') => Some("the command holds a NUL byte".to_owned()),
            _ if bytes > MAX_COMMAND_BYTES => Some(format!(
                "the command has {bytes} bytes and at most {MAX_COMMAND_BYTES} are taken; \
                 put it into a file"
            )),
            1..=MAX_TIMEOUT_MS => None,
            _ => Some(format!("the timeout is not between 1 and {MAX_TIMEOUT_MS} ms")),
        }
    }
}

impl Asked {
    fn timeout_ms(&self) -> u64 {
        self.timeout.unwrap_or(TIMEOUT_MS)
    }

    fn facts(&self) -> Facts {
        Facts {
            touches: Touches::Exclusive,
            repeat: Repeat::OnceOnly,
            // The command's own time, and then what it takes to end it properly.
            timeout_ms: self.timeout_ms().saturating_add(ENDING_MS),
            summary: Some(self.summary()),
            ..input::looks(Vec::new(), "")
        }
    }

    /// The command itself comes first: a description is only what the model says of it.
    fn summary(&self) -> Arc<str> {
        match &self.description {
            Some(description) => input::summary(&format!("{}  # {description}", self.command)),
            None => input::summary(&self.command),
        }
    }
}

impl Bash {
    /// A shell that works in `workspace` and keeps time by `clock`.
    #[must_use]
    pub fn new(workplace: impl Into<Workplace>, clock: Arc<dyn Clock>) -> Self {
        let environment = Environment::inherited();
        let workspace = workplace.into().zones().root().to_owned();
        Self { workspace, shell: shell(&environment), environment, clock }
    }

    fn job(&self, context: &CallContext, input: Asked) -> Job {
        let environment = self.environment.clone();
        Job {
            shell: self.shell.clone(),
            timeout_ms: input.timeout_ms(),
            command: input.command,
            folder: self.workspace.clone(),
            environment: environment.with("WINDLASS_CALL", &context.idempotency_key),
        }
    }

    async fn outcome(&self, context: CallContext, input: Raw) -> Outcome {
        let job = match input::read(&input) {
            Ok(input) => self.job(&context, input),
            Err(problem) => return Outcome::Failed(problem),
        };
        match process::run(&job, self.clock.as_ref()).await {
            Ok(ended) => report::ended(&ended),
            Err(error) => Outcome::Failed(report::not_started(&error, &self.workspace)),
        }
    }
}

/// Where bash is, or else the shell that is everywhere.
fn shell(environment: &Environment) -> PathBuf {
    let path = environment.get("PATH").unwrap_or_default();
    // A relative folder would name another program in every workspace.
    let folders = std::env::split_paths(path).filter(|folder| folder.is_absolute());
    let programs = folders.map(|folder| folder.join("bash"));
    programs
        .into_iter()
        .find(|program| program.is_file())
        .unwrap_or_else(|| Path::new("/bin/sh").to_owned())
}

impl Tool for Bash {
    fn spec(&self) -> ToolSpec {
        offer::<Asked>(
            "Bash",
            "Runs a command in a new shell in the workspace and returns what it printed. \
             Processes it leaves behind are ended with it.",
        )
    }

    fn assess(&self, input: &Raw) -> Facts {
        input::read(input).map_or_else(unfit, |input: Asked| input.facts())
    }

    fn run(&self, context: CallContext, input: Raw) -> Task<'_, Outcome> {
        Box::pin(self.outcome(context, input))
    }
}

impl std::fmt::Debug for Bash {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Bash")
            .field("workspace", &self.workspace)
            .field("shell", &self.shell)
            .finish_non_exhaustive()
    }
}
