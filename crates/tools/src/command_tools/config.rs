//! The table of a command tool, read strictly: a misspelled key is an error, and so is a placeholder
//! that the input does not have.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde_json::Value;

use super::argument_template::{ArgumentTemplate, IDEMPOTENCY_KEY};
use super::input_spec;
use crate::conversation_tools::JournalTool;
use crate::limits::{DEFAULT_TIMEOUT_MS, MAX_COMMAND_TOOL_TIMEOUT_MS, MAX_PROGRAM_OUTPUT_CHARS};
use crate::standard_tools::standard_tool_names;

/// The longest name of a tool that providers accept.
const MAX_NAME_CHARS: usize = 64;

/// The longest description.
const MAX_DESCRIPTION_CHARS: usize = 4_000;

/// The largest number of arguments of a program.
const MAX_ARGUMENTS: usize = 256;

/// The name of a command tool.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(try_from = "String")]
pub struct CommandToolName(String);

impl CommandToolName {
    /// Returns the name as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl TryFrom<String> for CommandToolName {
    type Error = String;

    fn try_from(name: String) -> Result<Self, String> {
        let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
        let is_name = name.starts_with(|c: char| c.is_ascii_alphabetic()) && name.chars().all(fits);
        if !is_name || name.len() > MAX_NAME_CHARS {
            return Err(format!(
                "`{name}` is not a name for a tool; use at most {MAX_NAME_CHARS} letters, digits, _ \
                 and -, and begin with a letter"
            ));
        }
        if name.starts_with("mcp__") {
            return Err(format!("`{name}` begins like a tool of an MCP server; use another name"));
        }
        if is_built_in(&name) {
            return Err(format!("`{name}` is a built-in tool; use another name"));
        }
        Ok(Self(name))
    }
}

/// Names of built-in tools that are not among the standard ones, and names that mean several.
const OTHER_BUILT_IN_NAMES: [&str; 12] = [
    "Agent",
    "ExitPlanMode",
    "Journal",
    "Skill",
    "StructuredOutput",
    "Task",
    "ToolSearch",
    "WebFetch",
    "WebSearch",
    "ask_human",
    "default",
    "spawn_child_runs",
];

/// Returns whether a tool of this name is built in, now or as a name of old.
fn is_built_in(name: &str) -> bool {
    let journal = JournalTool::all().into_iter().map(JournalTool::name);
    let mut known = standard_tool_names().chain(OTHER_BUILT_IN_NAMES).chain(journal);
    known.any(|known| known.eq_ignore_ascii_case(name))
}

/// How a program gets the input of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ProgramInput {
    /// As one JSON object on its standard input.
    Json,
    /// Only in its arguments; its standard input is empty.
    None,
}

/// A command tool as it is configured.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(try_from = "CommandToolTable")]
pub struct CommandToolConfig {
    pub(super) description: String,
    /// The program, as it is written: a name to look up, or a path.
    pub(super) program: String,
    pub(super) arguments: Vec<ArgumentTemplate>,
    pub(super) input: ProgramInput,
    pub(super) schema: Value,
    pub(super) is_read_only: bool,
    pub(super) is_idempotent: bool,
    pub(super) touches: Vec<ArgumentTemplate>,
    pub(super) timeout_ms: u64,
    pub(super) max_output_chars: u64,
    /// The program that finds out whether an interrupted call took effect, with its arguments.
    pub(super) verify: Option<(String, Vec<ArgumentTemplate>)>,
    pub(super) env: BTreeMap<String, String>,
    pub(super) pass_env: Vec<String>,
    pub(super) folder: Option<PathBuf>,
}

/// The keys of the table.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct CommandToolTable {
    /// What the tool does and when to use it, for the model.
    description: String,
    /// The program and its arguments.
    argv: Vec<String>,
    /// The values of a call, by name: types or schemas.
    #[serde(default)]
    input: Option<BTreeMap<String, Value>>,
    /// The JSON Schema of the input, instead of `input`.
    #[serde(default)]
    schema: Option<Value>,
    /// How the program gets the input.
    #[serde(default)]
    stdin: Option<ProgramInput>,
    /// Whether the tool changes nothing.
    #[serde(default)]
    read_only: bool,
    /// Whether a repeated call does no harm.
    #[serde(default)]
    idempotent: bool,
    /// What a call touches: files, or other things as `service:shop`.
    #[serde(default)]
    touches: Vec<String>,
    /// How long a call may take.
    #[serde(default)]
    timeout_ms: Option<u64>,
    /// How much of the output the model sees.
    #[serde(default)]
    max_output_chars: Option<u64>,
    /// Finds out whether an interrupted call took effect.
    #[serde(default)]
    verify: Option<Vec<String>>,
    /// Environment variables of the program.
    #[serde(default)]
    env: BTreeMap<String, String>,
    /// Variables of this process that the program gets, too.
    #[serde(default)]
    pass_env: Vec<String>,
    /// The working folder; the workspace if not given.
    #[serde(default)]
    folder: Option<PathBuf>,
}

impl TryFrom<CommandToolTable> for CommandToolConfig {
    type Error = String;

