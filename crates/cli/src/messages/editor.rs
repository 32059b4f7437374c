//! Sentences for the users of editors.

/// The answer to `/clear` in an editor.
pub(crate) const CLEAR_IN_EDITOR: &str =
    "An editor has its own way to start a new conversation; use that instead of /clear.";

/// The answer to `/cancel` in an editor.
pub(crate) const CANCEL_IN_EDITOR: &str =
    "Nothing is running. Stop a prompt in the editor while it runs.";

/// Says that MCP servers of the editor are not used.
pub(crate) fn mcp_servers_not_connected(names: &[&str]) -> String {
    format!(
        "The editor's MCP servers are not connected: {}. Give them a name of letters, digits, `-` and \
         `_`, and the transport stdio or http.",
        names.join(", ")
    )
}
