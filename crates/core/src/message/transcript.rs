//! The transcript: what the model sees. Segments are immutable and shared, so a clone costs nothing
//! and the next request is the last one plus what is new.
//!
//! A reply with calls can only enter together with a result for every call: a transcript that the
//! Messages API would reject cannot be built through these methods.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use imbl::Vector;
use serde::{Deserialize, Serialize};

use crate::context::BlockRewrite;
use crate::message::content_block::{BlockKind, ContentBlock};
use crate::message::history_message::{self, HistoryMessage};
use crate::message::prompt_texts;
use crate::message::raw_json::{RawJson, sha256_hex};

/// The transcript of a conversation up to its last complete round.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct Transcript {
    segments: Vector<TranscriptSegment>,
    bytes: u64,
    generation: u32,
    messages: u64,
}

/// A segment: blocks that entered the transcript at once.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct TranscriptSegment {
    /// Role of the segment.
    pub role: Role,
    /// Kind of the segment: decides where a compaction may cut.
    pub kind: SegmentKind,
    /// Blocks of the segment; never empty.
    pub blocks: Arc<[ContentBlock]>,
}

/// The role of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// The user, or the runtime on the user's side.
    User,
    /// The model.
    Assistant,
}

/// The kind of a segment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SegmentKind {
    /// A message of the user.
    Prompt,
    /// A note of the runtime on the user's side: a hint, a continuation.
    Note,
    /// The note that replaces messages which were removed.
    Summary,
    /// The journal as it was shown to the model, and the reply that it was read.
    Journal,
    /// Instructions found during the run: never summarised.
    Memory,
    /// A reply of the model.
    Reply,
    /// The results of the reply before it.
    Results,
}

/// A round is invalid: the results do not match the calls.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "{calls} tool calls but {results} matching results; every call needs exactly one result, in call order"
)]
pub struct UnpairedCalls {
    calls: usize,
    results: usize,
}

impl Transcript {
    /// Builds the transcript of messages that a command brings. A call without its result is left
    /// out, and so is a result without its call.
    #[must_use]
    pub fn from_history(messages: &[HistoryMessage]) -> Self {
        history_message::build_transcript(messages)
    }

    /// Takes the messages of another transcript, as a new generation.
    pub fn replace_with(&mut self, other: Self) {
        let generation = self.generation.saturating_add(1);
        *self = Self { generation, ..other };
    }

    /// Appends a message of the user. Blank blocks and tool blocks are dropped: the API rejects the
    /// first, and a user may not send the second.
    pub fn push_prompt(&mut self, blocks: &[ContentBlock]) {
        self.push(Role::User, SegmentKind::Prompt, sendable_blocks(blocks));
    }

    /// Appends a note of the runtime.
    pub fn push_note(&mut self, text: &str) {
        self.push(Role::User, SegmentKind::Note, sendable_blocks(&[ContentBlock::text(text)]));
    }

    /// Appends instructions that were found during the run. They survive every compaction.
    pub fn push_memory(&mut self, text: &str) {
        self.push(Role::User, SegmentKind::Memory, sendable_blocks(&[ContentBlock::text(text)]));
    }

    /// Removes the prompt that was just added and not yet sent.
    pub fn withdraw_prompt(&mut self) {
        if self.segments.back().is_some_and(|last| last.kind == SegmentKind::Prompt)
            && let Some(last) = self.segments.pop_back()
        {
            self.bytes = self.bytes.saturating_sub(last.byte_count());
            self.messages = self.messages.saturating_sub(1);
        }
    }

    /// Appends a reply without its calls; a reply with nothing else in it is not added.
    pub fn push_reply(&mut self, blocks: &[ContentBlock]) {
        self.push(
            Role::Assistant,
            SegmentKind::Reply,
            without_trailing_thinking(sendable_blocks(blocks)),
        );
    }

