//! The commands of `windlass agents`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::PluginArgs;

/// Which sub-agents are meant.
#[derive(Debug, Args)]
pub(crate) struct AgentsArgs {
    #[command(subcommand)]
    pub(crate) command: Option<AgentsCommand>,
    /// The folder whose sub-agents are meant
    #[arg(long, value_name = "DIR", default_value = ".")]
    pub(crate) workspace: PathBuf,
    #[command(flatten)]
    pub(crate) plugins: PluginArgs,
    /// Read only these sources: user, project; empty for none [default: user,project]
    #[arg(long, value_name = "SOURCES")]
    pub(crate) setting_sources: Option<String>,
}

/// What to do with sub-agents.
#[derive(Debug, Subcommand)]
pub(crate) enum AgentsCommand {
    /// List them, with their files, and what is wrong with others
    List {
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Show everything that one of them defines
    Show {
        /// The name of the sub-agent
        name: String,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
}
