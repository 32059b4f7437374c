//! Tools of MCP servers (Model Context Protocol): names, permissions, results and durability are the
//! same whatever the transport is.
//!
//! [`McpServers`] keeps servers connected; each tool of them is an [`McpTool`] behind the runtime's
//! `Tool` port. A transport is an [`McpConnector`]: programs ([`StdioConnector`]), HTTP
//! ([`HttpConnector`]), or one of the application. Processes and HTTP requests come from ports
//! ([`ServerLauncher`], [`HttpTransport`]).
//!
//! Not here: configuration files, and who approves a server.

mod client;
mod connection;
mod elicitation;
mod header_sources;
mod http;
mod managed_server;
mod mcp_tool;
mod oauth;
mod ongoing_call;
mod paged_list;
mod plain_text;
mod prompts;
mod resource_tools;
mod resources;
mod result_content;
mod server;
mod server_config;
mod server_inbox;
mod server_set;
mod stdio;
mod tool_definition;
mod tool_name;

#[cfg(test)]
mod mcp_tests;

pub use connection::{McpConnection, McpConnector, McpError};
pub use header_sources::{ConfiguredHeaders, HeadersHelper};
pub use http::{
    HeaderSource, HttpAuthorization, HttpBody, HttpConnector, HttpEndpoint, HttpError, HttpRequest,
    HttpResponse, HttpTransport, Rejection,
};
pub use managed_server::{
    FirstSeenApprovals, ManagedServer, ServerSpec, ServerState, ToolApprovals,
};
pub use mcp_tool::McpTool;
pub use oauth::{
    BrowserOpener, LoginPrompt, LoginStore, OAuthAuthorization, OAuthClient, OAuthError,
    RegisteredClient, StoredLogin,
};
pub use prompts::{PromptArgument, PromptDefinition};
pub use resource_tools::{ListResourcesTool, ReadResourceTool};
pub use resources::ResourceDefinition;
pub use server::McpServer;
pub use server_config::{
    InvalidServerConfig, McpServerConfig, OAuthConfig, TransportConfig, check_server_name,
};
pub use server_inbox::ServerInbox;
pub use server_set::{McpServers, ServerTools};
pub use stdio::{ServerLauncher, ServerProcess, StdioCommand, StdioConnector};
pub use tool_definition::{ToolAnnotations, ToolDefinition};
pub use tool_name::qualified_tool_name;
