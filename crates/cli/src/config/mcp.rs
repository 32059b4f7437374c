//! MCP servers: where they are configured, which of two with one name counts, and what was approved
//! of them.

pub(crate) mod approval_file;
pub(crate) mod login_file;
pub(crate) mod private_file;
mod remembered_tools;
pub(crate) mod server_list;
pub(crate) mod user_file;

use std::fmt;

use windlass::mcp::McpServerConfig;

/// Where a server is configured. A server of an earlier one replaces those of the same name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum ServerScope {
    /// On the command line, or by the program that drives this process.
    Dynamic,
    /// In the user's file, for one folder.
    Local,
    /// In `.mcp.json` of the folder.
    Project,
    /// In the user's file, for every folder.
    User,
    /// In a plugin.
    Plugin,
}

impl ServerScope {
    /// The name of the scope.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Dynamic => "dynamic",
            Self::Local => "local",
            Self::Project => "project",
            Self::User => "user",
            Self::Plugin => "plugin",
        }
    }
}

impl fmt::Display for ServerScope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A server as it is configured.
#[derive(Debug, Clone)]
pub(crate) struct ConfiguredServer {
    pub(crate) name: String,
    pub(crate) scope: ServerScope,
    /// The configuration, or why it cannot be used.
    pub(crate) config: Result<McpServerConfig, String>,
    /// The hash of the configuration as it is written, without values of variables.
    pub(crate) hash: String,
}
