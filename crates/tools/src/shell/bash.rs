//! `BashTool`: runs a command in the workspace.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use schemars::JsonSchema;
use serde::Deserialize;
use tokio::sync::Notify;
use windlass_core::call::call_facts::{CallFacts, Repeatability};
use windlass_core::call::call_order::TouchedResources;
use windlass_core::call::outcome::{ToolError, ToolOutcome};
use windlass_core::log::ids::LaneId;
use windlass_core::message::raw_json::RawJson;
use windlass_core::permission::{CallSubject, ShellCommand, reads_in_sandbox};
use windlass_core::settings::conversation_settings::{Settings, ToolSpec};
use windlass_runtime::ports::{
    BoxFuture, CallContext, Clock, LaunchAccess, ProgressReporter, Tool,
};

use super::command_analysis::{ConcurrentCommands, ShellContext, analyze_command_in};
use super::running_commands::{RunMode, RunningCommands, RunningGuard, changes_no_files};
use super::{ProgramLookup, content_sources, path_recheck, report, sandbox_notes, working_folder};
use crate::limits::{
    DEFAULT_BACKGROUND_TIMEOUT_MS, DEFAULT_TIMEOUT_MS, MAX_COMMAND_BYTES, MAX_TERMINATION_MS,
    MAX_TIMEOUT_MS, OUTPUT_FILE_THRESHOLD_BYTES,
};
use crate::process::{
    BackgroundSwitch, CommandEnvironment, CommandJob, ResourceLimits, SandboxNeeds, SpillTarget,
};
use crate::shell::background_commands::{BackgroundStart, RunningJob, running_job};
use crate::tool_context::ToolContext;
use crate::tool_context::tool_state::ToolState;
use crate::tool_definition::tool_input::{self, ToolInput, problem_facts};
use crate::tool_definition::tool_spec::tool_spec;

/// Keeps git from running two kinds of programs that a repository chooses, for commands that only
/// look: a monitor of files, and a check of signatures.
const NEUTRAL_GIT: [(&str, &str); 5] = [
    ("GIT_CONFIG_COUNT", "2"),
    ("GIT_CONFIG_KEY_0", "core.fsmonitor"),
    ("GIT_CONFIG_VALUE_0", "false"),
    ("GIT_CONFIG_KEY_1", "log.showSignature"),
    ("GIT_CONFIG_VALUE_1", "false"),
];

/// Runs commands with `bash`, or with `sh` where there is no bash.
///
/// Every call is a new shell with the same environment; only the working folder is kept. Processes
/// that a command leaves running are ended with the call, unless it was started in the background.
#[derive(Clone)]
pub struct BashTool {
    tool_context: ToolContext,
    shell: PathBuf,
    environment: CommandEnvironment,
    programs: ProgramLookup,
    limits: ResourceLimits,
    clock: Arc<dyn Clock>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct BashInput {
    /// The command to run
    #[schemars(length(min = 1))]
    command: String,
    /// Timeout in milliseconds; default 120000
    #[schemars(range(min = 1, max = 600_000))]
    timeout: Option<u64>,
    /// What it does, in a few words, shown for approval
    description: Option<String>,
    /// Run it in the background; read its output with TaskOutput
    run_in_background: Option<bool>,
    /// Has no effect: the sandbox is not left
    #[serde(rename = "dangerouslyDisableSandbox")]
    _sandbox: Option<bool>,
}

impl ToolInput for BashInput {
    fn validation_error(&self) -> Option<String> {
        let bytes = self.command.len();
        match self.timeout.unwrap_or(DEFAULT_TIMEOUT_MS) {
            _ if self.command.trim().is_empty() => Some("the command is empty".to_owned()),
            _ if self.command.contains('\0') => Some("the command contains a NUL byte".to_owned()),
            _ if bytes > MAX_COMMAND_BYTES => Some(format!(
                "the command has {bytes} bytes; the limit is {MAX_COMMAND_BYTES}; put it into a script file"
            )),
            1..=MAX_TIMEOUT_MS => None,
            _ => Some(format!("the timeout must be between 1 and {MAX_TIMEOUT_MS} ms")),
        }
    }
}

impl BashInput {
    fn is_in_background(&self) -> bool {
        self.run_in_background == Some(true)
    }

