//! Parsers and value enums of options.

use clap::ValueEnum;
use windlass::core::settings::conversation_settings::Effort;

use crate::sdk;

/// Parses a UUID.
pub(super) fn parse_uuid(typed: &str) -> Result<String, String> {
    match uuid::Uuid::parse_str(typed) {
        Ok(_) => Ok(typed.to_owned()),
        Err(_) => Err("not a UUID; to choose a name of your own use --conversation".to_owned()),
    }
}

/// Parses a positive amount of dollars.
pub(crate) fn parse_dollars(typed: &str) -> Result<f64, String> {
    match typed.parse::<f64>() {
        Ok(usd) if usd.is_finite() && usd > 0.0 && usd <= 1e9 => Ok(usd),
        Ok(_) | Err(_) => Err("give a number of dollars above 0, such as 0.50".to_owned()),
    }
}

/// Parses a number of tokens.
pub(crate) fn parse_tokens(typed: &str) -> Result<u64, String> {
    match typed.parse::<u64>() {
        Ok(tokens @ 1..) => Ok(tokens),
        Ok(_) | Err(_) => Err("give a number of tokens above 0".to_owned()),
    }
}

/// Parses a number that must not be 0.
pub(crate) fn parse_positive(typed: &str) -> Result<u32, String> {
    match typed.parse::<u32>() {
        Ok(number @ 1..) => Ok(number),
        Ok(_) | Err(_) => Err("give a whole number above 0".to_owned()),
    }
}

/// The largest number of rounds that a run can have.
const MAX_TURNS: u32 = 10_000;

/// Parses the number of rounds. Programs of the SDKs write 0 for no limit.
pub(crate) fn parse_turns(typed: &str) -> Result<u32, String> {
    match typed.parse::<u32>() {
        Ok(0) if sdk::is_sdk_host() => Ok(MAX_TURNS),
        Ok(_) | Err(_) => parse_positive(typed),
    }
}

/// How the log is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum LogFormat {
    /// Print one line for each event.
    Text,
    /// Print one JSON object a line.
    Json,
}

/// How a result is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum OutputFormat {
    /// Print the answer as text.
    Text,
    /// Print one JSON object at the end.
    Json,
    /// Print one JSON object a line for everything that happens.
    StreamJson,
}

/// What to do when a call needs approval.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum WhenAsked {
    /// Ask the person at the terminal.
    Prompt,
    /// Let the run wait until it is answered with `windlass answer` or `windlass approve`.
    Park,
    /// Deny the call.
    Deny,
}

/// How long a provider keeps the prompt in its cache.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum CacheLifetimeArg {
    /// Do not cache.
    Off,
    /// Keep it for five minutes.
    #[value(name = "5m")]
    FiveMinutes,
    /// Keep it for an hour, at a higher price.
    #[value(name = "1h")]
    OneHour,
}

/// How much effort a model puts into its answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum EffortArg {
    /// Answer fast, with little thinking.
    Low,
    /// Balance speed and quality.
    Medium,
    /// Think thoroughly.
    High,
    /// Think longer than high, where the model can.
    Xhigh,
    /// Think without a limit, where the model can.
    Max,
}

impl From<Effort> for EffortArg {
    fn from(effort: Effort) -> Self {
        match effort {
            Effort::Low => Self::Low,
            Effort::Medium => Self::Medium,
            Effort::High => Self::High,
            Effort::Xhigh => Self::Xhigh,
            Effort::Max => Self::Max,
        }
    }
}

/// Whether the model thinks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ThinkingArg {
    /// Let the model decide.
    #[value(alias = "enabled")]
    Adaptive,
    /// Switch thinking off.
    Disabled,
}

/// How much of the thinking a provider sends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ThinkingDisplayArg {
    /// Send a summary.
    Summarized,
    /// Send nothing of it.
    Omitted,
    /// Send the important parts.
    Highlights,
}

/// Who is asked for approval.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum PermissionPromptsArg {
    /// Ask the program that started this process.
    Host,
    /// Ask no one: deny what needs approval.
    None,
}

/// What to do with interrupted runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ResumePolicyArg {
    /// Resume them at once.
    Automatic,
    /// Leave them for `windlass resume`.
    Manual,
}

/// An answer as it is typed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum AnswerArg {
    /// Allow the call, or accept the plan.
    Allow,
    /// Deny the call, or send the plan back.
    Deny,
    /// Run the call again: it did not happen.
    Retry,
    /// Mark the call as done: it happened.
    MarkDone,
    /// Abandon the call, or end the run.
    Abandon,
    /// Continue the run; for a plan: accept edits too.
    Continue,
    /// Answer with the text that follows.
    Text,
}

/// How much commands and hooks are confined.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum SandboxArg {
    /// They write nothing but temporary files, and have no network.
    ReadOnly,
    /// They write in the workspace too, except what decides what runs later.
    WorkspaceWrite,
    /// They have the rights of this process.
    Off,
}

/// The permission modes as they are typed, in the order of what they allow.
pub(super) fn permission_mode_values() -> clap::builder::PossibleValuesParser {
    let modes = [
        ("default", "Ask for everything but reads in the workspace"),
        ("acceptEdits", "Also allow file edits in the workspace, mkdir, touch, mv and cp"),
        ("plan", "Allow reads only, and end with a plan"),
        ("plan:none", "Allow no tool at all"),
        ("dontAsk", "Deny what no rule allows, without asking"),
        ("auto", "Let a classifier model decide"),
        ("bypassPermissions", "Allow everything that no rule denies"),
        ("manual", "Ask like default"),
    ];
    modes.map(|(name, help)| clap::builder::PossibleValue::new(name).help(help)).into()
}
