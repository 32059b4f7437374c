//! Flags about plugins, and the commands of `windlass plugin`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

/// Which plugins this process has besides those that are installed.
#[derive(Debug, Clone, Default, PartialEq, Args)]
#[command(next_help_heading = "Permissions")]
pub(crate) struct PluginArgs {
    /// Add the plugin in this folder; may be given several times
    #[arg(long = "plugin-dir", value_name = "DIR")]
    pub(crate) dirs: Vec<PathBuf>,
    /// Add the plugin in this folder without its MCP servers
    #[arg(long = "plugin-dir-no-mcp", value_name = "DIR", hide = true)]
    pub(crate) dirs_without_mcp: Vec<PathBuf>,
}

impl PluginArgs {
    /// Whether no plugin is given.
    pub(crate) fn is_empty(&self) -> bool {
        self.dirs.is_empty() && self.dirs_without_mcp.is_empty()
    }
}

/// What to do with plugins.
#[derive(Debug, Subcommand)]
pub(crate) enum PluginCommand {
    /// Install the plugin in a folder, or replace it, after showing what it would run
    Install {
        /// The folder of the plugin
        folder: PathBuf,
        /// Approve what it would run without a question
        #[arg(short, long)]
        yes: bool,
    },
    /// List the installed plugins and what each of them brings
    List {
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Put an installed plugin in force
    Enable {
        /// The name of the plugin
        name: String,
    },
    /// Keep a plugin, and leave it out of runs
    Disable {
        /// The name of the plugin
        name: String,
    },
    /// Remove a plugin and its files
    #[command(visible_alias = "uninstall")]
    Remove {
        /// The name of the plugin
        name: String,
    },
}
