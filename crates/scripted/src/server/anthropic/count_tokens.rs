//! Counts the tokens of a Messages request.

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::{conversation_check, request_parser};
use crate::limits::CHARS_PER_TOKEN;
use crate::server::rejection::RequestRejection;
use crate::server::sse::to_json_line;

#[derive(Deserialize)]
struct CountTokensRequest<'a> {
    #[serde(borrow)]
    system: Option<&'a RawValue>,
    #[serde(borrow)]
    messages: Option<&'a RawValue>,
    #[serde(borrow)]
    tools: Option<&'a RawValue>,
}

#[derive(Serialize)]
struct CountTokensResponse {
    input_tokens: usize,
}

/// Estimates tokens by the characters of the JSON, so that the count grows with the request.
pub(in crate::server) fn count_tokens(body: &str) -> Result<String, RequestRejection> {
    conversation_check::check_messages(&request_parser::parse_messages(
        &request_parser::parse_body(body)?,
    )?)?;
    let counted: CountTokensRequest<'_> =
        serde_json::from_str(body).map_err(|error| RequestRejection::invalid(error.to_string()))?;
    let parts = [counted.system, counted.messages, counted.tools].into_iter().flatten();
    let chars: usize = parts.map(|part| part.get().chars().count()).sum();
    Ok(to_json_line(&CountTokensResponse {
        input_tokens: (chars / CHARS_PER_TOKEN).saturating_add(1),
    }))
}