    fn timeout_ms(&self) -> u64 {
        let otherwise = if self.is_in_background() {
            DEFAULT_BACKGROUND_TIMEOUT_MS
        } else {
            DEFAULT_TIMEOUT_MS
        };
        self.timeout.unwrap_or(otherwise)
    }

    fn input_facts(&self) -> CallFacts {
        let own_ms = if self.is_in_background() { DEFAULT_TIMEOUT_MS } else { self.timeout_ms() };
        CallFacts {
            touches: TouchedResources::Exclusive,
            repeat: Repeatability::OnceOnly,
            // The command's own timeout, and then the time it takes to end it properly.
            timeout_ms: own_ms.saturating_add(MAX_TERMINATION_MS),
            summary: Some(self.summary()),
            ..tool_input::read_only_facts(Vec::new(), "")
        }
    }

    /// Returns the summary, with the command itself first: the description is only what the model
    /// says of it.
    fn summary(&self) -> Arc<str> {
        match &self.description {
            Some(description) => {
                tool_input::one_line_summary(&format!("{}  # {description}", self.command))
            }
            None => tool_input::one_line_summary(&self.command),
        }
    }
}

impl BashTool {
    /// Returns a shell tool that works in `tool_context` and uses `clock`.
    #[must_use]
    pub fn new(tool_context: impl Into<ToolContext>, clock: Arc<dyn Clock>) -> Self {
        let tool_context = tool_context.into();
        let with =
            |known: CommandEnvironment, (name, value): &(String, String)| known.with(name, value);
        let environment =
            tool_context.command_variables().iter().fold(CommandEnvironment::from_process(), with);
        Self {
            tool_context,
            shell: find_shell(&environment),
            programs: ProgramLookup::from_path(environment.get("PATH").unwrap_or_default()),
            environment,
            limits: ResourceLimits::for_this_machine(),
            clock,
        }
    }

    /// Returns the facts of a call that begins in `folder`.
    fn call_facts(
        &self,
        input: &RawJson,
        folder: &Path,
        concurrency: ConcurrentCommands,
    ) -> CallFacts {
        let facts = |asked: BashInput| {
            let shell = self.analyze(&asked.command, folder, concurrency);
            asked.input_facts().with_subject(CallSubject::from(shell))
        };
        tool_input::read_input(input).map_or_else(problem_facts, facts)
    }

    fn analyze(
        &self,
        command: &str,
        folder: &Path,
        concurrency: ConcurrentCommands,
    ) -> ShellCommand {
        let (zones, programs) = (self.tool_context.zones(), &self.programs);
        analyze_command_in(command, &ShellContext { zones, programs, folder, concurrency })
    }

    /// Registers the command as running, unless it changes no files.
    fn register_running(
        &self,
        context: &CallContext,
        shell: &ShellCommand,
        place: RunMode,
    ) -> Option<RunningGuard> {
        let all = self.tool_context.running_commands();
        let changes = !changes_no_files(shell);
        changes.then(|| RunningCommands::register(all, &context.lane, place))
    }

    fn command_job(
        &self,
        context: &CallContext,
        asked: &BashInput,
        (folder, needs): (PathBuf, SandboxNeeds),
        spill_target: SpillTarget,
    ) -> CommandJob {
        let neutral =
            |known: CommandEnvironment, (name, value): &(&str, &str)| known.with(name, value);
        let environment = NEUTRAL_GIT.iter().fold(self.environment.clone(), neutral);
        CommandJob {
            shell: self.shell.clone(),
            timeout_ms: asked.timeout_ms(),
            command: asked.command.clone(),
            folder,
            environment: environment.with("WINDLASS_CALL", &context.idempotency_key),
            limits: self.limits,
            spill_target,
            final_folder_file: None,
            live_output: ProgressReporter::default(),
            needs,
            background: BackgroundSwitch::default(),
        }
    }

    /// Returns the tool in another context of the same workspace.
    fn in_context(&self, tool_context: ToolContext) -> Self {
        Self { tool_context, ..self.clone() }
    }

