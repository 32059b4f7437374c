//! From JSON to turns: who speaks, and which blocks are fit to be looked at.

use std::borrow::Cow;
use std::sync::Arc;

use serde::Deserialize;
use serde_json::value::RawValue;

use super::{Error, Repair};
use crate::block::{Block, Kind};
use crate::raw::Raw;
use crate::transcript::Role;

/// Neighbouring messages of one role.
pub(super) struct Turn {
    pub(super) role: Role,
    /// Each block with the message it came in.
    pub(super) blocks: Vec<(usize, Block)>,
}

/// A message as it may come: bare, or in the envelope of an SDK's transcript.
#[derive(Deserialize)]
struct Foreign<'a> {
    #[serde(borrow, default)]
    role: Option<&'a RawValue>,
    #[serde(borrow, default)]
    content: Option<&'a RawValue>,
    #[serde(borrow, default)]
    message: Option<&'a RawValue>,
}

pub(super) fn turns(history: &str, repairs: &mut Vec<Repair>) -> Result<Vec<Turn>, Error> {
    let not_json = |error: serde_json::Error| Error::NotJson { reason: error.to_string() };
    let whole: &RawValue = serde_json::from_str(history).map_err(not_json)?;
    let messages: Vec<&RawValue> =
        serde_json::from_str(whole.get()).map_err(|_| Error::NotAnArray)?;
    let mut turns: Vec<Turn> = Vec::new();
    for (at, message) in messages.into_iter().enumerate() {
        let Some((role, blocks)) = read(at, message, repairs) else { continue };
        let blocks = blocks.into_iter().map(|block| (at, block));
        match turns.last_mut() {
            Some(last) if last.role == role => {
                repairs.push(Repair::Joined { at });
                last.blocks.extend(blocks);
            }
            Some(_) | None => turns.push(Turn { role, blocks: blocks.collect() }),
        }
    }
    Ok(turns)
}

/// `None` for what holds nothing to keep.
fn read(at: usize, raw: &RawValue, repairs: &mut Vec<Repair>) -> Option<(Role, Vec<Block>)> {
    let outer = foreign(raw);
    let bare = outer.as_ref().is_some_and(|outer| outer.role.is_some());
    let inner = outer.as_ref().filter(|_| !bare).and_then(|outer| foreign(outer.message?));
    let Some(message) = inner.or(outer) else {
        repairs.push(Repair::NotAMessage { at });
        return None;
    };
    let blocks = blocks(at, message.content, repairs);
    if blocks.is_empty() {
        repairs.push(Repair::NoContent { at });
        return None;
    }
    Some((role(at, message.role, repairs), blocks))
}

/// serde reads an array as a struct, field by field; a message is an object.
fn foreign(raw: &RawValue) -> Option<Foreign<'_>> {
    serde_json::from_str(raw.get()).ok().filter(|_| raw.get().starts_with('{'))
}

fn role(at: usize, raw: Option<&RawValue>, repairs: &mut Vec<Repair>) -> Role {
    let name = raw.and_then(|raw| serde_json::from_str::<Cow<'_, str>>(raw.get()).ok());
    match name.as_deref() {
        Some("user") => Role::User,
        Some("assistant") => Role::Assistant,
        other => {
            repairs.push(Repair::RoleMadeUser { at, role: Arc::from(other.unwrap_or("none")) });
            Role::User
        }
    }
}

fn blocks(at: usize, content: Option<&RawValue>, repairs: &mut Vec<Repair>) -> Vec<Block> {
    let Some(content) = content else { return Vec::new() };
    if let Ok(items) = serde_json::from_str::<Vec<&RawValue>>(content.get()) {
        return items.into_iter().filter_map(|item| block(at, item, repairs)).collect();
    }
    block(at, content, repairs).into_iter().collect()
}

fn block(at: usize, raw: &RawValue, repairs: &mut Vec<Repair>) -> Option<Block> {
    let block = if raw.get().starts_with('"') {
        repairs.push(Repair::TextMadeBlock { at });
        text_of(raw)?
    } else {
        Block::new(Raw::parse(raw.get()).ok()?)
    };
    let repair = match block.kind() {
        Kind::Text(_) if block.is_blank() => Repair::BlankDropped { at },
        Kind::Other(_) if block.is_broken() => Repair::BrokenDropped { at },
        Kind::Text(_) | Kind::ToolUse(_) | Kind::ToolResult { .. } | Kind::Other(_) => {
            return Some(block);
        }
    };
    repairs.push(repair);
    None
}

/// The text block around a JSON string, whose spelling stays as it is.
fn text_of(string: &RawValue) -> Option<Block> {
    let raw = Raw::parse(format!(r#"{{"type":"text","text":{}}}"#, string.get())).ok()?;
    Some(Block::new(raw))
}

/// Whether brackets outside of strings are nested more than `limit` deep. Looks at each byte once
/// and builds nothing, so that depth can do no harm.
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
