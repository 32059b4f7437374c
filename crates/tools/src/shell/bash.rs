//! `Bash`: a command in the workspace.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use schemars::JsonSchema;
use serde::Deserialize;
use windlass_core::facts::{Facts, Repeat};
use windlass_core::ids::LaneId;
use windlass_core::order::Touches;
use windlass_core::outcome::{Outcome, ToolError};
use windlass_core::permission::{Shell, Subject};
use windlass_core::raw::Raw;
use windlass_core::settings::ToolSpec;
use windlass_runtime::ports::{CallContext, Clock, Task, Tool};

use super::parse::{Circumstances, Company, take_apart_in};
use super::under_way::{CommandsUnderWay, RunsIn, UnderWay, leaves_files_alone};
use super::{Programs, folder, rejudge, report};
use crate::desk::Desk;
use crate::input::{self, Input, unfit};
use crate::limits::{
    BACKGROUND_MS, ENDING_MS, MAX_COMMAND_BYTES, MAX_TIMEOUT_MS, SPILL_BYTES, TIMEOUT_MS,
};
use crate::offer::offer;
use crate::process::{self, Environment, Job, Rations, Spill};
use crate::shell::background::Started;
use crate::workplace::Workplace;

/// Runs commands with `bash`, or with `sh` where there is no bash.
///
/// Every call is a shell of its own with the same environment; what lasts is the folder. What a
/// command leaves running is ended with the call, unless it was started in the background.
pub struct Bash {
    workplace: Workplace,
    shell: PathBuf,
    environment: Environment,
    programs: Programs,
    rations: Rations,
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
    /// Whether to go on at once while it runs; look at it with BashOutput
    run_in_background: Option<bool>,
    /// Has no effect: commands run with the rights of this process
    #[serde(rename = "dangerouslyDisableSandbox")]
    _sandbox: Option<bool>,
}

