//! The tools of MCP servers among those of the settings. They come and go with their servers.

use super::conversation_settings::{Settings, ToolSpec};

/// What the names of tools of MCP servers begin with.
pub const SERVER_TOOL_PREFIX: &str = "mcp__";

/// Returns whether a tool of this name belongs to an MCP server.
#[must_use]
pub fn is_server_tool(name: &str) -> bool {
    name.starts_with(SERVER_TOOL_PREFIX)
}

impl Settings {
    /// Returns the tools of MCP servers, by name.
    pub fn server_tools(&self) -> impl Iterator<Item = &ToolSpec> {
        self.tools.iter().filter(|tool| is_server_tool(&tool.name))
    }

    /// Replaces the tools of MCP servers by these, which are sorted by name. The others keep their
    /// order.
    pub fn set_server_tools(&mut self, tools: &[ToolSpec]) {
        self.tools.retain(|tool| !is_server_tool(&tool.name));
        for tool in tools {
            let place = self.tools.iter().position(|other| other.name > tool.name);
            self.tools.insert(place.unwrap_or(self.tools.len()), tool.clone());
        }
    }
}
