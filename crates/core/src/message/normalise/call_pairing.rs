//! Pairs calls and results of imported turns: every call gets its result, every result its call.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde::Deserialize;
use serde_json::value::RawValue;

use super::HistoryRepair;
use super::message_reader::ForeignTurn;
use crate::call::outcome::CallResult;
use crate::message::content_block::{BlockKind, ContentBlock};
use crate::message::prompt_texts;
use crate::message::transcript::{Role, Transcript};

pub(super) fn pair_calls(turns: Vec<ForeignTurn>, repairs: &mut Vec<HistoryRepair>) -> Transcript {
    let mut transcript = Transcript::default();
    let mut open = OpenTurn::default();
    for turn in turns {
        match turn.role {
            Role::Assistant => {
                close_turn(&mut transcript, std::mem::take(&mut open), Vec::new(), repairs);
                open = open_turn(&mut transcript, turn, repairs);
            }
            Role::User => {
                close_turn(&mut transcript, std::mem::take(&mut open), turn.blocks, repairs);
            }
        }
    }
    close_turn(&mut transcript, open, Vec::new(), repairs);
    transcript
}

/// A turn of the model that waits for the turn with its results.
#[derive(Default)]
struct OpenTurn {
    blocks: Vec<ContentBlock>,
    /// The calls in order, with the message each came in.
    calls: Vec<(usize, Arc<str>)>,
}

fn open_turn(
    transcript: &mut Transcript,
    turn: ForeignTurn,
    repairs: &mut Vec<HistoryRepair>,
) -> OpenTurn {
    let first = turn.blocks.first().map_or(0, |(at, _)| *at);
    let mut open = OpenTurn::default();
    let mut seen = BTreeSet::new();
    for (at, block) in without_trailing_thinking(turn.blocks, repairs) {
        match block.kind() {
            BlockKind::ToolUse(call) if !seen.insert(call.id.clone()) => {
                repairs.push(HistoryRepair::CallDropped { at, id: call.id.clone() });
            }
            BlockKind::ToolUse(call) => {
                open.calls.push((at, call.id.clone()));
                open.blocks.push(block);
            }
            BlockKind::ToolResult { .. } => open.blocks.push(as_text_block(at, &block, repairs)),
            BlockKind::Text(_) | BlockKind::Other(_) => open.blocks.push(block),
        }
    }
    if transcript.segments().is_empty() && !open.blocks.is_empty() {
        repairs.push(HistoryRepair::NoteInserted { at: first });
        transcript.push_note(prompt_texts::BEGINS_WITH_REPLY);
    }
    open
}

fn without_trailing_thinking(
    mut blocks: Vec<(usize, ContentBlock)>,
    repairs: &mut Vec<HistoryRepair>,
) -> Vec<(usize, ContentBlock)> {
    while let Some((at, _)) = blocks.pop_if(|(_, block)| block.is_thinking()) {
        repairs.push(HistoryRepair::ThinkingDropped { at });
    }
    blocks
}

/// Adds the model's turn with its results out of `answer`, then the rest of `answer`.
fn close_turn(
    transcript: &mut Transcript,
    open: OpenTurn,
    answer: Vec<(usize, ContentBlock)>,
    repairs: &mut Vec<HistoryRepair>,
) {
    let moved_at = misplaced_results_at(&open, &answer);
    let (mut results, said) = split_results(&open, answer, repairs);
    repairs.extend(moved_at.map(|at| HistoryRepair::ResultsMoved { at }));
    if open.calls.is_empty() {
        transcript.push_reply(&open.blocks);
    } else {
        let mut result = |(at, id): &(usize, Arc<str>)| {
            results.remove(id).unwrap_or_else(|| missing_result(*at, id, repairs))
        };
        let results = open.calls.iter().map(&mut result).collect();
        // Every call has its result and the ids are unique: the round is valid.
        let _ = transcript.push_round(&open.blocks, results);
    }
    transcript.push_prompt(&said);
}

/// Splits results of open calls from all other blocks.
fn split_results(
    open: &OpenTurn,
    answer: Vec<(usize, ContentBlock)>,
    repairs: &mut Vec<HistoryRepair>,
) -> (BTreeMap<Arc<str>, ContentBlock>, Vec<ContentBlock>) {
    let mut results = BTreeMap::new();
    let mut said = Vec::new();
    for (at, block) in answer {
        match block.kind() {
            BlockKind::ToolResult { tool_use_id: id } if results.contains_key(id) => {
                repairs.push(HistoryRepair::ResultDropped { at, id: id.clone() });
            }
            BlockKind::ToolResult { tool_use_id: id }
                if open.calls.iter().any(|(_, call)| call == id) =>
            {
                results.insert(id.clone(), block.clone());
            }
            BlockKind::ToolResult { .. } | BlockKind::ToolUse(_) => {
                said.push(as_text_block(at, &block, repairs));
            }
            BlockKind::Text(_) | BlockKind::Other(_) => said.push(block),
        }
    }
    (results, said)
}

/// Returns where results of open calls are not first or not in call order.
fn misplaced_results_at(open: &OpenTurn, answer: &[(usize, ContentBlock)]) -> Option<usize> {
    let place = |block: &ContentBlock| match block.kind() {
        BlockKind::ToolResult { tool_use_id: id } => {
            open.calls.iter().position(|(_, call)| call == id)
        }
        BlockKind::ToolUse(_) | BlockKind::Text(_) | BlockKind::Other(_) => None,
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

/// Creates the result of a call that has none: interrupted, effects unknown.
fn missing_result(at: usize, id: &Arc<str>, repairs: &mut Vec<HistoryRepair>) -> ContentBlock {
    repairs.push(HistoryRepair::ResultAdded { at, id: id.clone() });
    let unknown = CallResult::from_missing_record();
    ContentBlock::tool_result(id, &unknown.content, unknown.error_flag)
}

#[derive(Deserialize)]
struct ResultContent<'a> {
    #[serde(borrow, default)]
    content: Option<&'a RawValue>,
}

/// Converts a tool block that is not allowed here to text that says what it was.
fn as_text_block(
    at: usize,
    block: &ContentBlock,
    repairs: &mut Vec<HistoryRepair>,
) -> ContentBlock {
    match block.kind() {
        BlockKind::ToolUse(call) => {
            repairs.push(HistoryRepair::CallMadeText { at, id: call.id.clone() });
            ContentBlock::text(&format!("[call of {}: {}]", call.name, call.input.text()))
        }
        BlockKind::ToolResult { tool_use_id } => {
            repairs.push(HistoryRepair::ResultMadeText { at, id: tool_use_id.clone() });
            ContentBlock::text(&format!("[result of {tool_use_id}: {}]", content_text(block)))
        }
        BlockKind::Text(_) | BlockKind::Other(_) => block.clone(),
    }
}

fn content_text(block: &ContentBlock) -> String {
    let content = block.raw().read::<ResultContent<'_>>().ok().and_then(|result| result.content);
    let Some(content) = content else { return String::new() };
    serde_json::from_str(content.get()).unwrap_or_else(|_| content.get().to_owned())
}
