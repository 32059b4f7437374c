//! Reads imported messages from JSON into turns: roles, and blocks that are well-formed.

use std::borrow::Cow;
use std::sync::Arc;

use serde::Deserialize;
use serde_json::value::RawValue;

use super::{Error, HistoryRepair};
use crate::message::content_block::{BlockKind, ContentBlock};
use crate::message::raw_json::RawJson;
use crate::message::transcript::Role;

/// Neighbouring messages of the same role.
pub(super) struct ForeignTurn {
    pub(super) role: Role,
    /// Each block with the message it came in.
    pub(super) blocks: Vec<(usize, ContentBlock)>,
}

/// A message as it may be imported: bare, or in the envelope of an SDK's transcript.
#[derive(Deserialize)]
struct ForeignMessage<'a> {
    #[serde(borrow, default)]
    role: Option<&'a RawValue>,
    #[serde(borrow, default)]
    content: Option<&'a RawValue>,
    #[serde(borrow, default)]
    message: Option<&'a RawValue>,
}

pub(super) fn read_turns(
    history: &str,
    repairs: &mut Vec<HistoryRepair>,
) -> Result<Vec<ForeignTurn>, Error> {
    let not_json = |error: serde_json::Error| Error::NotJson { reason: error.to_string() };
    let whole: &RawValue = serde_json::from_str(history).map_err(not_json)?;
    let messages: Vec<&RawValue> =
        serde_json::from_str(whole.get()).map_err(|_| Error::NotAnArray)?;
    let mut turns: Vec<ForeignTurn> = Vec::new();
    for (at, message) in messages.into_iter().enumerate() {
        let Some((role, blocks)) = read_message(at, message, repairs) else { continue };
        let blocks = blocks.into_iter().map(|block| (at, block));
        match turns.last_mut() {
            Some(last) if last.role == role => {
                repairs.push(HistoryRepair::Joined { at });
                last.blocks.extend(blocks);
            }
            Some(_) | None => turns.push(ForeignTurn { role, blocks: blocks.collect() }),
        }
    }
    Ok(turns)
}

/// Reads one message; `None` if it contains nothing to keep.
fn read_message(
    at: usize,
    raw: &RawValue,
    repairs: &mut Vec<HistoryRepair>,
) -> Option<(Role, Vec<ContentBlock>)> {
    let outer = parse_message(raw);
    let bare = outer.as_ref().is_some_and(|outer| outer.role.is_some());
    let inner = outer.as_ref().filter(|_| !bare).and_then(|outer| parse_message(outer.message?));
    let Some(message) = inner.or(outer) else {
        repairs.push(HistoryRepair::NotAMessage { at });
        return None;
    };
    let blocks = read_blocks(at, message.content, repairs);
    if blocks.is_empty() {
        repairs.push(HistoryRepair::NoContent { at });
        return None;
    }
    Some((read_role(at, message.role, repairs), blocks))
}

/// Parses a message. serde reads an array as a struct, field by field; a message is an object.
fn parse_message(raw: &RawValue) -> Option<ForeignMessage<'_>> {
    serde_json::from_str(raw.get()).ok().filter(|_| raw.get().starts_with('{'))
}

fn read_role(at: usize, raw: Option<&RawValue>, repairs: &mut Vec<HistoryRepair>) -> Role {
    let name = raw.and_then(|raw| serde_json::from_str::<Cow<'_, str>>(raw.get()).ok());
    match name.as_deref() {
        Some("user") => Role::User,
        Some("assistant") => Role::Assistant,
        other => {
            repairs
                .push(HistoryRepair::RoleMadeUser { at, role: Arc::from(other.unwrap_or("none")) });
            Role::User
        }
    }
}

fn read_blocks(
    at: usize,
    content: Option<&RawValue>,
    repairs: &mut Vec<HistoryRepair>,
) -> Vec<ContentBlock> {
    let Some(content) = content else { return Vec::new() };
    if let Ok(items) = serde_json::from_str::<Vec<&RawValue>>(content.get()) {
        return items.into_iter().filter_map(|item| read_block(at, item, repairs)).collect();
    }
    read_block(at, content, repairs).into_iter().collect()
}

fn read_block(at: usize, raw: &RawValue, repairs: &mut Vec<HistoryRepair>) -> Option<ContentBlock> {
    let block = if raw.get().starts_with('"') {
        repairs.push(HistoryRepair::TextMadeBlock { at });
        text_block(raw)?
    } else {
        ContentBlock::new(RawJson::parse(raw.get()).ok()?)
    };
    let repair = match block.kind() {
        BlockKind::Text(_) if block.is_blank() => HistoryRepair::BlankDropped { at },
        BlockKind::Other(_) if block.is_malformed() => HistoryRepair::MalformedDropped { at },
        BlockKind::Text(_)
        | BlockKind::ToolUse(_)
        | BlockKind::ToolResult { .. }
        | BlockKind::Other(_) => {
            return Some(block);
        }
    };
    repairs.push(repair);
    None
}

/// Returns a text block around a JSON string, whose spelling is kept.
fn text_block(string: &RawValue) -> Option<ContentBlock> {
    let raw = RawJson::parse(format!(r#"{{"type":"text","text":{}}}"#, string.get())).ok()?;
    Some(ContentBlock::new(raw))
}

/// Returns whether brackets outside of strings are nested more than `limit` deep. Looks at each
/// byte once and builds nothing, so that depth can do no harm.
pub(super) fn is_deeper_than(json: &str, limit: usize) -> bool {
    let mut depth = 0_usize;
    let mut bytes = json.bytes();
    while let Some(byte) = bytes.next() {
        match byte {
            b'[' | b'{' => depth += 1,
            b']' | b'}' => depth = depth.saturating_sub(1),
            b'"' => skip_string(&mut bytes),
            _ => {}
        }
        if depth > limit {
            return true;
        }
    }
    false
}

fn skip_string(bytes: &mut std::str::Bytes<'_>) {
    while let Some(byte) = bytes.next() {
        match byte {
            b'"' => return,
            b'\\' => drop(bytes.next()),
            _ => {}
        }
    }
}