    fn try_from(table: CommandToolTable) -> Result<Self, String> {
        check_description(&table.description)?;
        let schema = schema_of(table.input, table.schema)?;
        let names = input_spec::property_names(&schema);
        let (program, arguments) = command_line("argv", &table.argv, &names)?;
        let verify = table.verify.as_deref().map(|words| command_line("verify", words, &names));
        let verify = verify.transpose()?;
        let touches = templates("touches", &table.touches, &names)?;
        if verify.is_some() && (table.read_only || table.idempotent) {
            let what = "a call that may be repeated is repeated after a crash";
            return Err(format!("`verify` has no effect here: {what}; remove it"));
        }
        let uses_values = arguments.iter().any(|one| one.placeholders().next().is_some());
        let usual = if uses_values { ProgramInput::None } else { ProgramInput::Json };
        check_variables(&table.env, &table.pass_env)?;
        Ok(Self {
            description: table.description,
            program,
            arguments,
            input: table.stdin.unwrap_or(usual),
            schema,
            is_read_only: table.read_only,
            is_idempotent: table.idempotent,
            touches,
            timeout_ms: checked_timeout(table.timeout_ms)?,
            max_output_chars: table.max_output_chars.unwrap_or(MAX_PROGRAM_OUTPUT_CHARS),
            verify,
            env: table.env,
            pass_env: table.pass_env,
            folder: table.folder,
        })
    }
}

impl CommandToolConfig {
    /// Resolves relative programs against `folder`: that of the file that the tool is defined in.
    #[must_use]
    pub fn with_programs_beside(mut self, folder: &Path) -> Self {
        let resolve = |program: &mut String| {
            if program.starts_with("./") || program.starts_with("../") {
                *program = folder.join(&program).to_string_lossy().into_owned();
            }
        };
        resolve(&mut self.program);
        self.verify.iter_mut().for_each(|(program, _)| resolve(program));
        self
    }

    /// Returns the commands that the tool runs, as a shell would read them, with placeholders.
    #[must_use]
    pub fn command_lines(&self) -> Vec<String> {
        let own = std::iter::once((&self.program, &self.arguments));
        let verify = self.verify.iter().map(|(program, arguments)| (program, arguments));
        let line = |(program, arguments): (&String, &Vec<ArgumentTemplate>)| {
            let words = arguments.iter().map(ToString::to_string);
            let words = std::iter::once(program.clone()).chain(words);
            words.map(|word| quoted(&word)).collect::<Vec<_>>().join(" ")
        };
        own.chain(verify).map(line).collect()
    }
}

/// A word as a shell would need it, for people.
pub(super) fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || "-_./=:,+@%{}".contains(c);
    match !word.is_empty() && word.chars().all(is_plain) {
        true => word.to_owned(),
        false => format!("'{}'", word.replace('\'', "'\\''")),
    }
}

fn check_description(description: &str) -> Result<(), String> {
    match description.chars().count() {
        0 => Err("`description` is empty; say what the tool does and when to use it".to_owned()),
        long if long > MAX_DESCRIPTION_CHARS => Err(format!(
            "`description` has {long} characters; the limit is {MAX_DESCRIPTION_CHARS}"
        )),
        _ => Ok(()),
    }
}

fn schema_of(
    types: Option<BTreeMap<String, Value>>,
    schema: Option<Value>,
) -> Result<Value, String> {
    match (types, schema) {
        (Some(_), Some(_)) => Err("there are `input` and `schema`; keep one of them".to_owned()),
        (types, None) => input_spec::schema_of_types(&types.unwrap_or_default()),
        (None, Some(schema)) => input_spec::check_whole_schema(&schema).map(|()| schema),
    }
}

fn command_line(
    key: &str,
    words: &[String],
    names: &[&str],
) -> Result<(String, Vec<ArgumentTemplate>), String> {
    let Some((program, arguments)) = words.split_first() else {
        return Err(format!("`{key}` is empty; it begins with the program"));
    };
    if words.len() > MAX_ARGUMENTS {
        return Err(format!("`{key}` has {} words; the limit is {MAX_ARGUMENTS}", words.len()));
    }
    if program.is_empty() || program.starts_with('-') || program.contains(['{', '\0']) {
        return Err(format!("`{key}` must begin with a program, not with `{program}`"));
    }
    Ok((program.clone(), templates(key, arguments, names)?))
}

fn templates(key: &str, texts: &[String], names: &[&str]) -> Result<Vec<ArgumentTemplate>, String> {
    let mut parsed = Vec::new();
    for text in texts {
        if text.contains('\0') {
            return Err(format!("`{key}` contains a NUL byte"));
        }
        let template =
            ArgumentTemplate::parse(text).map_err(|problem| format!("in `{key}`: {problem}"))?;
        let unknown = template
            .placeholders()
            .find(|name| *name != IDEMPOTENCY_KEY && !names.contains(name))
            .map(str::to_owned);
        if let Some(name) = unknown {
            let known = names.join(", ");
            return Err(format!(
                "`{key}` uses {{{name}}}, which the input does not have; it has: {known}"
            ));
        }
        parsed.push(template);
    }
    Ok(parsed)
}

fn checked_timeout(timeout_ms: Option<u64>) -> Result<u64, String> {
    match timeout_ms.unwrap_or(DEFAULT_TIMEOUT_MS) {
        fits @ 1..=MAX_COMMAND_TOOL_TIMEOUT_MS => Ok(fits),
        _ => Err(format!("`timeout_ms` must be between 1 and {MAX_COMMAND_TOOL_TIMEOUT_MS}")),
    }
}

fn check_variables(env: &BTreeMap<String, String>, passed: &[String]) -> Result<(), String> {
    let is_wrong = |name: &&String| name.is_empty() || name.contains(['=', '\0']);
    match env.keys().chain(passed).find(is_wrong) {
        Some(name) => Err(format!("`{name}` is not a name for an environment variable")),
        None => Ok(()),
    }
}
