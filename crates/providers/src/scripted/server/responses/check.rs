//! What the service refuses in a conversation.

use std::collections::BTreeSet;

use super::super::body::quoted;
use super::super::content;
use super::super::refusal::Refusal;
use super::request::{Item, Kind};

/// Refuses what the service would refuse: calls without results, results without calls.
pub(super) fn check(items: &[Item<'_>]) -> Result<(), Refusal> {
    if items.is_empty() {
        let says = "Invalid 'input': empty array. Expected an array with minimum length 1, but got \
                    an empty array instead.";
        return Err(Refusal::invalid(says).about("input").coded("empty_array"));
    }
    items.iter().enumerate().try_for_each(|(place, item)| readable(place, item))?;
    let (called, answered) = (ids(items, Kind::Call), ids(items, Kind::Result));
    if let Some(id) = called.difference(&answered).next() {
        let says = format!("No tool output found for function call {}.", quoted(id));
        return Err(Refusal::invalid(says).about("input"));
    }
    if let Some(id) = answered.difference(&called).next() {
        let says =
            format!("No tool call found for function call output with call_id {}.", quoted(id));
        return Err(Refusal::invalid(says).about("input"));
    }
    Ok(())
}

fn ids<'a>(items: &'a [Item<'_>], kind: Kind) -> BTreeSet<&'a str> {
    let items = items.iter().filter(|item| item.kind() == Some(kind));
    items.filter_map(|item| item.call_id.as_deref()).collect()
}

fn readable(place: usize, item: &Item<'_>) -> Result<(), Refusal> {
    let missing = |field: &str| {
        let param = format!("input[{place}].{field}");
        let refusal = Refusal::invalid(format!("Missing required parameter: '{param}'."));
        Err(refusal.about(param).coded("missing_required_parameter"))
    };
    match item.kind() {
        None => Err(unknown_role(place, item)),
        Some(Kind::Call | Kind::Result) if item.call_id.is_none() => missing("call_id"),
        Some(Kind::Call) if item.name.is_none() => missing("name"),
        Some(Kind::Result) if item.output.is_none() => missing("output"),
        Some(Kind::User | Kind::Instructions) => has_content(place, item),
        Some(Kind::Call | Kind::Result | Kind::Model) => Ok(()),
    }
}

fn has_content(place: usize, item: &Item<'_>) -> Result<(), Refusal> {
    let param = format!("input[{place}].content");
    let Some(content) = item.content else {
        let refusal = Refusal::invalid(format!("Missing required parameter: '{param}'."));
        return Err(refusal.about(param).coded("missing_required_parameter"));
    };
    match content::read::<serde::de::IgnoredAny>(content) {
        Ok(_) => Ok(()),
        Err(error) => {
            let refusal = Refusal::invalid(format!("Invalid type for '{param}': {error}"));
            Err(refusal.about(param).coded("invalid_type"))
        }
    }
}

fn unknown_role(place: usize, item: &Item<'_>) -> Refusal {
    Refusal::invalid(format!(
        "Invalid value: '{}'. Supported values are: 'assistant', 'system', 'developer', and \
         'user'.",
        quoted(item.role.as_deref().unwrap_or_default())
    ))
    .about(format!("input[{place}]"))
    .coded("invalid_value")
}
