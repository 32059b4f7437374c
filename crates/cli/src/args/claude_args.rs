//! Flags of `claude` that the Agent SDKs pass and that need no control channel: agents, what a
//! conversation leaves on disk, and flags that are accepted without effect.

use clap::{Arg, ArgAction, ArgMatches, Args, Command, FromArgMatches};

use crate::config::claude::agent_spec::AgentSpec;

/// Which agents there are, and which files configure them.
#[derive(Debug, Clone, Default, PartialEq, Args)]
#[command(next_help_heading = "Agents")]
pub(crate) struct AgentSourceArgs {
    /// Add sub-agents: a JSON object with a definition for each name
    #[arg(long, value_name = "JSON")]
    pub(crate) agents: Option<String>,
    /// Run the conversation itself as this agent, with its prompt, tools and model
    #[arg(long, value_name = "NAME")]
    pub(crate) agent: Option<String>,
    /// Read no settings, agents, commands, output styles and memory files; only flags count
    #[arg(long, alias = "safe-mode")]
    pub(crate) bare: bool,
    /// The parsed definitions of `--agents`, or those that a program sent.
    #[arg(skip)]
    pub(crate) given: Vec<AgentSpec>,
    /// The skills that a program wants to be offered; all if not given.
    #[arg(skip)]
    pub(crate) skills: Option<Vec<String>>,
}

/// What a conversation leaves behind, and how its prompts are read.
#[derive(Debug, Clone, Default, PartialEq, Args)]
pub(crate) struct SessionArgs {
    /// Store nothing: the conversation ends with this process and cannot be continued
    #[arg(long, conflicts_with_all = ["resume", "continue_newest", "conversation", "fork_session", "detach"])]
    pub(crate) no_session_persistence: bool,
    /// Give the conversation this title
    #[arg(short = 'n', long, value_name = "TITLE", hide = true)]
    pub(crate) name: Option<String>,
}

/// Whether a flag has a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum FlagValue {
    /// It has none.
    None,
    /// It may have one behind an equals sign.
    Optional,
    /// It has one.
    Required,
}

/// Flags of `claude` for features that Windlass does not have. Programs pass them, and lose nothing
/// that they could observe.
const IGNORED_FLAGS: [(&str, FlagValue); 9] = [
    ("autocompact", FlagValue::Optional),
    ("channels", FlagValue::Required),
    ("chrome", FlagValue::None),
    ("exclude-dynamic-system-prompt-sections", FlagValue::None),
    ("ide", FlagValue::None),
    ("no-chrome", FlagValue::None),
    ("project-config-root", FlagValue::Required),
    ("prompt-suggestions", FlagValue::Optional),
    ("system-prompt-snapshot", FlagValue::Required),
];

/// Flags that are accepted without effect.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct IgnoredFlags;

impl FromArgMatches for IgnoredFlags {
    fn from_arg_matches(_matches: &ArgMatches) -> Result<Self, clap::Error> {
        Ok(Self)
    }

    fn update_from_arg_matches(&mut self, _matches: &ArgMatches) -> Result<(), clap::Error> {
        Ok(())
    }
}

impl Args for IgnoredFlags {
    fn augment_args(command: Command) -> Command {
        command.args(IGNORED_FLAGS.into_iter().map(|(name, value)| hidden_flag(name, value)))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

fn hidden_flag(name: &'static str, value: FlagValue) -> Arg {
    let flag = Arg::new(name).long(name).hide(true);
    match value {
        FlagValue::None => flag.action(ArgAction::SetTrue),
        FlagValue::Optional => flag
            .action(ArgAction::Append)
            .num_args(0..=1)
            .require_equals(true)
            .default_missing_value(""),
        FlagValue::Required => flag.action(ArgAction::Append).allow_hyphen_values(true),
    }
}
