//! Command-line arguments (clap). Doc comments here are help texts.

use std::path::PathBuf;

use clap::{Args as ClapArgs, Parser, Subcommand};

use crate::config::claude::settings_sources::SOURCE_NAMES;

mod agents_args;
mod claude_args;
pub(crate) mod inspect_args;
mod limit_args;
mod mcp_args;
mod model_args;
mod output_args;
pub(crate) mod parse_error;
mod plugin_args;
mod prompt_argument;
mod scripted_args;
mod sdk_args;
#[cfg(feature = "server")]
mod serve_args;
mod unknown_flags;
pub(crate) mod values;

pub(crate) use agents_args::{AgentsArgs, AgentsCommand};
pub(crate) use claude_args::{AgentSourceArgs, IgnoredFlags, SessionArgs};
pub(crate) use limit_args::LimitArgs;
pub(crate) use mcp_args::{
    McpAddArgs, McpArgs, McpCommand, McpScopeArg, McpServeArgs, McpTransportArg,
};
pub(crate) use model_args::ModelArgs;
pub(crate) use output_args::OutputArgs;
pub(crate) use plugin_args::{PluginArgs, PluginCommand};
pub(crate) use prompt_argument::command_line_of_process;
pub(crate) use scripted_args::ScriptedArgs;
pub(crate) use sdk_args::SdkArgs;
#[cfg(feature = "server")]
pub(crate) use serve_args::{DashboardArgs, ScopeArg, ServeArgs, TokenArgs, TokenCommand};
pub(crate) use unknown_flags::{ParsedLine, UnknownFlagPolicy, parse_words};
use values::parse_uuid;
pub(crate) use values::{
    AnswerArg, CacheLifetimeArg, EffortArg, LogFormat, OutputFormat, PermissionPromptsArg,
    ResumePolicyArg, SandboxArg, ThinkingArg, ThinkingDisplayArg, WhenAsked, parse_positive,
};

/// A durable agent runtime: it survives crashes, and says why it stopped.
#[derive(Debug, Parser)]
#[command(name = "windlass", version, arg_required_else_help = cfg!(not(feature = "terminal")))]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct CliArgs {
    #[command(subcommand)]
    pub(crate) command: Option<Command>,
    #[command(flatten)]
    pub(crate) print: PrintArgs,
}

/// Runs one prompt and prints what comes of it.
#[derive(Debug, ClapArgs)]
pub(crate) struct PrintArgs {
    /// Run a prompt and print the answer
    #[arg(short = 'p', long = "print")]
    pub(crate) print: bool,
    /// Run this prompt; `-` reads it from standard input [default: read standard input]
    #[arg(value_name = "PROMPT")]
    pub(crate) prompt: Option<String>,
    /// Continue the newest conversation of this folder
    #[arg(short = 'c', long = "continue", conflicts_with_all = ["resume", "session_id"])]
    pub(crate) continue_newest: bool,
    /// Continue this conversation, by a unique beginning or end of its id
    #[arg(short = 'r', long, value_name = "ID", num_args = 0..=1, default_missing_value = "")]
    pub(crate) resume: Option<String>,
    /// Use the conversation with this name; create it if it is new
    #[arg(long, value_name = "NAME", conflicts_with_all = ["resume", "continue_newest", "session_id"])]
    pub(crate) conversation: Option<String>,
    /// Continue in a copy of the conversation that --resume or --continue names
    #[arg(long)]
    pub(crate) fork_session: bool,
    /// Queue the prompt for a worker and print the conversation it belongs to
    #[arg(long)]
    pub(crate) detach: bool,
    /// Give the new conversation this id, a UUID that is not in use
    #[arg(long, value_name = "UUID", value_parser = parse_uuid)]
    pub(crate) session_id: Option<String>,
    #[command(flatten)]
    pub(crate) session: SessionArgs,
    #[command(flatten)]
    pub(crate) ignored: IgnoredFlags,
    #[command(flatten)]
    pub(crate) sdk: SdkArgs,
    #[command(flatten)]
    pub(crate) agent: AgentArgs,
}

