//! Deferred tools of a Messages request: the model sees those that a result refers to.

use std::collections::BTreeSet;

use serde::Deserialize;

use super::request_parser::MessagesInput;
use super::tool_names::DeclaredTools;
use crate::server::rejection::RequestRejection;

#[derive(Deserialize)]
struct ResultBlock {
    r#type: String,
    tool_name: Option<String>,
}

/// Returns the names of the tools that the model sees, if the service would accept the request.
pub(super) fn visible_tools(
    declared: DeclaredTools,
    messages: &[MessagesInput<'_>],
) -> Result<Vec<String>, RequestRejection> {
    let referenced = referenced_tools(messages);
    let is_known =
        |name: &&String| declared.visible.contains(name) || declared.deferred.contains(name);
    if let Some(unknown) = referenced.iter().find(|name| !is_known(name)) {
        return Err(RequestRejection::invalid(format!(
            "Tool reference '{unknown}' not found in available tools"
        )));
    }
    if declared.visible.is_empty() && !declared.deferred.is_empty() {
        return Err(RequestRejection::invalid(
            "At least one tool must have defer_loading=false. All tools cannot be deferred.",
        ));
    }
    let DeclaredTools { mut visible, deferred } = declared;
    visible.extend(deferred.into_iter().filter(|name| referenced.contains(name)));
    Ok(visible)
}

fn referenced_tools(messages: &[MessagesInput<'_>]) -> BTreeSet<String> {
    let blocks = messages.iter().flat_map(|message| &message.blocks);
    let contents = blocks.filter(|block| block.r#type == "tool_result").filter_map(|it| it.content);
    let parts = contents.flat_map(|content| {
        serde_json::from_str::<Vec<ResultBlock>>(content.get()).unwrap_or_default()
    });
    let references = parts.filter(|part| part.r#type == "tool_reference");
    references.filter_map(|part| part.tool_name).collect()
}
