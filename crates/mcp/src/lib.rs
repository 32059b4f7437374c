//! Tools of MCP servers (Model Context Protocol): names, permissions, results and durability are the
//! same whatever the transport is.
//!
//! A transport implements [`McpConnection`]. [`McpServer::connect`] does the handshake and reads the
//! tools; each of them is a [`McpTool`] behind the runtime's `Tool` port. Not here: transports,
//! configuration and approval of servers.

mod client;
mod connection;
mod mcp_tool;
mod result_content;
mod server;
mod tool_definition;
mod tool_name;

#[cfg(test)]
mod mcp_tests;

pub use connection::{McpConnection, McpError};
pub use mcp_tool::McpTool;
pub use server::McpServer;
pub use tool_definition::ToolDefinition;
pub use tool_name::qualified_tool_name;
