//! What was typed after the commands that look back.

use clap::Args;

use crate::args::{AgentArgs, StoreArgs};

/// Which answers of providers are printed.
#[derive(Debug, Args)]
pub(crate) struct RawArgs {
    /// A run or a conversation, by a unique beginning or end of its id; the newest run of this
    /// folder if not given
    pub(crate) id: Option<String>,
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
    /// A run or a conversation, by a unique beginning or end of its id; the newest run of this
    /// folder if not given
    pub(crate) id: Option<String>,
    #[command(flatten)]
    pub(crate) store: StoreArgs,
    /// As JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Which runs are listed.
#[derive(Debug, Args)]
pub(crate) struct RunsArgs {
    /// Only runs with this text in their prompt, answer, folder, conversation or id
    pub(crate) text: Option<String>,
    /// List at most N runs
    #[arg(long, short = 'n', value_name = "N", default_value_t = 50,
        value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) limit: u32,
    /// Only runs that wait for an answer
    #[arg(long)]
    pub(crate) waiting: bool,
    /// Only runs that failed, timed out or were interrupted
    #[arg(long)]
    pub(crate) failed: bool,
    /// Only runs of this folder
    #[arg(long)]
    pub(crate) here: bool,
    /// Only runs of this agent
    #[arg(long, value_name = "NAME")]
    pub(crate) agent: Option<String>,
    /// Only runs that changed in this time: `30min`, `2h`, `3d`, `1w`
    #[arg(long, value_name = "TIME", value_parser = super::age::parse)]
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
    /// A run or a conversation, by a unique beginning or end of its id; the newest run of this
    /// folder if not given
    pub(crate) id: Option<String>,
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
    /// A run or a conversation, by a unique beginning or end of its id; the newest run of this
    /// folder if not given
    pub(crate) id: Option<String>,
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
    /// A run or a conversation, by a unique beginning or end of its id; the newest run of this
    /// folder if not given
    pub(crate) id: Option<String>,
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