/// What drives the conversation.
#[derive(Debug, Clone, ClapArgs)]
pub(crate) struct AgentArgs {
    #[command(flatten)]
    pub(crate) model: ModelArgs,
    #[command(flatten)]
    pub(crate) permissions: PermissionArgs,
    #[command(flatten)]
    pub(crate) prompt: PromptArgs,
    #[command(flatten)]
    pub(crate) agents: AgentSourceArgs,
    #[command(flatten)]
    pub(crate) mcp: McpArgs,
    #[command(flatten)]
    pub(crate) limits: LimitArgs,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
    #[command(flatten)]
    pub(crate) store: StoreArgs,
    /// Send a heartbeat every N milliseconds
    #[arg(long, hide = true, default_value_t = 3_000)]
    pub(crate) beat_ms: u64,
    /// Let another process take over after N milliseconds without a heartbeat
    #[arg(long, hide = true, default_value_t = 10_000)]
    pub(crate) lease_ms: u64,
    /// Run at most N tools at once in this process, in all of its conversations together (1 to 1024)
    #[arg(long, value_name = "N", hide_short_help = true, default_value_t = 64, value_parser = clap::value_parser!(u16).range(1..=1_024))]
    pub(crate) tools_at_once: u16,
    /// Whether tools keep state for later processes.
    #[arg(skip)]
    pub(crate) tool_state: ToolStatePolicy,
}

/// Whether tools keep state for later processes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum ToolStatePolicy {
    /// In the state folder.
    #[default]
    Kept,
    /// In this process only.
    Discarded,
}

impl AgentArgs {
    /// What a run with this profile has, and no settings files.
    pub(crate) fn of_profile(name: &str) -> Self {
        Self {
            model: ModelArgs::default(),
            permissions: PermissionArgs {
                workspace: PathBuf::from("."),
                setting_sources: Some(String::new()),
                ..PermissionArgs::default()
            },
            prompt: PromptArgs::default(),
            agents: AgentSourceArgs::default(),
            mcp: McpArgs { strict_mcp_config: true, ..McpArgs::default() },
            limits: LimitArgs { profile: Some(name.to_owned()), ..LimitArgs::default() },
            output: OutputArgs {
                output_format: OutputFormat::Text,
                json: false,
                verbose: false,
                include_partial_messages: false,
                include_tool_use_summaries: false,
                log: None,
                log_format: LogFormat::Text,
                debug: None,
                debug_file: None,
            },
            store: StoreArgs { store: None },
            beat_ms: 3_000,
            lease_ms: 10_000,
            tools_at_once: 64,
            tool_state: ToolStatePolicy::Kept,
        }
    }
}

/// What may run.
#[derive(Debug, Clone, Default, PartialEq, ClapArgs)]
#[command(next_help_heading = "Permissions")]
pub(crate) struct PermissionArgs {
    /// Allow calls that these rules cover: `Read`, `Bash(npm test:*)`, `Edit(src/**)`
    #[arg(
        long = "allowedTools",
        alias = "allowed-tools",
        visible_alias = "allow",
        value_name = "RULES"
    )]
    pub(crate) allow: Vec<String>,
    /// Deny calls that these rules cover; a deny rule overrides an allow rule
    #[arg(
        long = "disallowedTools",
        alias = "disallowed-tools",
        visible_alias = "deny",
        value_name = "RULES"
    )]
    pub(crate) deny: Vec<String>,
    /// Choose what happens to calls that no rule covers [default: from the settings, else `default`]
    #[arg(long, value_name = "MODE", value_parser = values::permission_mode_values())]
    pub(crate) permission_mode: Option<String>,
    /// Allow everything that no rule denies; same as --permission-mode bypassPermissions
    #[arg(long)]
    pub(crate) dangerously_skip_permissions: bool,
    /// Let the mode be switched to bypassPermissions later
    #[arg(long, hide = true)]
    pub(crate) allow_dangerously_skip_permissions: bool,
    /// Choose whether the program that started this process can be asked for approval
    #[arg(long, value_name = "WHO", value_enum, hide = true)]
    pub(crate) permission_prompts: Option<PermissionPromptsArg>,
    /// Choose what to do when a call needs approval [default: prompt at a terminal, else deny]
    #[arg(long, value_name = "ACTION", value_enum)]
    pub(crate) when_asked: Option<WhenAsked>,
    /// Confine what tools and hooks start [default: from config.toml, else workspace-write]
    #[arg(long, value_name = "LEVEL", value_enum)]
    pub(crate) sandbox: Option<SandboxArg>,
    /// Offer only these tools, separated by commas; `default` for all, empty for none [default: all]
    #[arg(long, value_name = "NAMES")]
    pub(crate) tools: Option<String>,
    /// Let tools work in this folder; with a name, workers that give the same name serve it too
    #[arg(long, value_name = "[NAME=]DIR", default_value = ".")]
    pub(crate) workspace: PathBuf,
    /// Let tools work in this folder too; may be given several times
    #[arg(long = "add-dir", value_name = "DIR")]
    pub(crate) add_dir: Vec<PathBuf>,
    /// Add settings (JSON or a file) that override those of the folder
    #[arg(long, value_name = "JSON|FILE")]
    pub(crate) settings: Option<String>,
    /// Add settings (JSON or a file) that override all others
    #[arg(long, value_name = "JSON|FILE", hide = true)]
    pub(crate) managed_settings: Option<String>,
    #[command(flatten)]
    pub(crate) plugins: PluginArgs,
    /// Read only these settings files: user, project, local; empty for none [default: user,project,local]
    #[arg(long, value_name = "SOURCES")]
    pub(crate) setting_sources: Option<String>,
    /// Treat unknown names in settings as errors rather than warnings
    #[arg(long)]
    pub(crate) strict_settings: bool,
}

