//! Counting the tokens of a request.

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::super::refusal::Refusal;
use super::super::sse::json;
use super::{check, request};

#[derive(Deserialize)]
struct Counted<'a> {
    #[serde(borrow)]
    system: Option<&'a RawValue>,
    #[serde(borrow)]
    messages: Option<&'a RawValue>,
    #[serde(borrow)]
    tools: Option<&'a RawValue>,
}

#[derive(Serialize)]
struct Count {
    input_tokens: usize,
}

/// About four characters of JSON to a token: an estimate that grows with the request.
pub(in super::super) fn count_tokens(body: &str) -> Result<String, Refusal> {
    check::check(&request::messages(&request::parse(body)?)?)?;
    let counted: Counted<'_> =
        serde_json::from_str(body).map_err(|error| Refusal::invalid(error.to_string()))?;
    let parts = [counted.system, counted.messages, counted.tools].into_iter().flatten();
    let chars: usize = parts.map(|part| part.get().chars().count()).sum();
    Ok(json(&Count { input_tokens: (chars / 4).saturating_add(1) }))
}
