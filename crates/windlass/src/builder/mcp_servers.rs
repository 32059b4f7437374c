//! MCP servers of the builder.

use std::path::PathBuf;
use std::sync::Arc;

use windlass_mcp::{
    FirstSeenApprovals, McpError, McpServerConfig, McpServers, ServerState, ServerTools,
    check_server_name,
};

use windlass_runtime::{ToolRegistry, UnconfinedLauncher};
use windlass_tools::ToolSearchTool;

use super::{BuildError, WindlassBuilder};
use crate::mcp::{McpServices, SpecOptions};

impl WindlassBuilder {
    /// Adds an MCP server. It is connected when this is started, and its tools are named
    /// `mcp__name__tool`. For a server that cannot be connected [`WindlassBuilder::start`] returns
    /// [`BuildError::McpServer`]; one that is lost later is connected again.
    ///
    /// # Examples
    ///
    /// ```
    /// use windlass::Windlass;
    /// use windlass::mcp::McpServerConfig;
    ///
    /// let git = McpServerConfig::stdio("uvx", &["mcp-server-git"]);
    /// let builder = Windlass::builder().mcp_server("git", git).allow("mcp__git__git_status");
    /// ```
    #[must_use]
    pub fn mcp_server(mut self, name: &str, config: McpServerConfig) -> Self {
        self.mcp_servers.push((name.to_owned(), config));
        self
    }

    /// Connects the servers and adds their tools.
    pub(crate) async fn connect_mcp_servers(&mut self) -> Result<(), BuildError> {
        let configured = std::mem::take(&mut self.mcp_servers);
        if configured.is_empty() {
            return Ok(());
        }
        let services = McpServices::new(Arc::clone(&self.clock), Arc::new(UnconfinedLauncher));
        let servers =
            McpServers::new(Arc::new(FirstSeenApprovals::default()), Arc::clone(&self.clock));
        for (name, config) in configured {
            let workspace = self.workspace.as_ref().map(|workspace| workspace.path().to_owned());
            let workspace = workspace.or_else(|| std::env::current_dir().ok());
            let options = SpecOptions {
                workspace: workspace.unwrap_or_else(|| PathBuf::from("/")),
                scope: "dynamic".to_owned(),
                authorization: None,
            };
            let failed = |error| BuildError::McpServer { name: name.clone(), error };
            let valid = check_server_name(&name);
            valid.map_err(|error| failed(McpError::Misconfigured(error.to_string())))?;
            let hosted = || McpError::Misconfigured("it runs in another program".to_owned());
            let spec = services.spec(&name, &config, options);
            servers.add(spec.ok_or_else(|| failed(hosted()))?);
        }
        for server in servers.list() {
            server.wait_until_settled().await;
            if let ServerState::Failed(error) = server.state() {
                return Err(BuildError::McpServer { name: server.name().to_owned(), error });
            }
        }
        let source = Arc::new(ServerTools::new(servers, ToolRegistry::clone));
        let tools = std::mem::take(&mut self.tools).with_source(source);
        self.tools = tools.with(ToolSearchTool);
        Ok(())
    }
}
