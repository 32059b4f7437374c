//! Windlass as an MCP server: other programs start durable runs, follow, answer, cancel and explain
//! them by calling tools.
//!
//! [`McpService`] answers the messages of a client and knows no transport: [`serve_lines`] connects
//! it to standard input and output, an HTTP server to its requests. What a client starts is durable
//! before it is answered, and goes on without the client.
//!
//! Not here: the client for other MCP servers (`windlass-mcp`).

mod answers;
mod follow;
mod json_rpc;
mod lines;
mod presenter;
mod run_tools;
mod service;
mod tool_list;

pub use lines::serve_lines;
pub use presenter::RunPresenter;
pub use service::{McpService, Notifications, PROTOCOL_VERSIONS};
