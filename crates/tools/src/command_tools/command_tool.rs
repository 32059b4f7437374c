//! A program as a tool.

use std::ffi::OsString;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::{Map, Value};
use windlass_core::call::call_facts::{CallFacts, Interruptibility, ProbeSupport, Repeatability};
use windlass_core::call::call_order::TouchedResources;
use windlass_core::call::outcome::{ToolError, ToolOutcome};
use windlass_core::log::input::ProbeResult;
use windlass_core::message::raw_json::RawJson;
use windlass_core::message::truncate;
use windlass_core::settings::conversation_settings::ToolSpec;
use windlass_runtime::ports::{BoxFuture, CallContext, LaunchAccess, Tool};

use super::argument_template::{ArgumentTemplate, fill_arguments, fill_texts};
use super::config::{CommandToolConfig, CommandToolName, ProgramInput, quoted};
use crate::limits::{MAX_COMMAND_BYTES, MAX_FAILED_OUTPUT_CHARS, MAX_TERMINATION_MS};
use crate::process::{
    CommandEnvironment, CommandExit, ProgramEnd, ProgramJob, ResourceLimits, run_program,
};
use crate::tool_context::ToolContext;
use crate::tool_definition::tool_input::{self, invalid_input_error, problem_facts};

/// The exit code by which a program says that trying again may help: `EX_TEMPFAIL` of sysexits.h.
const TEMPORARY_FAILURE: i32 = 75;

/// A tool that runs a program. Without a word about repetition it runs alone and at most once, like
/// `Bash`; its `verify` program is asked about a call that a crash interrupted.
pub struct CommandTool {
    name: CommandToolName,
    config: CommandToolConfig,
    tool_context: ToolContext,
}

impl CommandTool {
    /// Returns a tool that works in `tool_context`.
    #[must_use]
    pub fn new(
        name: CommandToolName,
        config: CommandToolConfig,
        tool_context: impl Into<ToolContext>,
    ) -> Self {
        Self { name, config, tool_context: tool_context.into() }
    }

    fn call_facts(&self, input: &RawJson) -> CallFacts {
        let CommandToolConfig { verify, timeout_ms, .. } = &self.config;
        let values = match self.checked_values(input) {
            Ok(values) => values,
            Err(problem) => return problem_facts(problem),
        };
        let is_repeatable = self.is_repeatable();
        CallFacts {
            touches: self.touched_resources(&values),
            repeat: if is_repeatable { Repeatability::Repeatable } else { Repeatability::OnceOnly },
            interrupt: match is_repeatable {
                true => Interruptibility::Interruptible,
                false => Interruptibility::RunsToEnd,
            },
            probe: match verify {
                Some(_) => ProbeSupport::Supported,
                None => ProbeSupport::Unsupported,
            },
            // The program's own timeout, and then the time it takes to end it properly.
            timeout_ms: timeout_ms.saturating_add(MAX_TERMINATION_MS),
            ..tool_input::read_only_facts(Vec::new(), &self.summary(&values, input))
        }
    }

    /// The values of a call, if arguments can be made of them.
    fn checked_values(&self, input: &RawJson) -> Result<Map<String, Value>, ToolError> {
        let values = tool_input::parse_object(input)?;
        self.fill(&self.config.arguments, &values, "")?;
        if let Some((_, arguments)) = &self.config.verify {
            self.fill(arguments, &values, "")?;
        }
        Ok(values)
    }

    fn fill(
        &self,
        templates: &[ArgumentTemplate],
        values: &Map<String, Value>,
        key: &str,
    ) -> Result<Vec<String>, ToolError> {
        let filled = fill_arguments(templates, values, key);
        let filled = filled.map_err(|problem| invalid_input_error(&problem))?;
        match filled.iter().map(String::len).max().unwrap_or_default() {
            long if long > MAX_COMMAND_BYTES => Err(invalid_input_error(&format!(
                "an argument would have {long} bytes; the limit is {MAX_COMMAND_BYTES}"
            ))),
            _ => Ok(filled),
        }
    }

    fn touched_resources(&self, values: &Map<String, Value>) -> TouchedResources {
        let named = fill_texts(&self.config.touches, values);
        let keys: Vec<Arc<str>> = named.iter().flat_map(|name| self.resource_keys(name)).collect();
        match (self.config.is_read_only, self.config.touches.is_empty()) {
            (true, _) => TouchedResources::Reads(keys),
            (false, true) => TouchedResources::Exclusive,
            (false, false) => TouchedResources::Writes(keys),
        }
    }

