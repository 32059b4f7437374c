//! One output item becomes blocks and calls.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::value::RawValue;
use windlass_core::block::Block;
use windlass_runtime::ports::Stream;

use crate::asked::Asked;
use crate::draft::{Call, Draft};
use crate::fault::Fault;
use crate::foreign;
use crate::lossless;
use crate::stops::StopWatch;

/// An item, as far as it is looked at.
#[derive(Debug, Deserialize)]
pub(super) struct Item<'a> {
    #[serde(borrow, rename = "type", default)]
    pub(super) kind: Cow<'a, str>,
    #[serde(borrow)]
    pub(super) call_id: Option<Cow<'a, str>>,
    #[serde(borrow)]
    pub(super) name: Option<Cow<'a, str>>,
    #[serde(borrow)]
    pub(super) arguments: Option<&'a RawValue>,
    #[serde(borrow)]
    content: Option<&'a RawValue>,
    #[serde(borrow)]
    summary: Option<&'a RawValue>,
}

#[derive(Debug, Deserialize)]
struct Part<'a> {
    #[serde(borrow)]
    text: Option<&'a RawValue>,
    #[serde(borrow)]
    refusal: Option<&'a RawValue>,
}

/// What an item turned out to be.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Found {
    pub(super) refused: bool,
    pub(super) stop: Option<std::sync::Arc<str>>,
}

/// Reads an item.
pub(super) fn item(raw: &RawValue) -> Option<Item<'_>> {
    serde_json::from_str(raw.get()).ok()
}

/// Puts a complete item into the draft.
pub(super) fn settle(
    raw: &RawValue,
    asked: &Asked,
    (draft, watch): (&mut Draft, &StopWatch),
    stream: &dyn Stream,
) -> Result<Found, Fault> {
    let item = item(raw).ok_or_else(|| Fault::Malformed("an item that is no object".to_owned()))?;
    match item.kind.as_ref() {
        "message" => message(&item, draft, watch, stream),
        "function_call" => {
            let arguments = item.arguments.and_then(lossless::text).unwrap_or_default();
            let call = call(&item, asked, draft, arguments.into_owned());
            draft.call(call, stream).map(|()| Found::default())
        }
        "reasoning" => {
            let block = foreign::thought_item(&thoughts(&item), &asked.model, raw.get());
            add(block, draft, stream)
        }
        _ => add(foreign::other_item(&asked.model, raw.get()), draft, stream),
    }
}

fn add(block: Option<Block>, draft: &mut Draft, stream: &dyn Stream) -> Result<Found, Fault> {
    match block {
        Some(block) => draft.block(block, stream).map(|()| Found::default()),
        None => Ok(Found::default()),
    }
}

/// A call; where the server gives no id, one is minted.
pub(super) fn call(item: &Item<'_>, asked: &Asked, draft: &Draft, arguments: String) -> Call {
    let id = item.call_id.as_deref().filter(|id| !id.is_empty()).map(str::to_owned);
    let id = id.unwrap_or_else(|| format!("call_{}_{}", asked.ask, draft.len()));
    Call::new(&id, item.name.as_deref().unwrap_or_default(), arguments)
}

fn message(
    item: &Item<'_>,
    draft: &mut Draft,
    watch: &StopWatch,
    stream: &dyn Stream,
) -> Result<Found, Fault> {
    let mut found = Found::default();
    for part in parts(item.content) {
        let refusal = part.refusal.and_then(lossless::text);
        found.refused |= refusal.is_some();
        let text = part.text.and_then(lossless::text).or(refusal).unwrap_or_default();
        let (text, stop) = match watch.cut(&text) {
            Some((before, stop)) => (Cow::Owned(before.to_owned()), Some(stop)),
            None => (text, None),
        };
        if !text.is_empty() {
            draft.block(Block::text(&text), stream)?;
        }
        if stop.is_some() {
            found.stop = stop;
            break;
        }
    }
    Ok(found)
}

/// The summary, or the reasoning itself where it is open.
fn thoughts(item: &Item<'_>) -> String {
    let parts = parts(item.summary).into_iter().chain(parts(item.content));
    let texts: Vec<Cow<'_, str>> =
        parts.filter_map(|part| part.text).filter_map(lossless::text).collect();
    texts.join("\n\n")
}

fn parts(list: Option<&RawValue>) -> Vec<Part<'_>> {
    list.and_then(|list| serde_json::from_str(list.get()).ok()).unwrap_or_default()
}
