//! What was typed after the commands that look back.

use clap::Args;

use crate::args::{AgentArgs, StoreArgs};

/// Which answers of providers are printed.
#[derive(Debug, Args)]
pub(crate) struct RawArgs {
    /// A run or a conversation; a unique beginning of its id is enough
    pub(crate) id: String,
    /// Only this iteration
    #[arg(long, value_name = "N")]
    pub(crate) iter: Option<u32>,
    #[command(flatten)]
    pub(crate) store: StoreArgs,
    /// As JSON, one object a line
    #[arg(long)]
    pub(crate) json: bool,
}

/// What is known of models.
#[derive(Debug, Args)]
pub(crate) struct ModelsArgs {
    /// As JSON, one object a line
    #[arg(long)]
    pub(crate) json: bool,
}

/// Something to look at.
#[derive(Debug, Args)]
pub(crate) struct LookArgs {
    /// A run or a conversation; a unique beginning of its id is enough
    pub(crate) id: String,
    #[command(flatten)]
    pub(crate) store: StoreArgs,
    /// As JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// What to show of the events.
#[derive(Debug, Args)]
pub(crate) struct LogsArgs {
    /// A run or a conversation; the newest conversations if not given
    pub(crate) id: Option<String>,
    /// Go on with what happens from here
    #[arg(long, short)]
    pub(crate) follow: bool,
    /// How many events at most
    #[arg(long, value_name = "N", default_value_t = 200)]
    pub(crate) last: usize,
    #[command(flatten)]
    pub(crate) store: StoreArgs,
    /// As JSON, one object a line
    #[arg(long)]
    pub(crate) json: bool,
}

/// Which runs are counted.
#[derive(Debug, Args)]
pub(crate) struct StatsArgs {
    /// Only runs that ended in the last N days
    #[arg(long, value_name = "N")]
    pub(crate) days: Option<u32>,
    #[command(flatten)]
    pub(crate) store: StoreArgs,
    /// As JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// What is examined.
#[derive(Debug, Args)]
pub(crate) struct DoctorArgs {
    #[command(flatten)]
    pub(crate) store: StoreArgs,
    /// As JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Where a fork begins.
#[derive(Debug, Args)]
pub(crate) struct ForkArgs {
    /// A run or a conversation; a unique beginning of its id is enough
    pub(crate) id: String,
    /// The last entry the two share; the newest if not given
    #[arg(long, value_name = "ENTRY")]
    pub(crate) at: Option<u64>,
    #[command(flatten)]
    pub(crate) store: StoreArgs,
    /// As JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// What is approved.
#[derive(Debug, Args)]
pub(crate) struct ApproveArgs {
    /// A run or a conversation; a unique beginning of its id is enough
    pub(crate) id: String,
    /// Which question; not needed if only one asks for leave
    pub(crate) question: Option<u32>,
    /// Keep the rule the question suggests for the rest of the conversation
    #[arg(long)]
    pub(crate) rule: bool,
    /// Only send the answer; whoever drives the conversation next goes on
    #[arg(long)]
    pub(crate) detach: bool,
    #[command(flatten)]
    pub(crate) agent: AgentArgs,
}

/// What is made smaller.
#[derive(Debug, Args)]
pub(crate) struct CompactArgs {
    /// A run or a conversation; a unique beginning of its id is enough
    pub(crate) id: String,
    /// What the summary must keep
    pub(crate) keep: Option<String>,
    /// Only say what would happen
    #[arg(long)]
    pub(crate) dry_run: bool,
    #[command(flatten)]
    pub(crate) store: StoreArgs,
    /// As JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// For whom completions are written.
#[derive(Debug, Args)]
pub(crate) struct CompletionsArgs {
    /// Which shell
    #[arg(value_enum)]
    pub(crate) shell: clap_complete::Shell,
}

/// Which page is written.
#[derive(Debug, Args)]
pub(crate) struct ManArgs {
    /// The page of one command; of all of them if not given
    pub(crate) command: Option<String>,
}