    /// The keys of one thing: a file, or another thing with its kind before a colon.
    fn resource_keys(&self, name: &str) -> Vec<Arc<str>> {
        match name.contains(':') {
            true => vec![Arc::from(name)],
            false => self.tool_context.resource_keys(name),
        }
    }

    /// The command as it would be run, for the person who approves it.
    fn summary(&self, values: &Map<String, Value>, input: &RawJson) -> String {
        let arguments = fill_arguments(&self.config.arguments, values, "…").unwrap_or_default();
        let words = std::iter::once(self.config.program.clone()).chain(arguments);
        let line = words.map(|word| quoted(&word)).collect::<Vec<_>>().join(" ");
        match self.config.input {
            ProgramInput::Json => format!("{line} < {}", input.text()),
            ProgramInput::None => line,
        }
    }

    fn environment(&self, context: &CallContext) -> CommandEnvironment {
        let add = |known: CommandEnvironment, (name, value): (&str, &str)| known.with(name, value);
        let own = self.tool_context.command_variables().iter();
        let own = own.map(|(name, value)| (name.as_str(), value.as_str()));
        let mut environment = own.fold(CommandEnvironment::from_process(), add);
        for name in &self.config.pass_env {
            if let Some(value) = std::env::var_os(name) {
                environment = environment.with(name, &value.to_string_lossy());
            }
        }
        let given = self.config.env.iter().map(|(name, value)| (name.as_str(), value.as_str()));
        given.fold(environment, add).with("WINDLASS_CALL", &context.idempotency_key)
    }

    /// What is run for a call: the program, or the one that verifies it.
    fn job(
        &self,
        (program, templates): (&str, &[ArgumentTemplate]),
        context: &CallContext,
        input: &RawJson,
    ) -> Result<ProgramJob, ToolError> {
        let values = tool_input::parse_object(input)?;
        let arguments = self.fill(templates, &values, &context.idempotency_key)?;
        let environment = self.environment(context);
        let place = self.tool_context.of_run(context);
        let folder = self.working_folder(place.zones().root());
        let needs = place.sandbox_needs(LaunchAccess::Full);
        let needs = needs.map_err(|error| not_confined(&error))?;
        Ok(ProgramJob {
            program: find_program(program, self.tool_context.zones().root(), &environment)?,
            arguments: arguments.into_iter().map(OsString::from).collect(),
            input: match self.config.input {
                ProgramInput::Json => input.text().as_bytes().to_vec(),
                ProgramInput::None => Vec::new(),
            },
            folder,
            environment,
            limits: ResourceLimits::for_this_machine(),
            timeout_ms: self.config.timeout_ms,
            needs,
        })
    }

    fn working_folder(&self, root: &Path) -> PathBuf {
        self.config.folder.as_deref().map_or_else(|| root.to_owned(), |folder| root.join(folder))
    }

    async fn run_job(&self, job: ProgramJob) -> std::io::Result<ProgramEnd> {
        let clock = self.tool_context.clock().as_ref();
        run_program(job, self.tool_context.launcher().as_ref(), clock).await
    }

    async fn run_call(&self, context: CallContext, input: RawJson) -> ToolOutcome {
        let command = (self.config.program.as_str(), self.config.arguments.as_slice());
        let job = match self.job(command, &context, &input) {
            Ok(job) => job,
            Err(problem) => return ToolOutcome::Failed(problem),
        };
        let folder = job.folder.clone();
        match self.run_job(job).await {
            Ok(ended) => self.outcome(&ended),
            Err(error) => ToolOutcome::Failed(ToolError::new(
                "not_started",
                &format!("{} could not be started in {}: {error}", self.name(), folder.display()),
                "it had no effect; ask the user to check the program and the folder",
            )),
        }
    }

    fn name(&self) -> &str {
        self.name.as_str()
    }

    fn is_repeatable(&self) -> bool {
        self.config.is_read_only || self.config.is_idempotent
    }