impl PermissionArgs {
    /// Whether settings of this source count: `user`, `project` or `local`.
    pub(crate) fn reads_source(&self, source: &str) -> bool {
        let list = self.setting_sources.as_deref();
        list.is_none_or(|list| list.split(',').any(|named| named.trim() == source))
    }

    /// Whether every source that was named exists.
    pub(crate) fn validate_sources(&self) -> anyhow::Result<()> {
        let named = self.setting_sources.as_deref().unwrap_or_default();
        let named = named.split(',').map(str::trim).filter(|named| !named.is_empty());
        match named.into_iter().find(|named| !SOURCE_NAMES.contains(named)) {
            Some(unknown) => anyhow::bail!(
                "unknown settings source `{unknown}`; --setting-sources takes {}, or nothing",
                SOURCE_NAMES.join(", ")
            ),
            None => Ok(()),
        }
    }
}

/// What the model is told.
#[derive(Debug, Clone, Default, PartialEq, ClapArgs)]
#[command(next_help_heading = "Prompting")]
pub(crate) struct PromptArgs {
    /// Replace the system prompt [default: a built-in one]
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    pub(crate) system_prompt: Option<String>,
    /// Replace the system prompt by the text of this file
    #[arg(long, value_name = "FILE", conflicts_with = "system_prompt")]
    pub(crate) system_prompt_file: Option<PathBuf>,
    /// Append this text to the system prompt
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    pub(crate) append_system_prompt: Option<String>,
    /// Append the text of this file to the system prompt
    #[arg(long, value_name = "FILE", conflicts_with = "append_system_prompt")]
    pub(crate) append_system_prompt_file: Option<PathBuf>,
    /// Send prompts that begin with a slash to the model unchanged
    #[arg(long)]
    pub(crate) disable_slash_commands: bool,
    /// Require an answer that matches this JSON schema
    #[arg(long, value_name = "SCHEMA")]
    pub(crate) json_schema: Option<String>,
}

/// Where conversations live.
#[derive(Debug, Clone, ClapArgs)]
#[command(next_help_heading = "Store")]
pub(crate) struct StoreArgs {
    /// Use this SQLite file or postgres:// address [default: $WINDLASS_STORE, else `store` of config.toml, else windlass.db in the state folder]
    #[arg(long, value_name = "FILE|URL")]
    pub(crate) store: Option<PathBuf>,
}

