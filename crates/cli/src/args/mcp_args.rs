//! Flags about MCP servers, and the commands of `windlass mcp`.

use clap::{Args, Subcommand, ValueEnum};

use super::AgentArgs;

/// Which MCP servers offer tools.
#[derive(Debug, Clone, Default, PartialEq, Args)]
#[command(next_help_heading = "MCP servers")]
pub(crate) struct McpArgs {
    /// Use these MCP servers (JSON or a file); may be given several times
    #[arg(long, value_name = "JSON|FILE")]
    pub(crate) mcp_config: Vec<String>,
    /// Use only the MCP servers of --mcp-config
    #[arg(long)]
    pub(crate) strict_mcp_config: bool,
}

/// Where a server is written to.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum McpScopeArg {
    /// For you, in this folder
    #[default]
    Local,
    /// For you, in every folder
    User,
    /// For everyone who works in this folder, in .mcp.json
    Project,
}

/// How a server is reached.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum McpTransportArg {
    /// A program that talks over standard input and output
    #[default]
    Stdio,
    /// A web service
    Http,
    /// The transport that http has replaced; refused
    #[value(hide = true)]
    Sse,
}

/// What to do with MCP servers.
#[derive(Debug, Subcommand)]
pub(crate) enum McpCommand {
    /// Add a server: a program with its arguments, or the URL of a web service
    Add(McpAddArgs),
    /// Add a server as it would be in .mcp.json
    AddJson {
        /// Give the server this name
        name: String,
        /// Its configuration, a JSON object
        json: String,
        /// Choose where it is written to
        #[arg(short, long, value_enum, default_value_t)]
        scope: McpScopeArg,
    },
    /// Connect to every server, and list their states and tools
    List {
        #[command(flatten)]
        servers: McpArgs,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Connect to one server, and print its configuration and its tools
    Get {
        /// The name of the server
        name: String,
        #[command(flatten)]
        servers: McpArgs,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Remove a server
    Remove {
        /// The name of the server
        name: String,
        /// Remove it here [default: where it is, if that is one place]
        #[arg(short, long, value_enum)]
        scope: Option<McpScopeArg>,
    },
    /// Log in to a web service: prints a page, and opens it in a browser ($BROWSER)
    Login {
        /// The name of the server
        name: String,
        #[command(flatten)]
        servers: McpArgs,
    },
    /// Forget the login to a web service
    Logout {
        /// The name of the server
        name: String,
        #[command(flatten)]
        servers: McpArgs,
    },
    /// Approve tools as they are described now: all servers, or one
    ResetApprovals {
        /// The name of the server
        name: Option<String>,
    },
    /// Be an MCP server over standard input and output: its tools start, follow, answer, cancel and
    /// explain durable runs
    Serve(Box<McpServeArgs>),
}

impl McpCommand {
    /// Returns whether the command works on runs until it is told to stop.
    pub(crate) fn is_serve(&self) -> bool {
        matches!(self, Self::Serve(_))
    }
}

/// How runs are served to MCP clients.
#[derive(Debug, Args)]
pub(crate) struct McpServeArgs {
    /// Serve only, and leave the runs to `windlass worker` processes
    #[arg(long)]
    pub(crate) no_worker: bool,
    /// Wait N seconds after the end of the input for running tool calls to finish (0 to 3600)
    #[arg(long, value_name = "N", default_value_t = 2, value_parser = clap::value_parser!(u64).range(0..=3_600))]
    pub(crate) grace_seconds: u64,
    #[command(flatten)]
    pub(crate) agent: AgentArgs,
}

/// A server to add.
#[derive(Debug, Args)]
pub(crate) struct McpAddArgs {
    /// Give the server this name
    pub(crate) name: String,
    /// The program, or the URL
    pub(crate) target: String,
    /// The arguments of the program; put `--` before the first that begins with a dash
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    pub(crate) arguments: Vec<String>,
    /// Choose where it is written to
    #[arg(short, long, value_enum, default_value_t)]
    pub(crate) scope: McpScopeArg,
    /// Choose how it is reached
    #[arg(short, long, value_enum, default_value_t)]
    pub(crate) transport: McpTransportArg,
    /// Set an environment variable of the program
    #[arg(short, long, value_name = "NAME=VALUE")]
    pub(crate) env: Vec<String>,
    /// Send a header with every request
    #[arg(short = 'H', long, value_name = "NAME: VALUE")]
    pub(crate) header: Vec<String>,
    /// Log in as this client, which is registered already
    #[arg(long, value_name = "ID")]
    pub(crate) client_id: Option<String>,
    /// Let the browser return to this port after a login
    #[arg(long, value_name = "PORT")]
    pub(crate) callback_port: Option<u16>,
}
