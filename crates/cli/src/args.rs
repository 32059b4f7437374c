//! What was typed.

use std::path::PathBuf;

use clap::{Args as ClapArgs, Parser, Subcommand, ValueEnum};

use crate::look::args as look;

/// An agent runtime in which every turn either clicks forward, durably, or stops and says why.
#[derive(Debug, Parser)]
#[command(name = "windlass", version, arg_required_else_help = true)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct Args {
    #[command(subcommand)]
    pub(crate) command: Option<Command>,
    #[command(flatten)]
    pub(crate) print: Print,
}

/// Runs one prompt and prints what comes of it.
#[derive(Debug, ClapArgs)]
pub(crate) struct Print {
    /// The prompt; the answer goes to standard output
    #[arg(short = 'p', long = "print", value_name = "PROMPT")]
    pub(crate) prompt: Option<String>,
    /// The conversation to go on with; a new one if not given
    #[arg(long, value_name = "ID")]
    pub(crate) conversation: Option<String>,
    #[command(flatten)]
    pub(crate) agent: AgentArgs,
}

/// What drives the conversation.
#[derive(Debug, Clone, ClapArgs)]
pub(crate) struct AgentArgs {
    /// The script the offline model answers from
    #[arg(long, value_name = "FILE")]
    pub(crate) script: Option<PathBuf>,
    /// Lets a tool run without asking; may be given several times
    #[arg(long = "allow", value_name = "TOOL")]
    pub(crate) allow: Vec<String>,
    /// Never runs a tool; may be given several times
    #[arg(long = "deny", value_name = "TOOL")]
    pub(crate) deny: Vec<String>,
    /// The folder tools work in
    #[arg(long, value_name = "DIR", default_value = ".")]
    pub(crate) workspace: PathBuf,
    /// Rounds with tool calls before the run is stopped
    #[arg(long, value_name = "N")]
    pub(crate) max_turns: Option<u32>,
    /// How the result is printed
    #[arg(long, value_enum, default_value_t = OutputFormat::Text)]
    pub(crate) output_format: OutputFormat,
    #[command(flatten)]
    pub(crate) store: StoreArgs,
    /// Milliseconds between two signs of life
    #[arg(long, hide = true, default_value_t = 3_000)]
    pub(crate) beat_ms: u64,
    /// Milliseconds of silence after which another process may go on
    #[arg(long, hide = true, default_value_t = 10_000)]
    pub(crate) lease_ms: u64,
}

/// Where conversations live.
#[derive(Debug, Clone, ClapArgs)]
pub(crate) struct StoreArgs {
    /// The SQLite file; by default in $WINDLASS_HOME or the XDG state folder
    #[arg(long, value_name = "FILE")]
    pub(crate) store: Option<PathBuf>,
}

/// How a result is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum OutputFormat {
    /// The text, live.
    Text,
    /// One JSON object at the end.
    Json,
}

/// What to do instead of running a prompt.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Go on with a conversation that was left in the middle
    Resume {
        /// Which conversation
        conversation: String,
        #[command(flatten)]
        agent: AgentArgs,
    },
    /// Answer a question a conversation waits for, and go on with it
    Answer {
        /// Which conversation
        conversation: String,
        /// Which question
        question: u32,
        /// The answer
        #[arg(value_enum)]
        answer: AnswerWord,
        /// Words that go with it: a reason, a result, an answer
        text: Option<String>,
        #[command(flatten)]
        agent: AgentArgs,
    },
    /// Ask the active run of a conversation to end at the next safe boundary
    Cancel {
        /// Which conversation
        conversation: String,
        #[command(flatten)]
        store: StoreArgs,
    },
    /// List runs, newest first
    Runs {
        #[command(flatten)]
        store: StoreArgs,
        /// As JSON, one object a line
        #[arg(long)]
        json: bool,
    },
    /// Decide every recorded step again and compare: no model, no tools, no money
    Replay {
        /// Which conversation
        conversation: String,
        #[command(flatten)]
        store: StoreArgs,
    },
    /// Read a conversation: prompts, replies, calls, questions, and how it stands
    Show(look::LookArgs),
    /// List the iterations of a run: time, reason, calls, tokens, stop
    Trace(look::LookArgs),
    /// Say why a run stopped or waits, what had a part in it, and what to do next
    Explain(look::LookArgs),
    /// List events and retries, newest last
    Logs(look::LogsArgs),
    /// Count how runs end: at the cap, unexpectedly, and after how many iterations
    Stats(look::StatsArgs),
    /// Check keys, store, disk, leftovers and paths; each line says what to do
    Doctor(look::DoctorArgs),
    /// Begin a new conversation that shares the history of another
    Fork(look::ForkArgs),
    /// Let a call run that waits for your leave, and go on
    Approve(look::ApproveArgs),
    /// Make room in the context of a conversation before its next model call
    Compact(look::CompactArgs),
    /// Write completions for a shell
    Completions(look::CompletionsArgs),
    /// Write the manual page
    Man(look::ManArgs),
    /// Serve an offline model over HTTP: the APIs of Anthropic and OpenAI, answered from a script
    Scripted(ScriptedArgs),
}

/// Where the scripted model listens.
#[derive(Debug, ClapArgs)]
pub(crate) struct ScriptedArgs {
    /// The script to answer from
    #[arg(long, value_name = "FILE")]
    pub(crate) script: PathBuf,
    /// The port to listen on; 0 takes any free one
    #[arg(long, value_name = "PORT", default_value_t = 0)]
    pub(crate) port: u16,
    /// The loopback address to listen on
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1")]
    pub(crate) host: String,
}

/// An answer as it is typed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum AnswerWord {
    /// Yes, run it.
    Allow,
    /// No.
    Deny,
    /// It did not happen: run it again.
    Retry,
    /// It happened.
    MarkDone,
    /// Leave it as it is.
    Abandon,
    /// Go on although something changed.
    Continue,
    /// The words are the answer.
    Text,
}