    async fn run_bash(&self, context: CallContext, input: RawJson) -> ToolOutcome {
        let asked: BashInput = match tool_input::read_input(&input) {
            Ok(asked) => asked,
            Err(problem) => return ToolOutcome::Failed(problem),
        };
        let state = self.tool_context.tool_state(&context.lane);
        let folder = working_folder::folder_for_reply(
            &state,
            self.tool_context.zones(),
            context.call.model_call,
        );
        let shell = self.analyze(&asked.command, &folder, ConcurrentCommands::Absent);
        if let Some(problem) = path_recheck::changed_paths_error(&context.subject, &shell) {
            return ToolOutcome::Failed(problem);
        }
        // What runs without approval because it only reads is held to that.
        let access = match reads_in_sandbox(&shell) {
            true => LaunchAccess::ReadOnly,
            false => LaunchAccess::Full,
        };
        let needs = self.tool_context.sandbox_needs(access);
        let needs = needs.and_then(|needs| needs.with_access(&context.access));
        let place = match needs {
            Ok(needs) => (folder, needs),
            Err(error) => return ToolOutcome::Failed(report::not_started_error(&error, &folder)),
        };
        match asked.is_in_background() {
            true => {
                let under_way = self.register_running(&context, &shell, RunMode::Background);
                self.run_background(&context, &asked, &state, place, under_way)
            }
            false => {
                let _under_way = self.register_running(&context, &shell, RunMode::Foreground);
                self.run_foreground(&context, (&asked, &shell), &state, place).await
            }
        }
    }

    async fn run_foreground(
        &self,
        context: &CallContext,
        (asked, shell): (&BashInput, &ShellCommand),
        state: &ToolState,
        place: (PathBuf, SandboxNeeds),
    ) -> ToolOutcome {
        let folder = place.0.clone();
        // Without an output file only head and tail are kept.
        let outputs = state.create_outputs_folder().ok();
        let path = outputs.as_deref().map(|outputs| output_file(outputs, context));
        let mut job = self.command_job(
            context,
            asked,
            place,
            SpillTarget { path: path.clone(), threshold_bytes: OUTPUT_FILE_THRESHOLD_BYTES },
        );
        job.live_output = context.progress.clone();
        job.final_folder_file = outputs.and_then(|_| working_folder::new_folder_file(state));
        let said = job.final_folder_file.clone();
        let id = command_id(context);
        let background = self.tool_context.background_commands();
        let (mut switch, _foreground) = background.enter_foreground(&context.lane, &id);
        // Without a file its output could not be read later.
        if path.is_some() {
            job.background = switch.clone();
        }
        let stop = Arc::new(Notify::new());
        let mut running = self.running_job(job, &stop);
        let ended = tokio::select! {
            biased;
            ended = &mut running => ended,
            () = switch.moved(), if path.is_some() => {
                let running_guard = self.register_running(context, shell, RunMode::Background);
                let output = path.unwrap_or_default();
                let command = asked.command.clone();
                let started = BackgroundStart { command, running, stop, output, running_guard };
                return self.finish_start(context, started, report::moved_to_background_text);
            }
        };
        let (zones, said) = (self.tool_context.zones(), said.as_deref());
        let went = working_folder::record_final_folder(
            state,
            zones,
            context.call.model_call,
            said,
            &folder,
        );
        match ended {
            Ok(ended) => {
                content_sources::report_sources(shell, &ended.reached_hosts, &context.sources);
                let blocked = sandbox_notes::blocked_access(&ended, zones, &folder);
                report::command_outcome(&ended, &went, blocked)
            }
            Err(error) => ToolOutcome::Failed(report::not_started_error(&error, &folder)),
        }
    }