    fn outcome(&self, ended: &ProgramEnd) -> ToolOutcome {
        match &ended.exit {
            CommandExit::Exited(status) if status.success() => {
                let text = truncate::truncate_text(&ended.stdout, self.config.max_output_chars);
                ToolOutcome::Done(RawJson::string(&with_cleanup_note(text.into_owned(), ended)))
            }
            CommandExit::Exited(status) => {
                let how = match (status.code(), status.signal()) {
                    (Some(code), _) => format!("ended with exit code {code}"),
                    (None, Some(signal)) => format!("was killed by signal {signal}"),
                    (None, None) => "ended for an unknown reason".to_owned(),
                };
                let hint = "read the output, then correct the input or try another way";
                let failure = self.failure("exit_status", &how, hint, ended);
                ToolOutcome::Failed(match status.code() == Some(TEMPORARY_FAILURE) {
                    true => failure.into_transient(),
                    false => failure,
                })
            }
            // The call is retried, so that its effects are known in the end.
            CommandExit::TimedOut if self.is_repeatable() => {
                ToolOutcome::TimedOut { after_ms: ended.after_ms }
            }
            CommandExit::TimedOut | CommandExit::Stopped => ToolOutcome::Failed(self.failure(
                "timed_out",
                &format!("timed out after {} ms; effects unknown", ended.after_ms),
                "check what it did before you call it again",
                ended,
            )),
        }
    }

    fn failure(&self, code: &str, how: &str, hint: &str, ended: &ProgramEnd) -> ToolError {
        let printed = [ended.stderr.trim_end(), ended.stdout.trim_end()];
        let printed: Vec<&str> = printed.into_iter().filter(|text| !text.is_empty()).collect();
        let printed = printed.join("\n");
        let output = truncate::truncate_text(&printed, MAX_FAILED_OUTPUT_CHARS);
        let message = format!("{} {how}", self.name());
        ToolError::new(code, &message, hint).with_output(&output)
    }

    async fn verify(&self, context: CallContext, input: RawJson) -> ProbeResult {
        let Some((program, arguments)) = &self.config.verify else {
            return ProbeResult::Unknown {};
        };
        let Ok(job) = self.job((program, arguments), &context, &input) else {
            return ProbeResult::Unknown {};
        };
        match self.run_job(job).await {
            Ok(ProgramEnd { exit: CommandExit::Exited(status), stdout, .. }) => match status.code()
            {
                Some(0) => ProbeResult::Happened { text: Arc::from(stdout) },
                Some(1) => ProbeResult::DidNotHappen {},
                Some(_) | None => ProbeResult::Unknown {},
            },
            Ok(_) | Err(_) => ProbeResult::Unknown {},
        }
    }
}

impl Tool for CommandTool {
    fn spec(&self) -> ToolSpec {
        ToolSpec {
            name: Arc::from(self.name()),
            description: Arc::from(self.config.description.as_str()),
            input_schema: RawJson::encode(&self.config.schema),
        }
    }

    fn assess(&self, input: &RawJson) -> CallFacts {
        self.call_facts(input)
    }

    fn run(&self, context: CallContext, input: RawJson) -> BoxFuture<'_, ToolOutcome> {
        Box::pin(self.run_call(context, input))
    }

    fn probe(&self, context: CallContext, input: RawJson) -> BoxFuture<'_, ProbeResult> {
        Box::pin(self.verify(context, input))
    }
}

impl std::fmt::Debug for CommandTool {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("CommandTool").field("name", &self.name).finish_non_exhaustive()
    }
}

fn not_confined(error: &std::io::Error) -> ToolError {
    ToolError::new(
        "not_started",
        &format!("the program could not be confined: {error}"),
        "it had no effect; ask the user to change the rules or the workspace",
    )
}

/// Returns the path of a program: a name is looked up, a path is relative to `root`.
fn find_program(
    program: &str,
    root: &Path,
    environment: &CommandEnvironment,
) -> Result<PathBuf, ToolError> {
    let found = match program.contains('/') {
        true => Some(root.join(program)).filter(|path| path.is_file()),
        false => {
            let path = environment.get("PATH").unwrap_or_default();
            // A relative folder would name another program in every workspace.
            let folders = std::env::split_paths(path).filter(|folder| folder.is_absolute());
            folders.map(|folder| folder.join(program)).find(|path| path.is_file())
        }
    };
    found.ok_or_else(|| {
        ToolError::new(
            "program_missing",
            &format!("the program {program} was not found"),
            "it had no effect; ask the user to install it or to correct the tool's configuration",
        )
    })
}

/// The output with a note about processes that were ended with the program.
fn with_cleanup_note(text: String, ended: &ProgramEnd) -> String {
    match ended.cleanup.found {
        0 if text.is_empty() => "(no output)".to_owned(),
        0 => text,
        found => {
            format!("{}\n[ended processes that the program left running: {found}]", text.trim_end())
        }
    }
}