/// What to do instead of running a prompt.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Watch an agent work, crash, recover and explain itself, without a key or network
    Demo(DemoArgs),
    /// Check keys, store, disk, settings and paths, and say what to fix
    Doctor(inspect_args::DoctorArgs),
    /// List runs, newest first
    Runs(inspect_args::RunsArgs),
    /// Print a conversation: prompts, replies, calls, questions, and its state
    Show(inspect_args::InspectArgs),
    /// Explain why a run stopped or what it waits for, and what to do next
    Explain(inspect_args::InspectArgs),
    /// List the iterations of a run: time, reason, calls, tokens, stop
    Trace(inspect_args::InspectArgs),
    /// Print the run journal of a conversation: objective, state, findings, decisions, blockers
    Journal(inspect_args::InspectArgs),
    /// Print the responses of the provider as they arrived
    Raw(inspect_args::RawArgs),
    /// List events and retries, newest last
    Logs(inspect_args::LogsArgs),
    /// List providers and models with windows, prices and keys
    Models(inspect_args::ModelsArgs),
    /// Count how runs ended, and after how many iterations
    Stats(inspect_args::StatsArgs),
    /// Decide every recorded step of a run again and compare, without calling a model or a tool
    Replay(inspect_args::InspectArgs),
    /// Continue a run that was interrupted or stopped at a limit
    Resume {
        /// Select a run or a conversation, by a unique beginning or end of its id [default: the newest
        /// run of this folder]
        conversation: Option<String>,
        /// Queue the run for a worker, and do not wait
        #[arg(long)]
        detach: bool,
        #[command(flatten)]
        agent: Box<AgentArgs>,
    },
    /// Follow a run of any process at this terminal, answer its questions and steer it
    #[cfg(feature = "terminal")]
    Attach {
        /// Select a run or a conversation, by a unique beginning or end of its id [default: the newest
        /// run of this folder]
        conversation: Option<String>,
        #[command(flatten)]
        agent: Box<AgentArgs>,
    },
    /// Answer a question that a run waits for, and continue the run
    Answer {
        /// Select a run or a conversation, by a unique beginning or end of its id
        conversation: String,
        /// Answer the question with this number
        question: u32,
        /// Give this answer
        #[arg(value_enum)]
        answer: AnswerArg,
        /// Add this text to the answer: a reason, a result, an answer
        text: Option<String>,
        /// Send the answer only, and leave the rest to a worker
        #[arg(long)]
        detach: bool,
        #[command(flatten)]
        agent: Box<AgentArgs>,
    },
    /// Approve a call that waits for approval, and continue the run
    Approve(Box<inspect_args::ApproveArgs>),
    /// Cancel a run at the next safe point
    Cancel {
        /// Select a run or a conversation, by a unique beginning or end of its id [default: the newest
        /// run of this folder]
        conversation: Option<String>,
        /// Send the request only, and leave the rest to a worker
        #[arg(long)]
        detach: bool,
        #[command(flatten)]
        agent: Box<AgentArgs>,
    },
    /// Start a new conversation from the history of another
    Fork(inspect_args::ForkArgs),
    /// Take back the last prompt, with what its run has done to the files
    Rewind(Box<inspect_args::RewindArgs>),
    /// Compact the context of a conversation
    Compact(Box<inspect_args::CompactArgs>),
    /// Trust a folder, so that its settings may run commands and allow calls until they change
    Trust {
        /// Trust this folder
        #[arg(default_value = ".")]
        folder: PathBuf,
        /// Stop trusting the folder
        #[arg(long)]
        revoke: bool,
    },
    /// Add, list and remove MCP servers, whose tools the model can call
    #[command(subcommand)]
    Mcp(Box<McpCommand>),
    /// List the sub-agents of this folder, and show what one of them is
    Agents(Box<AgentsArgs>),
    /// Install, list, enable, disable and remove plugins
    #[command(subcommand)]
    Plugin(PluginCommand),
    /// Process queued and interrupted runs until SIGTERM; any number of workers can share a store
    Worker(Box<WorkerArgs>),
    /// Serve the HTTP API, and process the runs of the store until SIGTERM
    #[cfg(feature = "server")]
    Serve(Box<ServeArgs>),
    /// Open the dashboard of a running server in the browser
    #[cfg(feature = "server")]
    Dashboard(DashboardArgs),
    /// Manage the tokens of the API and what tenants may use
    #[cfg(feature = "server")]
    Token(TokenArgs),
    /// Show what confines the commands of a folder, and what they may touch
    #[command(subcommand)]
    Sandbox(inspect_args::SandboxCommand),
    /// Serve an editor over standard input and output with the Agent Client Protocol
    #[cfg(feature = "acp")]
    Acp(Box<AcpArgs>),
    /// Delete a conversation and everything stored for it
    Delete {
        /// Select a run or a conversation, by a unique beginning or end of its id
        conversation: String,
        #[command(flatten)]
        store: StoreArgs,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Serve the scripted model over HTTP with the APIs of Anthropic and OpenAI
    Scripted(ScriptedArgs),
    /// Print completions for a shell
    Completions(inspect_args::CompletionsArgs),
    /// Print the manual page
    Man(inspect_args::ManArgs),
}

/// What stays of the demo.
#[derive(Debug, ClapArgs)]
pub(crate) struct DemoArgs {
    /// Keep the project and its store afterwards
    #[arg(long)]
    pub(crate) keep: bool,
}

/// The flags of `windlass acp`.
#[cfg(feature = "acp")]
#[derive(Debug, ClapArgs)]
pub(crate) struct AcpArgs {
    #[command(flatten)]
    pub(crate) agent: AgentArgs,
}

/// How a worker works.
#[derive(Debug, ClapArgs)]
pub(crate) struct WorkerArgs {
    #[command(flatten)]
    pub(crate) agent: AgentArgs,
    /// Wait N seconds after SIGTERM for running tool calls to finish (0 to 3600)
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u64).range(0..=3_600))]
    pub(crate) grace_seconds: u64,
    /// Choose whether interrupted runs are resumed automatically [default: from the profile of each run]
    #[arg(long, value_name = "POLICY", value_enum)]
    pub(crate) resume: Option<ResumePolicyArg>,
}