    fn run_background(
        &self,
        context: &CallContext,
        input: &BashInput,
        state: &ToolState,
        place: (PathBuf, SandboxNeeds),
        running_guard: Option<RunningGuard>,
    ) -> ToolOutcome {
        if !self.tool_context.background_commands().has_room(&context.lane) {
            return ToolOutcome::Failed(too_many_error());
        }
        let output = match state.create_outputs_folder() {
            Ok(outputs) => output_file(&outputs, context),
            Err(error) => return ToolOutcome::Failed(report::not_started_error(&error, &place.0)),
        };
        let spill = SpillTarget { path: Some(output.clone()), threshold_bytes: 0 };
        let job = self.command_job(context, input, place, spill);
        let stop = Arc::new(Notify::new());
        let running = self.running_job(job, &stop);
        let command = input.command.clone();
        let started = BackgroundStart { command, running, stop, output, running_guard };
        self.finish_start(context, started, report::background_started_text)
    }

    fn running_job(&self, job: CommandJob, stop: &Arc<Notify>) -> RunningJob {
        let (launcher, clock) = (Arc::clone(self.tool_context.launcher()), Arc::clone(&self.clock));
        running_job(job, launcher, clock, Arc::clone(stop))
    }

    /// Leaves a command to the background, and tells the model how to read its output.
    fn finish_start(
        &self,
        context: &CallContext,
        started: BackgroundStart,
        describe: fn(&str, &Path) -> String,
    ) -> ToolOutcome {
        let id = command_id(context);
        let text = describe(&id, &started.output);
        self.tool_context.background_commands().start(&context.lane, &id, started);
        ToolOutcome::Done(RawJson::string(&text))
    }
}

/// Returns the id by which later calls name the command of a call.
fn command_id(context: &CallContext) -> String {
    format!("bash_{}_{}", context.call.model_call, context.call.index)
}

/// Returns the output file of a call. A repeated call overwrites it.
fn output_file(outputs: &Path, context: &CallContext) -> PathBuf {
    outputs.join(format!("bash-{}-{}.txt", context.call.model_call, context.call.index))
}

fn too_many_error() -> ToolError {
    ToolError::new(
        "too_many_shells",
        "too many background commands are running",
        "end one of them with TaskStop first",
    )
}

/// Returns the path of bash, or of `sh` where there is no bash.
fn find_shell(environment: &CommandEnvironment) -> PathBuf {
    let path = environment.get("PATH").unwrap_or_default();
    // A relative folder would name another program in every workspace.
    let folders = std::env::split_paths(path).filter(|folder| folder.is_absolute());
    let programs = folders.map(|folder| folder.join("bash"));
    programs
        .into_iter()
        .find(|program| program.is_file())
        .unwrap_or_else(|| Path::new("/bin/sh").to_owned())
}

impl Tool for BashTool {
    fn spec(&self) -> ToolSpec {
        tool_spec::<BashInput>(
            "Bash",
            "Runs a command in a new shell and returns its output. A change of the working folder within the workspace applies from the next reply on; variables are not kept. Processes that a command leaves behind are ended with it, unless it runs in the background.",
        )
    }

    fn assess(&self, input: &RawJson) -> CallFacts {
        self.call_facts(input, self.tool_context.zones().root(), ConcurrentCommands::Absent)
    }

    fn assess_in_lane(&self, lane: &LaneId, input: &RawJson) -> CallFacts {
        let state = self.tool_context.tool_state(lane);
        let concurrency = match self.tool_context.running_commands().has_concurrent(lane) {
            true => ConcurrentCommands::Present,
            false => ConcurrentCommands::Absent,
        };
        self.call_facts(
            input,
            &working_folder::current_folder(&state, self.tool_context.zones()),
            concurrency,
        )
    }

    fn assess_in_run(&self, lane: &LaneId, run: &Settings, input: &RawJson) -> CallFacts {
        self.in_context(self.tool_context.with_folders_of(run)).assess_in_lane(lane, input)
    }

    fn run(&self, context: CallContext, input: RawJson) -> BoxFuture<'_, ToolOutcome> {
        let tool = self.in_context(self.tool_context.of_run(&context));
        Box::pin(async move { tool.run_bash(context, input).await })
    }

    fn on_lane_released(&self, lane: &LaneId) {
        self.tool_context.background_commands().release(lane);
    }
}

impl std::fmt::Debug for BashTool {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Bash")
            .field("tool_context", &self.tool_context)
            .field("shell", &self.shell)
            .finish_non_exhaustive()
    }
}