    /// Appends a reply and the results of its calls together. A round answers something: a
    /// transcript does not start with it.
    pub fn push_round(
        &mut self,
        reply: &[ContentBlock],
        results: Vec<ContentBlock>,
    ) -> Result<(), UnpairedCalls> {
        check_pairs(reply, &results)?;
        if self.segments.is_empty() {
            return Err(UnpairedCalls { calls: results.len(), results: 0 });
        }
        let fits = |block: &&ContentBlock| block.as_tool_use().is_some() || is_sendable(block);
        let reply = reply.iter().filter(fits).map(with_object_input).collect();
        self.push(Role::Assistant, SegmentKind::Reply, without_trailing_thinking(reply));
        self.push(Role::User, SegmentKind::Results, results);
        Ok(())
    }

    /// Appends the text of a reply that was cut off.
    pub fn push_partial_reply(&mut self, text: &str) {
        self.push_assistant(SegmentKind::Reply, &[ContentBlock::text(text)]);
    }

    /// Appends what stood on the model's side of another transcript, without calls.
    pub(super) fn push_assistant(&mut self, kind: SegmentKind, blocks: &[ContentBlock]) {
        let blocks = without_trailing_thinking(sendable_blocks(blocks));
        self.push(Role::Assistant, kind, blocks);
    }

    /// Appends what stood on the user's side of another transcript, without results.
    pub(super) fn push_user(&mut self, kind: SegmentKind, blocks: &[ContentBlock]) {
        self.push(Role::User, kind, sendable_blocks(blocks));
    }

    fn push(&mut self, role: Role, kind: SegmentKind, blocks: Vec<ContentBlock>) {
        if blocks.is_empty() || (role == Role::Assistant && self.segments.is_empty()) {
            return;
        }
        let segment = TranscriptSegment { role, kind, blocks: Arc::from(blocks) };
        self.bytes = self.bytes.saturating_add(segment.byte_count());
        self.segments.push_back(segment);
        self.messages = self.messages.saturating_add(1);
    }

    /// Returns the segments, oldest first.
    #[must_use]
    pub fn segments(&self) -> &Vector<TranscriptSegment> {
        &self.segments
    }

    /// Returns the bytes of all blocks, counted incrementally.
    #[must_use]
    pub fn byte_count(&self) -> u64 {
        self.bytes
    }

    /// Returns the number of messages that entered the transcript so far, also those that a
    /// compaction replaced.
    #[must_use]
    pub fn message_count(&self) -> u64 {
        self.messages
    }

    /// Returns the number of compactions so far. Within a generation the blocks only grow at the
    /// end.
    #[must_use]
    pub fn generation(&self) -> u32 {
        self.generation
    }

    /// Returns whether the last segment is a reply of the model.
    #[must_use]
    pub fn ends_in_reply(&self) -> bool {
        self.segments.back().is_some_and(|last| last.role == Role::Assistant)
    }

    /// Returns whether the last segment is this note of the runtime.
    #[must_use]
    pub fn ends_in_note(&self, text: &str) -> bool {
        let is_it = |last: &TranscriptSegment| {
            last.kind == SegmentKind::Note
                && last.blocks.iter().any(|block| block.as_text() == Some(text))
        };
        self.segments.back().is_some_and(is_it)
    }

    /// Returns whether a request can be made of the transcript: it is not empty, and a user's turn
    /// comes first.
    #[must_use]
    pub fn can_be_sent(&self) -> bool {
        self.segments.front().is_some_and(|first| first.role == Role::User)
    }

    /// Returns where a compaction may cut so that at least `messages` messages stay whole: the
    /// index of the first segment kept. `None` if there is nothing before it.
    #[must_use]
    pub fn cut_point(&self, messages: u32) -> Option<usize> {
        let mut seen = 0;
        let mut role = None;
        let mut cut = self.segments.len();
        for segment in self.segments.iter().rev() {
            if role != Some(segment.role) {
                role = Some(segment.role);
                seen += 1;
            }
            let cuttable_here =
                self.segments.get(cut).is_none_or(|s| s.kind != SegmentKind::Results);
            if seen > messages && cuttable_here {
                break;
            }
            cut -= 1;
        }
        (cut > 0).then_some(cut)
    }

