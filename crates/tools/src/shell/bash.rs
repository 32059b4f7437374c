//! `Bash`: a command in the workspace.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::Deserialize;
use windlass_core::facts::{AnsweredBy, Facts, Interrupt, Repeat, Verify};
use windlass_core::order::Touches;
use windlass_core::outcome::{Outcome, ToolError};
use windlass_core::raw::Raw;
use windlass_core::settings::ToolSpec;
use windlass_runtime::ports::{CallContext, Clock, Task, Tool};

use super::report;
use crate::input::{self, invalid, unfit};
use crate::limits::{ENDING_MS, MAX_COMMAND_BYTES, MAX_TIMEOUT_MS, TIMEOUT_MS};
use crate::process::{self, Environment, Job};

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

const SCHEMA: &str = r#"{
  "type": "object",
  "properties": {
    "command": {"type": "string", "minLength": 1, "description": "The command to run"},
    "timeout": {"type": "integer", "minimum": 1, "maximum": 600000, "description": "How many milliseconds it may take; 120000 if left out"},
    "description": {"type": "string", "description": "What it does, in a few words, for whoever approves it"}
  },
  "required": ["command"],
  "additionalProperties": false
}"#;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Input {
    command: String,
    timeout: Option<u64>,
    description: Option<String>,
}

impl Input {
    fn read(input: &Raw) -> Result<Self, ToolError> {
        let read: Self = input::read(input)?;
        match read.problem() {
            Some(problem) => Err(invalid(&problem)),
            None => Ok(read),
        }
    }

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

    fn timeout_ms(&self) -> u64 {
        self.timeout.unwrap_or(TIMEOUT_MS)
    }

    fn facts(&self) -> Facts {
        Facts {
            touches: Touches::Exclusive,
            repeat: Repeat::OnceOnly,
            interrupt: Interrupt::Interruptible,
            verify: Verify::CannotTell,
            answered_by: AnsweredBy::Tool,
            // The command's own time, and then what it takes to end it properly.
            timeout_ms: self.timeout_ms().saturating_add(ENDING_MS),
            problem: None,
            summary: Some(self.summary()),
            ..Facts::default()
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
    pub fn new(workspace: impl Into<PathBuf>, clock: Arc<dyn Clock>) -> Self {
        let environment = Environment::inherited();
        Self { workspace: workspace.into(), shell: shell(&environment), environment, clock }
    }

    fn job(&self, context: &CallContext, input: Input) -> Job {
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
        let job = match Input::read(&input) {
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
        ToolSpec {
            name: Arc::from("Bash"),
            description: Arc::from(
                "Runs a command in a new shell in the workspace and returns what it printed. \
                 Processes it leaves behind are ended with it.",
            ),
            input_schema: Raw::parse(SCHEMA).unwrap_or_else(|_| Raw::string(SCHEMA)),
        }
    }

    fn assess(&self, input: &Raw) -> Facts {
        Input::read(input).map_or_else(unfit, |input| input.facts())
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
