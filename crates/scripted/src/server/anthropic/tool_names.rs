//! The tools of a Messages request.

use std::collections::BTreeSet;

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::server::rejection::RequestRejection;

/// A tool that is offered.
#[derive(Deserialize)]
pub(super) struct MessagesTool<'a> {
    r#type: Option<String>,
    name: Option<String>,
    #[serde(borrow)]
    input_schema: Option<&'a RawValue>,
    #[serde(default)]
    defer_loading: bool,
    #[serde(borrow)]
    cache_control: Option<&'a RawValue>,
}

/// The longest tool name that the service accepts, in bytes.
const MAX_NAME_BYTES: usize = 128;

/// The tools of a request, by name.
pub(super) struct DeclaredTools {
    /// Those that the model sees at once.
    pub(super) visible: Vec<String>,
    /// Those that it sees once a result refers to them.
    pub(super) deferred: Vec<String>,
}

/// Returns the names of the tools, if the service would accept them.
pub(super) fn check_tool_names(
    tools: &[MessagesTool<'_>],
) -> Result<DeclaredTools, RequestRejection> {
    if tools.iter().any(|tool| tool.defer_loading && tool.cache_control.is_some()) {
        return Err(RequestRejection::invalid(
            "Tools with defer_loading cannot use prompt caching: remove cache_control",
        ));
    }
    let names: Vec<String> = tools
        .iter()
        .enumerate()
        .map(|(index, tool)| check_tool_name(index, tool))
        .collect::<Result<_, _>>()?;
    let different: BTreeSet<&String> = names.iter().collect();
    match different.len() == names.len() {
        true => Ok(declared_tools(tools, names)),
        false => Err(RequestRejection::invalid("tools: Tool names must be unique.")),
    }
}

fn declared_tools(tools: &[MessagesTool<'_>], names: Vec<String>) -> DeclaredTools {
    let pairs = tools.iter().zip(names);
    let (deferred, visible): (Vec<_>, Vec<_>) = pairs.partition(|(tool, _)| tool.defer_loading);
    let names = |pairs: Vec<(_, String)>| pairs.into_iter().map(|(_, name)| name).collect();
    DeclaredTools { visible: names(visible), deferred: names(deferred) }
}

fn check_tool_name(index: usize, tool: &MessagesTool<'_>) -> Result<String, RequestRejection> {
    let missing =
        |field: &str| RequestRejection::invalid(format!("tools.{index}.{field}: Field required"));
    let name = tool.name.clone().ok_or_else(|| missing("name"))?;
    // The service's own tools have a type and no schema.
    let is_custom = tool.r#type.as_deref().is_none_or(|kind| kind == "custom");
    if is_custom && tool.input_schema.is_none() {
        return Err(missing("custom.input_schema"));
    }
    match is_valid_tool_name(&name) {
        true => Ok(name),
        false => Err(RequestRejection::invalid(format!(
            "tools.{index}.custom.name: String should match pattern '^[a-zA-Z0-9_-]{{1,128}}$'"
        ))),
    }
}

fn is_valid_tool_name(name: &str) -> bool {
    let allowed = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    !name.is_empty() && name.len() <= MAX_NAME_BYTES && name.chars().all(allowed)
}
