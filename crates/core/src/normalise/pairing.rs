//! From turns to a transcript: every call with its result, every result with its call.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde::Deserialize;
use serde_json::value::RawValue;

use super::Repair;
use super::reading::Turn;
use crate::block::{Block, Kind};
use crate::outcome::Shown;
use crate::transcript::{Role, Transcript};
use crate::words;

pub(super) fn paired(turns: Vec<Turn>, repairs: &mut Vec<Repair>) -> Transcript {
    let mut transcript = Transcript::default();
    let mut open = Open::default();
    for turn in turns {
        match turn.role {
            Role::Assistant => {
                close(&mut transcript, std::mem::take(&mut open), Vec::new(), repairs);
                open = begin(&mut transcript, turn, repairs);
            }
            Role::User => close(&mut transcript, std::mem::take(&mut open), turn.blocks, repairs),
        }
    }
    close(&mut transcript, open, Vec::new(), repairs);
    transcript
}

/// The model's turn, waiting for the one that answers it.
#[derive(Default)]
struct Open {
    blocks: Vec<Block>,
    /// Its calls in order, with the message each came in.
    calls: Vec<(usize, Arc<str>)>,
}

fn begin(transcript: &mut Transcript, turn: Turn, repairs: &mut Vec<Repair>) -> Open {
    let first = turn.blocks.first().map_or(0, |(at, _)| *at);
    let mut open = Open::default();
    let mut seen = BTreeSet::new();
    for (at, block) in without_trailing_thoughts(turn.blocks, repairs) {
        match block.kind() {
            Kind::ToolUse(call) if !seen.insert(call.id.clone()) => {
                repairs.push(Repair::CallDropped { at, id: call.id.clone() });
            }
            Kind::ToolUse(call) => {
                open.calls.push((at, call.id.clone()));
                open.blocks.push(block);
            }
            Kind::ToolResult { .. } => open.blocks.push(stray(at, &block, repairs)),
            Kind::Text(_) | Kind::Other(_) => open.blocks.push(block),
        }
    }
    if transcript.segments().is_empty() && !open.blocks.is_empty() {
        repairs.push(Repair::NotePut { at: first });
        transcript.push_note(words::BEGINS_WITH_REPLY);
    }
    open
}

fn without_trailing_thoughts(
    mut blocks: Vec<(usize, Block)>,
    repairs: &mut Vec<Repair>,
) -> Vec<(usize, Block)> {
    while let Some((at, _)) = blocks.pop_if(|(_, block)| block.is_thought()) {
        repairs.push(Repair::ThoughtDropped { at });
    }
    blocks
}

/// The model's turn enters, with its results out of `answer`; then what else was said.
fn close(
    transcript: &mut Transcript,
    open: Open,
    answer: Vec<(usize, Block)>,
    repairs: &mut Vec<Repair>,
) {
    let moved_at = misplaced(&open, &answer);
    let (mut results, said) = sorted(&open, answer, repairs);
    repairs.extend(moved_at.map(|at| Repair::ResultsMoved { at }));
    if open.calls.is_empty() {
        transcript.push_reply(&open.blocks);
    } else {
        let mut result = |(at, id): &(usize, Arc<str>)| {
            results.remove(id).unwrap_or_else(|| made(*at, id, repairs))
        };
        let results = open.calls.iter().map(&mut result).collect();
        // Every call has its result and the ids are unique: it fits.
        let _ = transcript.push_round(&open.blocks, results);
    }
    transcript.push_prompt(&said);
}

/// Parts results of open calls from everything else that was said.
fn sorted(
    open: &Open,
    answer: Vec<(usize, Block)>,
    repairs: &mut Vec<Repair>,
) -> (BTreeMap<Arc<str>, Block>, Vec<Block>) {
    let mut results = BTreeMap::new();
    let mut said = Vec::new();
    for (at, block) in answer {
        match block.kind() {
            Kind::ToolResult { tool_use_id: id } if results.contains_key(id) => {
                repairs.push(Repair::ResultDropped { at, id: id.clone() });
            }
            Kind::ToolResult { tool_use_id: id }
                if open.calls.iter().any(|(_, call)| call == id) =>
            {
                results.insert(id.clone(), block.clone());
            }
            Kind::ToolResult { .. } | Kind::ToolUse(_) => said.push(stray(at, &block, repairs)),
            Kind::Text(_) | Kind::Other(_) => said.push(block),
        }
    }
    (results, said)
}

/// Where results of open calls are not first or not in call order.
fn misplaced(open: &Open, answer: &[(usize, Block)]) -> Option<usize> {
    let place = |block: &Block| match block.kind() {
        Kind::ToolResult { tool_use_id: id } => open.calls.iter().position(|(_, call)| call == id),
        Kind::ToolUse(_) | Kind::Text(_) | Kind::Other(_) => None,
    };
    let places: Vec<(usize, Option<usize>)> =
        answer.iter().map(|(at, block)| (*at, place(block))).collect();
    let before = |pair: &[(usize, Option<usize>)]| match pair {
        [(_, Some(a)), (at, Some(b))] if a > b => Some(*at),
        [(_, None), (at, Some(_))] => Some(*at),
        _ => None,
    };
    places.windows(2).find_map(before)
}

/// A result for a call that has none: the truth, which is that nobody knows.
fn made(at: usize, id: &Arc<str>, repairs: &mut Vec<Repair>) -> Block {
    repairs.push(Repair::ResultMade { at, id: id.clone() });
    let unknown = Shown::unrecorded();
    Block::tool_result(id, &unknown.content, unknown.flag)
}

#[derive(Deserialize)]
struct Content<'a> {
    #[serde(borrow, default)]
    content: Option<&'a RawValue>,
}

/// A tool block where none may stand, as text that says what it was.
fn stray(at: usize, block: &Block, repairs: &mut Vec<Repair>) -> Block {
    match block.kind() {
        Kind::ToolUse(call) => {
            repairs.push(Repair::CallMadeText { at, id: call.id.clone() });
            Block::text(&format!("[call of {}: {}]", call.name, call.input.text()))
        }
        Kind::ToolResult { tool_use_id } => {
            repairs.push(Repair::ResultMadeText { at, id: tool_use_id.clone() });
            Block::text(&format!("[result of {tool_use_id}: {}]", content_text(block)))
        }
        Kind::Text(_) | Kind::Other(_) => block.clone(),
    }
}

fn content_text(block: &Block) -> String {
    let content = block.raw().read::<Content<'_>>().ok().and_then(|result| result.content);
    let Some(content) = content else { return String::new() };
    serde_json::from_str(content.get()).unwrap_or_else(|_| content.get().to_owned())
}