    /// Returns the segments before `keep_from` that must survive a compaction word for word:
    /// instructions, and the last `prompts` messages of the user, unless they are kept anyway.
    #[must_use]
    pub fn protected_segments(&self, keep_from: usize, prompts: u32) -> Vec<usize> {
        let said = |segment: &&TranscriptSegment| segment.kind == SegmentKind::Prompt;
        let kept = self.segments.iter().skip(keep_from).filter(said).count();
        let due = usize::try_from(prompts).unwrap_or(usize::MAX).saturating_sub(kept);
        let places = || self.segments.iter().take(keep_from).enumerate();
        let asked =
            places().filter(|(_, segment)| segment.kind == SegmentKind::Prompt).map(|(at, _)| at);
        let asked: Vec<usize> = asked.collect();
        let last = asked.len().saturating_sub(due);
        let asked = asked.get(last..).unwrap_or_default();
        let instructs = |(at, segment): &(usize, &TranscriptSegment)| {
            segment.kind == SegmentKind::Memory || asked.contains(at)
        };
        places().filter(instructs).map(|(at, _)| at).collect()
    }

    /// Returns a hash over the segments at these indices.
    #[must_use]
    pub fn hash_segments(&self, places: &[usize]) -> String {
        let segments = places.iter().filter_map(|at| self.segments.get(*at));
        let texts: Vec<&str> = segments
            .flat_map(|segment| segment.blocks.iter().map(|block| block.raw().text()))
            .collect();
        sha256_hex(texts.join("\n").as_bytes())
    }

    /// Replaces everything before segment `keep_from` and starts a new generation: a note, the
    /// journal if there is one, the segments that survive word for word, and then the rest
    /// unchanged.
    pub fn compact(&mut self, keep_from: usize, note: &str, attached: &[usize], journal: &str) {
        let mut old = std::mem::take(&mut self.segments);
        // A note that replaces messages is not counted as a message.
        let messages = self.messages;
        let kept = old.split_off(keep_from.min(old.len()));
        self.bytes = 0;
        self.push(Role::User, SegmentKind::Summary, sendable_blocks(&[ContentBlock::text(note)]));
        self.push_journal(journal);
        for segment in attached.iter().filter_map(|at| old.get(*at)).chain(&kept) {
            // Two replies in a row would be joined into one that the model never gave.
            if segment.role == Role::Assistant && self.ends_in_reply() {
                self.push_note(prompt_texts::CONVERSATION_CONTINUES);
            }
            self.bytes = self.bytes.saturating_add(segment.byte_count());
            self.segments.push_back(segment.clone());
        }
        self.messages = messages;
        self.generation = self.generation.saturating_add(1);
    }

    /// Appends the journal, as shown to the model and read by it.
    pub fn push_journal(&mut self, journal: &str) {
        if !journal.is_empty() {
            self.push(
                Role::User,
                SegmentKind::Journal,
                sendable_blocks(&[ContentBlock::text(journal)]),
            );
            let read = sendable_blocks(&[ContentBlock::text(prompt_texts::JOURNAL_READ)]);
            self.push(Role::Assistant, SegmentKind::Journal, read);
        }
    }

    /// Returns the rewrites that remove all thinking blocks.
    #[must_use]
    pub fn thinking_removals(&self) -> Vec<BlockRewrite> {
        let mut rewrites = Vec::new();
        for (segment, at) in self.segments.iter().zip(0u32..) {
            for (block, index) in segment.blocks.iter().zip(0u32..) {
                if block.is_thinking() {
                    rewrites.push(BlockRewrite { segment: at, block: index, replacement: None });
                }
            }
        }
        rewrites
    }

