//! MCP servers: programs and web services that offer tools (Model Context Protocol).
//!
//! [`WindlassBuilder::mcp_server`](crate::WindlassBuilder::mcp_server) and
//! [`AgentBuilder::mcp_server`](crate::AgentBuilder::mcp_server) add one. Its tools are named
//! `mcp__server__tool`, and every call of them requires approval unless a rule allows it, such as
//! `mcp__server`.

mod adapters;
mod server_specs;

pub use server_specs::{McpServices, SpecOptions};
pub use windlass_mcp::{
    BrowserOpener, ConfiguredHeaders, FirstSeenApprovals, HttpAuthorization, HttpRequest,
    HttpResponse, HttpTransport, InvalidServerConfig, ListResourcesTool, LoginPrompt, LoginStore,
    ManagedServer, McpConnection, McpConnector, McpError, McpServer, McpServerConfig, McpServers,
    McpTool, OAuthAuthorization, OAuthClient, OAuthConfig, OAuthError, PromptDefinition,
    ReadResourceTool, Rejection, ServerInbox, ServerLauncher, ServerSpec, ServerState, ServerTools,
    StoredLogin, ToolApprovals, ToolDefinition, TransportConfig, check_server_name,
    qualified_tool_name,
};
