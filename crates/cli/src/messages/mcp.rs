//! Sentences about MCP servers.

use serde_json::Value;
use windlass::mcp::{ManagedServer, McpError, ServerState, qualified_tool_name};

/// A server whose tools are missing.
pub(crate) fn mcp_server_failed(name: &str, error: &McpError) -> String {
    match error {
        McpError::NeedsLogin(_) => {
            format!("MCP server {name} requires a login: run `windlass mcp login {name}`.")
        }
        McpError::Misconfigured(_)
        | McpError::Unreachable(_)
        | McpError::ConnectionLost(_)
        | McpError::SessionExpired
        | McpError::ToolChanged
        | McpError::Refused { .. }
        | McpError::PagesRequired(_)
        | McpError::Invalid(_) => format!("MCP server {name} is not available: {error}."),
    }
}

/// A server that has not answered yet.
pub(crate) fn mcp_server_pending(name: &str) -> String {
    format!("MCP server {name} has not answered yet; its tools are missing.")
}

/// Tools that are withheld because their definitions changed.
pub(crate) fn mcp_tools_withheld(name: &str, tools: &[String]) -> String {
    let tools = tools.join(", ");
    format!(
        "MCP server {name} describes these tools differently than when they were approved, so they are \
         not offered: {tools}. Review them with `windlass mcp get {name}`, then run \
         `windlass mcp reset-approvals {name}`."
    )
}

/// No server is configured.
pub(crate) const NO_MCP_SERVERS: &str =
    "No MCP servers are configured here; add one with `windlass mcp add NAME COMMAND`.";

/// The state of a server, on one line.
pub(crate) fn mcp_server_line(server: &ManagedServer) -> String {
    let (name, scope) = (server.name(), &server.spec().scope);
    let state = match server.state() {
        ServerState::Connected(_) => match server.definitions().len() {
            1 => "connected, 1 tool".to_owned(),
            count => format!("connected, {count} tools"),
        },
        ServerState::Failed(McpError::NeedsLogin(_)) => {
            format!("needs a login: run `windlass mcp login {name}`")
        }
        ServerState::Failed(error) => format!("failed: {error}"),
        ServerState::Pending => "has not answered yet".to_owned(),
        ServerState::Disabled => "switched off".to_owned(),
    };
    format!("{name} ({scope}): {state}")
}

/// How a server is reached, its tools, and what it wrote.
pub(crate) fn mcp_server_details(server: &ManagedServer) -> Vec<String> {
    let config = &server.spec().config;
    let text = |name: &str| config.get(name).and_then(Value::as_str).map(str::to_owned);
    let words = config.get("args").and_then(Value::as_array).into_iter().flatten();
    let words = words.filter_map(Value::as_str).map(|word| format!(" {word}"));
    let command = text("command").map(|command| command + &words.collect::<String>());
    let mut lines = Vec::new();
    lines.extend(command.map(|command| format!("  command: {command}")));
    lines.extend(text("url").map(|url| format!("  url: {url}")));
    for tool in server.definitions() {
        let about = tool.plain_description();
        let about = about.lines().next().unwrap_or_default().to_owned();
        let name = qualified_tool_name(server.name(), &tool.name);
        lines.push(format!("  {name}: {about}"));
    }
    for prompt in server.prompts() {
        let about = prompt.plain_description();
        let about = about.lines().next().unwrap_or_default().to_owned();
        lines.push(format!("  /{}: {about}", server.prompt_command(&prompt)));
    }
    let withheld = server.withheld();
    if !withheld.is_empty() {
        lines.push(format!("  {}", mcp_tools_withheld(server.name(), &withheld)));
    }
    lines.extend(server.log_lines().into_iter().map(|line| format!("  | {line}")));
    lines
}

/// A server of an untrusted folder.
pub(crate) fn mcp_server_untrusted(name: &str) -> String {
    format!(
        "{name} (project): not started, because this folder is not trusted; run `windlass trust`"
    )
}

/// A server that is not configured.
pub(crate) fn mcp_server_unknown(name: &str) -> String {
    format!("no MCP server {name} is configured here; `windlass mcp list` shows all")
}

/// A server that is configured in several places.
pub(crate) fn mcp_server_in_several(name: &str, scopes: &[&str]) -> String {
    let scopes = scopes.join(" and ");
    format!("{name} is configured in the scopes {scopes}; name one with --scope")
}

/// A server was added.
pub(crate) fn mcp_server_added(name: &str, scope: &str, is_replaced: bool) -> String {
    let done = if is_replaced { "Replaced" } else { "Added" };
    format!("{done} MCP server {name} in scope {scope}.")
}

/// A server was removed.
pub(crate) fn mcp_server_removed(name: &str, scope: &str) -> String {
    format!("Removed MCP server {name} from scope {scope}.")
}

/// Approvals were reset.
pub(crate) fn mcp_approvals_reset(count: usize, name: Option<&str>) -> String {
    match (count, name) {
        (0, Some(name)) => format!("Nothing was approved of MCP server {name} here."),
        (0, None) => "Nothing was approved of any MCP server.".to_owned(),
        (_, Some(name)) => {
            format!(
                "Reset the approval of MCP server {name}; its tools are approved as they are next."
            )
        }
        (1, None) => "Reset the approval of 1 MCP server.".to_owned(),
        (count, None) => format!("Reset the approvals of {count} MCP servers."),
    }
}

/// The page on which the user agrees.
pub(crate) fn mcp_open_in_browser(url: &str) -> String {
    format!("Open this page in a browser to log in:\n{url}")
}

/// A login is complete.
pub(crate) fn mcp_logged_in(name: &str, url: &str) -> String {
    format!("Logged in to MCP server {name} at {url}.")
}

/// A login failed.
pub(crate) fn mcp_login_failed(name: &str, why: &str) -> String {
    format!("cannot log in to MCP server {name}: {why}")
}

/// A login was forgotten.
pub(crate) fn mcp_logged_out(name: &str, was_logged_in: bool) -> String {
    match was_logged_in {
        true => format!(
            "Logged out of MCP server {name}; the server may keep the token until it expires."
        ),
        false => format!("There was no login to MCP server {name}."),
    }
}

/// A server that has no login.
pub(crate) fn mcp_login_without_url(name: &str) -> String {
    format!("MCP server {name} is a program; only web services have a login")
}