impl Input for Asked {
    fn problem(&self) -> Option<String> {
        let bytes = self.command.len();
        match self.timeout.unwrap_or(TIMEOUT_MS) {
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
    fn is_in_background(&self) -> bool {
        self.run_in_background == Some(true)
    }

    fn timeout_ms(&self) -> u64 {
        let otherwise = if self.is_in_background() { BACKGROUND_MS } else { TIMEOUT_MS };
        self.timeout.unwrap_or(otherwise)
    }

    fn facts(&self) -> Facts {
        let own_ms = if self.is_in_background() { TIMEOUT_MS } else { self.timeout_ms() };
        Facts {
            touches: Touches::Exclusive,
            repeat: Repeat::OnceOnly,
            // The command's own time, and then what it takes to end it properly.
            timeout_ms: own_ms.saturating_add(ENDING_MS),
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
    /// A shell that works in `workplace` and keeps time by `clock`.
    #[must_use]
    pub fn new(workplace: impl Into<Workplace>, clock: Arc<dyn Clock>) -> Self {
        let workplace = workplace.into();
        let with = |known: Environment, (name, value): &(String, String)| known.with(name, value);
        let environment = workplace.variables().iter().fold(Environment::inherited(), with);
        Self {
            workplace,
            shell: shell(&environment),
            programs: Programs::of(environment.get("PATH").unwrap_or_default()),
            environment,
            rations: Rations::of_this_machine(),
            clock,
        }
    }

    /// The facts of a call that begins in `folder`.
    fn facts(&self, input: &Raw, folder: &Path, company: Company) -> Facts {
        let facts = |asked: Asked| {
            let shell = self.taken_apart(&asked.command, folder, company);
            asked.facts().about(Subject::Shell(shell))
        };
        input::read(input).map_or_else(unfit, facts)
    }

    fn taken_apart(&self, command: &str, folder: &Path, company: Company) -> Shell {
        let (zones, programs) = (self.workplace.zones(), &self.programs);
        take_apart_in(command, &Circumstances { zones, programs, folder, company })
    }

    /// Notes that the command runs, unless it leaves all files alone.
    fn under_way(&self, context: &CallContext, shell: &Shell, place: RunsIn) -> Option<UnderWay> {
        let all = self.workplace.under_way();
        let changes = !leaves_files_alone(shell);
        changes.then(|| CommandsUnderWay::start(all, &context.lane, place))
    }

    fn job(&self, context: &CallContext, asked: &Asked, folder: PathBuf, spill: Spill) -> Job {
        let environment = self.environment.clone();
        Job {
            shell: self.shell.clone(),
            timeout_ms: asked.timeout_ms(),
            command: asked.command.clone(),
            folder,
            environment: environment.with("WINDLASS_CALL", &context.idempotency_key),
            rations: self.rations,
            spill,
            ended_in: None,
        }
    }

    async fn outcome(&self, context: CallContext, input: Raw) -> Outcome {
        let asked: Asked = match input::read(&input) {
            Ok(asked) => asked,
            Err(problem) => return Outcome::Failed(problem),
        };
        let desk = self.workplace.desk(&context.lane);
        let folder = folder::of_reply(&desk, self.workplace.zones(), context.call.ask);
        let shell = self.taken_apart(&asked.command, &folder, Company::Alone);
        if let Some(problem) = rejudge::problem(&context.subject, &shell) {
            return Outcome::Failed(problem);
        }
        match asked.is_in_background() {
            true => {
                let under_way = self.under_way(&context, &shell, RunsIn::Background);
                self.start(&context, &asked, &desk, folder, under_way)
            }
            false => {
                let _under_way = self.under_way(&context, &shell, RunsIn::Foreground);
                self.wait(&context, &asked, &desk, folder).await
            }
        }
    }

    async fn wait(
        &self,
        context: &CallContext,
        asked: &Asked,
        desk: &Desk,
        folder: PathBuf,
    ) -> Outcome {
        // Where no file can be made, head and tail must do.
        let outputs = desk.outputs().ok();
        let path = outputs.as_deref().map(|outputs| output_file(outputs, context));
        let mut job = self.job(context, asked, folder, Spill { path, from: SPILL_BYTES });
        job.ended_in = outputs.and_then(|_| folder::slate(desk));
        let ended = process::run(&job, self.clock.as_ref(), std::future::pending()).await;
        let (zones, said) = (self.workplace.zones(), job.ended_in.as_deref());
        let went = folder::remember(desk, zones, context.call.ask, said, &job.folder);
        match ended {
            Ok(ended) => report::ended(&ended, &went),
            Err(error) => Outcome::Failed(report::not_started(&error, &job.folder)),
        }
    }

    fn start(
        &self,
        context: &CallContext,
        asked: &Asked,
        desk: &Desk,
        folder: PathBuf,
        under_way: Option<UnderWay>,
    ) -> Outcome {
        let output = match desk.outputs() {
            Ok(outputs) => output_file(&outputs, context),
            Err(error) => return Outcome::Failed(report::not_started(&error, &folder)),
        };
        let spill = Spill { path: Some(output.clone()), from: 0 };
        let job = self.job(context, asked, folder, spill);
        let id = format!("bash_{}_{}", context.call.ask, context.call.index);
        let clock = Arc::clone(&self.clock);
        let said = report::started(&id, &output);
        let started = Started { job, output, under_way };
        match self.workplace.background().start(&context.lane, &id, started, clock) {
            Some(()) => Outcome::Done(Raw::string(&said)),
            None => Outcome::Failed(too_many()),
        }
    }
}

/// Where a call's output goes. The same call again begins it anew.
fn output_file(outputs: &Path, context: &CallContext) -> PathBuf {
    outputs.join(format!("bash-{}-{}.txt", context.call.ask, context.call.index))
}

fn too_many() -> ToolError {
    ToolError::new(
        "too_many_shells",
        "too many commands run in the background",
        "end one of them with KillShell first",
    )
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
            "Runs a command in a new shell and returns what it printed. A change of folder within \
             the workspace lasts from the next reply on; variables do not last. Processes that a \
             command leaves behind are ended with it, unless it runs in the background.",
        )
    }

    fn assess(&self, input: &Raw) -> Facts {
        self.facts(input, self.workplace.zones().root(), Company::Alone)
    }

    fn assess_on(&self, lane: &LaneId, input: &Raw) -> Facts {
        let desk = self.workplace.desk(lane);
        let company = match self.workplace.under_way().has_beside(lane) {
            true => Company::BesideOthers,
            false => Company::Alone,
        };
        self.facts(input, &folder::now(&desk, self.workplace.zones()), company)
    }

    fn run(&self, context: CallContext, input: Raw) -> Task<'_, Outcome> {
        Box::pin(self.outcome(context, input))
    }

    fn leave(&self, lane: &LaneId) {
        self.workplace.background().leave(lane);
    }
}

impl std::fmt::Debug for Bash {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Bash")
            .field("workplace", &self.workplace)
            .field("shell", &self.shell)
            .finish_non_exhaustive()
    }
}