    /// Changes or removes single blocks, and starts a new generation.
    pub fn rewrite(&mut self, rewrites: &[BlockRewrite]) {
        let mut at = rewrites.iter().peekable();
        let mut segments = Vector::new();
        for (index, segment) in (0u32..).zip(std::mem::take(&mut self.segments)) {
            let mut mine = Vec::new();
            while let Some(rewrite) = at.next_if(|rewrite| rewrite.segment == index) {
                mine.push(rewrite);
            }
            segments.extend(rewrite_segment(segment, &mine));
        }
        self.bytes = segments.iter().map(TranscriptSegment::byte_count).sum();
        self.segments = segments;
        self.generation = self.generation.saturating_add(1);
    }
}

/// Returns a segment with some of its blocks changed; nothing if none is left.
fn rewrite_segment(
    segment: TranscriptSegment,
    rewrites: &[&BlockRewrite],
) -> Option<TranscriptSegment> {
    if rewrites.is_empty() {
        return Some(segment);
    }
    let change = |(index, block): (u32, &ContentBlock)| {
        let rewrite = rewrites.iter().find(|rewrite| rewrite.block == index);
        rewrite.map_or_else(|| Some(block.clone()), |rewrite| rewrite.replacement.clone())
    };
    let blocks: Vec<ContentBlock> =
        (0u32..).zip(segment.blocks.iter()).filter_map(change).collect();
    (!blocks.is_empty()).then(|| TranscriptSegment { blocks: Arc::from(blocks), ..segment })
}

impl TranscriptSegment {
    fn byte_count(&self) -> u64 {
        self.blocks.iter().map(|block| block.raw().text().len() as u64).sum()
    }
}

fn sendable_blocks(blocks: &[ContentBlock]) -> Vec<ContentBlock> {
    blocks.iter().filter(|block| is_sendable(block)).cloned().collect()
}

/// Returns whether a block may be sent. Malformed blocks would make the API reject every later
/// request; they stay in the log only.
fn is_sendable(block: &ContentBlock) -> bool {
    match block.kind() {
        BlockKind::Text(_) => !block.is_blank(),
        BlockKind::Other(_) => !block.is_malformed(),
        BlockKind::ToolUse(_) | BlockKind::ToolResult { .. } => false,
    }
}

/// Returns the block with an object as input: the API accepts only objects as arguments. A call
/// with anything else gets an error result and is not run; what the model sent stays in the log.
fn with_object_input(block: &ContentBlock) -> ContentBlock {
    match block.as_tool_use() {
        Some(call) if !call.input.is_object() => ContentBlock::tool_use(
            &call.id,
            &call.name,
            &RawJson::encode(&BTreeMap::<&str, ()>::new()),
        ),
        Some(_) | None => block.clone(),
    }
}

/// Removes trailing thinking: the API rejects an assistant message that ends in thinking.
fn without_trailing_thinking(mut blocks: Vec<ContentBlock>) -> Vec<ContentBlock> {
    while blocks.last().is_some_and(ContentBlock::is_thinking) {
        blocks.pop();
    }
    blocks
}

fn check_pairs(reply: &[ContentBlock], results: &[ContentBlock]) -> Result<(), UnpairedCalls> {
    let calls = || reply.iter().filter_map(ContentBlock::as_tool_use);
    let answers = |(call, result): (&crate::message::content_block::ToolUse, &ContentBlock)| matches!(result.kind(), BlockKind::ToolResult { tool_use_id } if *tool_use_id == call.id);
    let unpaired = UnpairedCalls { calls: calls().count(), results: results.len() };
    let ids: BTreeSet<&str> = calls().map(|call| &*call.id).collect();
    let unique = ids.len() == calls().count();
    let fits = unique && ids.len() == results.len() && calls().zip(results).all(answers);
    if fits { Ok(()) } else { Err(unpaired) }
}
