//! `ENABLE_TOOL_SEARCH`: when tools of MCP servers are deferred, as Claude Code reads it.

use anyhow::bail;

#[cfg(test)]
#[path = "tool_search_tests.rs"]
mod tool_search_tests;

/// The variable.
const VARIABLE: &str = "ENABLE_TOOL_SEARCH";

/// Returns the percentage of the window that the schemas may take, if the variable says it.
pub(crate) fn schema_percent() -> anyhow::Result<Option<u8>> {
    match std::env::var(VARIABLE) {
        Ok(value) if !value.trim().is_empty() => parse(value.trim()),
        Ok(_) | Err(_) => Ok(None),
    }
}

fn parse(value: &str) -> anyhow::Result<Option<u8>> {
    let percent = match value.to_ascii_lowercase().as_str() {
        "true" | "1" => Some(0),
        "false" | "0" => Some(100),
        "auto" => return Ok(None),
        other => other.strip_prefix("auto:").and_then(|percent| percent.parse().ok()),
    };
    match percent.filter(|percent| *percent <= 100) {
        Some(percent) => Ok(Some(percent)),
        None => bail!("{VARIABLE} is {value:?}; use true, false, auto or auto:0 to auto:100"),
    }
}
