//! Options for programs that drive this process through the SDK channel: those that the Agent SDKs
//! pass, under the names they pass them by.

use clap::{Args as ClapArgs, ValueEnum};

use super::values::parse_uuid;

/// How a program drives this process.
#[derive(Debug, Clone, Default, PartialEq, ClapArgs)]
#[command(next_help_heading = "SDK channel")]
pub(crate) struct SdkArgs {
    /// Choose how prompts are read from standard input; stream-json is the channel of the Agent SDKs
    #[arg(long, value_name = "FORMAT", value_enum, default_value_t)]
    pub(crate) input_format: InputFormat,
    /// Ask for approval through this: `stdio` for the program at the other end of the channel, or the
    /// name of an MCP tool
    #[arg(long, value_name = "TOOL")]
    pub(crate) permission_prompt_tool: Option<String>,
    /// Write messages about hooks that are commands (with stream-json)
    #[arg(long, hide_short_help = true)]
    pub(crate) include_hook_events: bool,
    /// Write every prompt back when its turn starts, with its id (with stream-json)
    #[arg(long, hide_short_help = true)]
    pub(crate) replay_user_messages: bool,
    /// Write what sub-agents say too, not only what they do
    #[arg(long, hide_short_help = true)]
    pub(crate) forward_subagent_text: bool,
    /// Write the entries of transcripts too, for a session store of the program
    #[arg(long, hide_short_help = true)]
    pub(crate) session_mirror: bool,
    /// Continue the conversation of --resume after this message; later ones are dropped
    #[arg(long, value_name = "UUID", value_parser = parse_uuid, requires = "resume", hide_short_help = true)]
    pub(crate) resume_session_at: Option<String>,
    /// Refuse --resume-session-at unless it drops the turn of this prompt first
    #[arg(long, value_name = "UUID", value_parser = parse_uuid, requires = "resume_session_at", hide_short_help = true)]
    pub(crate) resume_drops_turn: Option<String>,
    /// Require that the first line on standard input is the initialize request
    #[arg(long, hide_short_help = true)]
    pub(crate) await_initialize: bool,
    /// Read the settings of an administrator from the initialize request
    #[arg(long, hide = true)]
    pub(crate) managed_settings_in_initialize: bool,
}

/// How prompts are read.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum InputFormat {
    /// Read one prompt as text.
    #[default]
    Text,
    /// Read prompts and control messages, one JSON object a line.
    StreamJson,
}

impl SdkArgs {
    /// Whether a program drives this process through standard input and output.
    pub(crate) fn is_channel(&self) -> bool {
        self.input_format == InputFormat::StreamJson
    }
}
