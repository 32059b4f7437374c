//! Names of tools: `mcp__server__tool`, so that rules can name a tool or a whole server, and no
//! server can take the name of a built-in tool.

/// Maximum length of a name that providers accept.
const MAX_NAME_CHARS: usize = 64;

/// Returns the name that the model calls the tool by. Characters that no provider accepts become `_`.
#[must_use]
pub fn qualified_tool_name(server: &str, tool: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() || c == '-' { c } else { '_' };
    let name: String = format!("mcp__{server}__{tool}").chars().map(plain).collect();
    name.chars().take(MAX_NAME_CHARS).collect()
}
