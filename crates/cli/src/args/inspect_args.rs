//! Arguments of inspect commands (clap). Doc comments here are help texts.

use clap::{Args, Subcommand};

use crate::args::{AgentArgs, PermissionArgs, StoreArgs};

/// Which answers of providers are printed.
#[derive(Debug, Args)]
pub(crate) struct RawArgs {
    /// Select a run or a conversation, by a unique beginning or end of its id [default: the newest
    /// run of this folder]
    pub(crate) id: Option<String>,
    /// Print this iteration only [default: all]
    #[arg(long, value_name = "N")]
    pub(crate) iter: Option<u32>,
    #[command(flatten)]
    pub(crate) store: StoreArgs,
    /// Print JSON, one object per line
    #[arg(long)]
    pub(crate) json: bool,
}

/// What is known of models.
#[derive(Debug, Args)]
pub(crate) struct ModelsArgs {
    /// Print JSON, one object per line
    #[arg(long)]
    pub(crate) json: bool,
}

/// Something to look at.
#[derive(Debug, Args)]
pub(crate) struct InspectArgs {
    /// Select a run or a conversation, by a unique beginning or end of its id [default: the newest
    /// run of this folder]
    pub(crate) id: Option<String>,
    #[command(flatten)]
    pub(crate) store: StoreArgs,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Which runs are listed.
#[derive(Debug, Args)]
pub(crate) struct RunsArgs {
    /// List only runs with this text in their prompt, answer, folder, conversation or id
    pub(crate) text: Option<String>,
    /// List at most N runs
    #[arg(long, short = 'n', value_name = "N", default_value_t = 50,
        value_parser = crate::args::parse_positive)]
    pub(crate) limit: u32,
    /// List only runs that wait for an answer
    #[arg(long)]
    pub(crate) waiting: bool,
    /// List only runs that failed, timed out or were interrupted
    #[arg(long)]
    pub(crate) failed: bool,
    /// List only runs of this folder
    #[arg(long)]
    pub(crate) here: bool,
    /// List only runs of this agent [default: all agents]
    #[arg(long, value_name = "NAME")]
    pub(crate) agent: Option<String>,
    /// List only runs that changed in this time: `30min`, `2h`, `3d`, `1w` [default: any time]
    #[arg(long, value_name = "TIME", value_parser = crate::terminal::age::parse_duration_ms)]
    pub(crate) since: Option<u64>,
    #[command(flatten)]
    pub(crate) store: StoreArgs,
    /// Print JSON, one object per line
    #[arg(long)]
    pub(crate) json: bool,
}

/// What to show of the events.
#[derive(Debug, Args)]
pub(crate) struct LogsArgs {
    /// Select a run or a conversation [default: the newest conversations]
    pub(crate) id: Option<String>,
    /// Print new events as they happen
    #[arg(long, short)]
    pub(crate) follow: bool,
    /// Print at most N events
    #[arg(long, value_name = "N", default_value_t = 200)]
    pub(crate) last: usize,
    #[command(flatten)]
    pub(crate) store: StoreArgs,
    /// Print JSON, one object per line
    #[arg(long)]
    pub(crate) json: bool,
}

/// Which runs are counted.
#[derive(Debug, Args)]
pub(crate) struct StatsArgs {
    /// Count only runs that ended in the last N days [default: all]
    #[arg(long, value_name = "N")]
    pub(crate) days: Option<u32>,
    #[command(flatten)]
    pub(crate) store: StoreArgs,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// What is examined.
#[derive(Debug, Args)]
pub(crate) struct DoctorArgs {
    #[command(flatten)]
    pub(crate) store: StoreArgs,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Where a fork begins.
#[derive(Debug, Args)]
pub(crate) struct ForkArgs {
    /// Select a run or a conversation, by a unique beginning or end of its id [default: the newest
    /// run of this folder]
    pub(crate) id: Option<String>,
    /// Share the history up to this entry [default: the newest]
    #[arg(long, value_name = "ENTRY")]
    pub(crate) at: Option<u64>,
    #[command(flatten)]
    pub(crate) store: StoreArgs,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// What is approved.
#[derive(Debug, Args)]
pub(crate) struct ApproveArgs {
    /// Select a run or a conversation, by a unique beginning or end of its id [default: the newest
    /// run of this folder]
    pub(crate) id: Option<String>,
    /// Approve the question with this number [default: the only one that waits]
    pub(crate) question: Option<u32>,
    /// Also allow the rule that the question suggests, for the rest of the conversation
    #[arg(long)]
    pub(crate) rule: bool,
    /// Send the answer only, and leave the rest to a worker
    #[arg(long)]
    pub(crate) detach: bool,
    #[command(flatten)]
    pub(crate) agent: AgentArgs,
}

/// What is taken back.
#[derive(Debug, Args)]
pub(crate) struct RewindArgs {
    /// Select a conversation, or a run to take back, by a unique beginning or end of its id [default:
    /// the newest run of this folder]
    pub(crate) id: Option<String>,
    /// Take back this prompt and what follows it, or go back to this message
    #[arg(long, value_name = "MESSAGE")]
    pub(crate) to: Option<String>,
    /// Bring back the files only
    #[arg(long, conflicts_with = "conversation")]
    pub(crate) files: bool,
    /// Shorten the conversation only
    #[arg(long)]
    pub(crate) conversation: bool,
    /// Overwrite files that something else has changed since
    #[arg(long, conflicts_with = "conversation")]
    pub(crate) force: bool,
    /// Print what would happen, and change nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
    #[command(flatten)]
    pub(crate) agent: AgentArgs,
}

impl RewindArgs {
    /// Returns whether files are brought back.
    pub(crate) fn rewinds_files(&self) -> bool {
        !self.conversation
    }

    /// Returns whether the conversation is shortened.
    pub(crate) fn rewinds_conversation(&self) -> bool {
        !self.files
    }
}

/// What is made smaller.
#[derive(Debug, Args)]
pub(crate) struct CompactArgs {
    /// Select a run or a conversation, by a unique beginning or end of its id [default: the newest
    /// run of this folder]
    pub(crate) id: Option<String>,
    /// Tell the summary what to keep
    pub(crate) keep: Option<String>,
    /// Print what would happen, and change nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Send the request only: the context is compacted before the next model call
    #[arg(long)]
    pub(crate) detach: bool,
    #[command(flatten)]
    pub(crate) agent: AgentArgs,
}

/// For whom completions are written.
#[derive(Debug, Args)]
pub(crate) struct CompletionsArgs {
    /// Print completions for this shell
    #[arg(value_enum)]
    pub(crate) shell: clap_complete::Shell,
}

/// Which page is written.
#[derive(Debug, Args)]
pub(crate) struct ManArgs {
    /// Print the page of this command [default: the page of windlass]
    pub(crate) command: Option<String>,
}

/// What is shown of the sandbox.
#[derive(Debug, Subcommand)]
pub(crate) enum SandboxCommand {
    /// Print the level, what it is reached with on this machine, and the paths of the policy
    Explain(Box<SandboxExplainArgs>),
}

/// For which command the sandbox is explained.
#[derive(Debug, Args)]
pub(crate) struct SandboxExplainArgs {
    #[command(flatten)]
    pub(crate) permissions: PermissionArgs,
    #[command(flatten)]
    pub(crate) store: StoreArgs,
    /// Explain it for this command
    #[arg(last = true, value_name = "COMMAND")]
    pub(crate) command: Vec<String>,
}
