//! The tools of a request.

use std::collections::BTreeSet;

use serde::Deserialize;
use serde_json::value::RawValue;

use super::super::refusal::Refusal;

/// A tool on offer.
#[derive(Deserialize)]
pub(super) struct Tool<'a> {
    r#type: Option<String>,
    name: Option<String>,
    #[serde(borrow)]
    input_schema: Option<&'a RawValue>,
}

/// The longest name the service takes, in bytes.
const MAX_NAME_BYTES: usize = 128;

/// Their names, if the service would take them.
pub(super) fn names(tools: &[Tool<'_>]) -> Result<Vec<String>, Refusal> {
    let names: Vec<String> = tools
        .iter()
        .enumerate()
        .map(|(place, tool)| name(place, tool))
        .collect::<Result<_, _>>()?;
    let different: BTreeSet<&String> = names.iter().collect();
    match different.len() == names.len() {
        true => Ok(names),
        false => Err(Refusal::invalid("tools: Tool names must be unique.")),
    }
}

fn name(place: usize, tool: &Tool<'_>) -> Result<String, Refusal> {
    let missing = |field: &str| Refusal::invalid(format!("tools.{place}.{field}: Field required"));
    let name = tool.name.clone().ok_or_else(|| missing("name"))?;
    // The service's own tools have a type and no schema.
    let is_custom = tool.r#type.as_deref().is_none_or(|kind| kind == "custom");
    if is_custom && tool.input_schema.is_none() {
        return Err(missing("custom.input_schema"));
    }
    match is_name(&name) {
        true => Ok(name),
        false => Err(Refusal::invalid(format!(
            "tools.{place}.custom.name: String should match pattern '^[a-zA-Z0-9_-]{{1,128}}$'"
        ))),
    }
}

fn is_name(name: &str) -> bool {
    let allowed = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    !name.is_empty() && name.len() <= MAX_NAME_BYTES && name.chars().all(allowed)
}
