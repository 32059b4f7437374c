//! Rejects conversations that the Responses API would reject.

use std::collections::BTreeSet;

use super::request_parser::{InputItem, InputItemKind};
use crate::server::content;
use crate::server::rejection::RequestRejection;
use crate::server::request_body::truncate_quoted;

/// Rejects what the service would reject: calls without results, results without calls.
pub(super) fn check_items(items: &[InputItem<'_>]) -> Result<(), RequestRejection> {
    if items.is_empty() {
        let says = "Invalid 'input': empty array. Expected an array with minimum length 1, but got \
                    an empty array instead.";
        return Err(RequestRejection::invalid(says).with_param("input").with_code("empty_array"));
    }
    items.iter().enumerate().try_for_each(|(index, item)| check_item(index, item))?;
    let (called, answered) =
        (call_ids(items, InputItemKind::Call), call_ids(items, InputItemKind::Result));
    if let Some(id) = called.difference(&answered).next() {
        let says = format!("No tool output found for function call {}.", truncate_quoted(id));
        return Err(RequestRejection::invalid(says).with_param("input"));
    }
    if let Some(id) = answered.difference(&called).next() {
        let says = format!(
            "No tool call found for function call output with call_id {}.",
            truncate_quoted(id)
        );
        return Err(RequestRejection::invalid(says).with_param("input"));
    }
    Ok(())
}

fn call_ids<'a>(items: &'a [InputItem<'_>], kind: InputItemKind) -> BTreeSet<&'a str> {
    let items = items.iter().filter(|item| item.kind() == Some(kind));
    items.filter_map(|item| item.call_id.as_deref()).collect()
}

fn check_item(index: usize, item: &InputItem<'_>) -> Result<(), RequestRejection> {
    let missing = |field: &str| {
        let param = format!("input[{index}].{field}");
        let refusal = RequestRejection::invalid(format!("Missing required parameter: '{param}'."));
        Err(refusal.with_param(param).with_code("missing_required_parameter"))
    };
    match item.kind() {
        None => Err(unknown_role_rejection(index, item)),
        Some(InputItemKind::Call | InputItemKind::Result) if item.call_id.is_none() => {
            missing("call_id")
        }
        Some(InputItemKind::Call) if item.name.is_none() => missing("name"),
        Some(InputItemKind::Result) if item.output.is_none() => missing("output"),
        Some(InputItemKind::User | InputItemKind::Instructions) => check_content(index, item),
        Some(InputItemKind::Call | InputItemKind::Result | InputItemKind::Model) => Ok(()),
    }
}

fn check_content(index: usize, item: &InputItem<'_>) -> Result<(), RequestRejection> {
    let param = format!("input[{index}].content");
    let Some(content) = item.content else {
        let refusal = RequestRejection::invalid(format!("Missing required parameter: '{param}'."));
        return Err(refusal.with_param(param).with_code("missing_required_parameter"));
    };
    match content::parse_content::<serde::de::IgnoredAny>(content) {
        Ok(_) => Ok(()),
        Err(error) => {
            let refusal = RequestRejection::invalid(format!("Invalid type for '{param}': {error}"));
            Err(refusal.with_param(param).with_code("invalid_type"))
        }
    }
}

fn unknown_role_rejection(index: usize, item: &InputItem<'_>) -> RequestRejection {
    RequestRejection::invalid(format!(
        "Invalid value: '{}'. Supported values are: 'assistant', 'system', 'developer', and \
         'user'.",
        truncate_quoted(item.role.as_deref().unwrap_or_default())
    ))
    .with_param(format!("input[{index}]"))
    .with_code("invalid_value")
}
