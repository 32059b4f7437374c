//! What the model sees. Segments are immutable and shared, so a clone costs nothing and the next
//! request is the last one plus what is new.
//!
//! A reply with calls can only enter together with a result for every call: a transcript that the
//! Messages API would refuse cannot be built through these methods.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use imbl::Vector;

use crate::block::{Block, Kind};
use crate::raw::{Raw, sha256_hex};
use crate::window::Rewrite;
use crate::words;

/// A conversation as far as it is settled.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct Transcript {
    segments: Vector<Segment>,
    bytes: u64,
    generation: u32,
    messages: u64,
}

/// Something that entered the transcript at once.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Segment {
    /// Who speaks.
    pub role: Role,
    /// What kind of thing it is: decides where a compaction may cut.
    pub part: Part,
    /// Its blocks; never empty.
    pub blocks: Arc<[Block]>,
}

/// Who speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Role {
    /// The user, or the runtime on the user's side.
    User,
    /// The model.
    Assistant,
}

/// What a segment is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Part {
    /// What a person said.
    Prompt,
    /// What the runtime said on the user's side: a nudge, a continuation.
    Note,
    /// What stands in the place of messages that were left out.
    Summary,
    /// The journal as the model was shown it, and that it was read.
    Journal,
    /// Instructions found on the way: never summarised.
    Memory,
    /// What the model said.
    Reply,
    /// The results of the reply before it.
    Results,
}

/// A round did not fit: the results are not those of the calls.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{calls} calls but {results} matching results; answer every call once, in call order")]
pub struct Unpaired {
    calls: usize,
    results: usize,
}

impl Transcript {
    /// Appends what a person said. Blank blocks and tool blocks are left out: the first are refused
    /// by the API, the second are not a person's to send.
    pub fn push_prompt(&mut self, blocks: &[Block]) {
        self.push(Role::User, Part::Prompt, speech(blocks));
    }

    /// Appends a sentence of the runtime.
    pub fn push_note(&mut self, text: &str) {
        self.push(Role::User, Part::Note, speech(&[Block::text(text)]));
    }

    /// Appends instructions that were found on the way. They outlive every compaction.
    pub fn push_memory(&mut self, text: &str) {
        self.push(Role::User, Part::Memory, speech(&[Block::text(text)]));
    }

    /// Takes back the prompt that was just said and that nobody has read.
    pub fn withdraw_prompt(&mut self) {
        if self.segments.back().is_some_and(|last| last.part == Part::Prompt)
            && let Some(last) = self.segments.pop_back()
        {
            self.bytes = self.bytes.saturating_sub(last.bytes());
            self.messages = self.messages.saturating_sub(1);
        }
    }

    /// Appends a reply without its calls; a reply with nothing else in it leaves no trace.
    pub fn push_reply(&mut self, blocks: &[Block]) {
        self.push(Role::Assistant, Part::Reply, without_trailing_thought(speech(blocks)));
    }

    /// Appends a reply and the results of its calls, as one. It answers something: a transcript
    /// does not begin with it.
    pub fn push_round(&mut self, reply: &[Block], results: Vec<Block>) -> Result<(), Unpaired> {
        pair(reply, &results)?;
        if self.segments.is_empty() {
            return Err(Unpaired { calls: results.len(), results: 0 });
        }
        let fits = |block: &&Block| block.as_tool_use().is_some() || is_speech(block);
        let reply = reply.iter().filter(fits).map(with_object_input).collect();
        self.push(Role::Assistant, Part::Reply, without_trailing_thought(reply));
        self.push(Role::User, Part::Results, results);
        Ok(())
    }

    fn push(&mut self, role: Role, part: Part, blocks: Vec<Block>) {
        if blocks.is_empty() || (role == Role::Assistant && self.segments.is_empty()) {
            return;
        }
        let segment = Segment { role, part, blocks: Arc::from(blocks) };
        self.bytes = self.bytes.saturating_add(segment.bytes());
        self.segments.push_back(segment);
        self.messages = self.messages.saturating_add(1);
    }

    /// The segments, oldest first.
    #[must_use]
    pub fn segments(&self) -> &Vector<Segment> {
        &self.segments
    }

    /// Bytes of all blocks, kept incrementally.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Messages that entered it so far, also those that a compaction has replaced.
    #[must_use]
    pub fn messages(&self) -> u64 {
        self.messages
    }

    /// How many compactions lie behind it. Within a generation the blocks only grow at the end.
    #[must_use]
    pub fn generation(&self) -> u32 {
        self.generation
    }

    /// Whether the model spoke last.
    #[must_use]
    pub fn ends_in_reply(&self) -> bool {
        self.segments.back().is_some_and(|last| last.role == Role::Assistant)
    }

    /// Whether the runtime said this last.
    #[must_use]
    pub fn ends_in_note(&self, text: &str) -> bool {
        let is_it = |last: &Segment| {
            last.part == Part::Note && last.blocks.iter().any(|block| block.as_text() == Some(text))
        };
        self.segments.back().is_some_and(is_it)
    }

    /// Whether a request can be made of it: it has something, and a user's turn comes first.
    #[must_use]
    pub fn is_askable(&self) -> bool {
        self.segments.front().is_some_and(|first| first.role == Role::User)
    }

    /// Where a compaction may cut so that at least `messages` messages stay whole: the index of the
    /// first segment kept. `None` if there is nothing before it.
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
            let cuttable_here = self.segments.get(cut).is_none_or(|s| s.part != Part::Results);
            if seen > messages && cuttable_here {
                break;
            }
            cut -= 1;
        }
        (cut > 0).then_some(cut)
    }

    /// What of the segments before `keep_from` must outlive a compaction word for word:
    /// instructions, and the last `prompts` things people said, as far as they are not kept anyway.
    #[must_use]
    pub fn protected(&self, keep_from: usize, prompts: u32) -> Vec<usize> {
        let said = |segment: &&Segment| segment.part == Part::Prompt;
        let kept = self.segments.iter().skip(keep_from).filter(said).count();
        let due = usize::try_from(prompts).unwrap_or(usize::MAX).saturating_sub(kept);
        let places = || self.segments.iter().take(keep_from).enumerate();
        let asked = places().filter(|(_, segment)| segment.part == Part::Prompt).map(|(at, _)| at);
        let asked: Vec<usize> = asked.collect();
        let last = asked.len().saturating_sub(due);
        let asked = asked.get(last..).unwrap_or_default();
        let instructs =
            |(at, segment): &(usize, &Segment)| segment.part == Part::Memory || asked.contains(at);
        places().filter(instructs).map(|(at, _)| at).collect()
    }

    /// A hash over the segments at these places.
    #[must_use]
    pub fn hash_of(&self, places: &[usize]) -> String {
        let segments = places.iter().filter_map(|at| self.segments.get(*at));
        let texts: Vec<&str> = segments
            .flat_map(|segment| segment.blocks.iter().map(|block| block.raw().text()))
            .collect();
        sha256_hex(texts.join("\n").as_bytes())
    }

    /// Replaces everything before segment `keep_from` and begins a generation: a note, the journal
    /// if there is one, what must outlive it word for word, and then the rest as it was.
    pub fn compact(&mut self, keep_from: usize, note: &str, attached: &[usize], journal: &str) {
        let mut old = std::mem::take(&mut self.segments);
        // What stands in the place of messages is none of them.
        let messages = self.messages;
        let kept = old.split_off(keep_from.min(old.len()));
        self.bytes = 0;
        self.push(Role::User, Part::Summary, speech(&[Block::text(note)]));
        self.push_journal(journal);
        for segment in attached.iter().filter_map(|at| old.get(*at)).chain(&kept) {
            // Two replies in a row would be joined into one that the model never gave.
            if segment.role == Role::Assistant && self.ends_in_reply() {
                self.push_note(words::GOES_ON);
            }
            self.bytes = self.bytes.saturating_add(segment.bytes());
            self.segments.push_back(segment.clone());
        }
        self.messages = messages;
        self.generation = self.generation.saturating_add(1);
    }

    /// Appends the journal, as something the model was shown and has read.
    pub fn push_journal(&mut self, journal: &str) {
        if !journal.is_empty() {
            self.push(Role::User, Part::Journal, speech(&[Block::text(journal)]));
            let read = speech(&[Block::text(words::JOURNAL_READ)]);
            self.push(Role::Assistant, Part::Journal, read);
        }
    }

    /// What it takes to be without thoughts.
    #[must_use]
    pub fn thoughts(&self) -> Vec<Rewrite> {
        let mut rewrites = Vec::new();
        for (segment, at) in self.segments.iter().zip(0u32..) {
            for (block, place) in segment.blocks.iter().zip(0u32..) {
                if block.is_thought() {
                    rewrites.push(Rewrite { segment: at, block: place, to: None });
                }
            }
        }
        rewrites
    }

    /// Changes single blocks, or takes them out, and begins a generation.
    pub fn rewrite(&mut self, rewrites: &[Rewrite]) {
        let mut at = rewrites.iter().peekable();
        let mut segments = Vector::new();
        for (place, segment) in (0u32..).zip(std::mem::take(&mut self.segments)) {
            let mut mine = Vec::new();
            while let Some(rewrite) = at.next_if(|rewrite| rewrite.segment == place) {
                mine.push(rewrite);
            }
            segments.extend(rewritten(segment, &mine));
        }
        self.bytes = segments.iter().map(Segment::bytes).sum();
        self.segments = segments;
        self.generation = self.generation.saturating_add(1);
    }
}

/// A segment with some of its blocks changed; nothing if none is left.
fn rewritten(segment: Segment, rewrites: &[&Rewrite]) -> Option<Segment> {
    if rewrites.is_empty() {
        return Some(segment);
    }
    let change = |(place, block): (u32, &Block)| {
        let rewrite = rewrites.iter().find(|rewrite| rewrite.block == place);
        rewrite.map_or_else(|| Some(block.clone()), |rewrite| rewrite.to.clone())
    };
    let blocks: Vec<Block> = (0u32..).zip(segment.blocks.iter()).filter_map(change).collect();
    (!blocks.is_empty()).then(|| Segment { blocks: Arc::from(blocks), ..segment })
}

impl Segment {
    fn bytes(&self) -> u64 {
        self.blocks.iter().map(|block| block.raw().text().len() as u64).sum()
    }
}

fn speech(blocks: &[Block]) -> Vec<Block> {
    blocks.iter().filter(|block| is_speech(block)).cloned().collect()
}

/// Whether a block may be said by anybody. Broken tool blocks and what is no block at all would
/// make the API refuse every later request; they stay in the log.
fn is_speech(block: &Block) -> bool {
    match block.kind() {
        Kind::Text(_) => !block.is_blank(),
        Kind::Other(_) => !block.is_broken(),
        Kind::ToolUse(_) | Kind::ToolResult { .. } => false,
    }
}

/// The API takes only objects as arguments. A call with anything else is answered, not run, and
/// what it sent stays in the log.
fn with_object_input(block: &Block) -> Block {
    match block.as_tool_use() {
        Some(call) if !call.input.is_object() => {
            Block::tool_use(&call.id, &call.name, &Raw::encode(&BTreeMap::<&str, ()>::new()))
        }
        Some(_) | None => block.clone(),
    }
}

/// The API refuses an assistant's message that ends in thinking: such thoughts led nowhere.
fn without_trailing_thought(mut blocks: Vec<Block>) -> Vec<Block> {
    while blocks.last().is_some_and(Block::is_thought) {
        blocks.pop();
    }
    blocks
}

fn pair(reply: &[Block], results: &[Block]) -> Result<(), Unpaired> {
    let calls = || reply.iter().filter_map(Block::as_tool_use);
    let answers = |(call, result): (&crate::block::ToolUse, &Block)| matches!(result.kind(), Kind::ToolResult { tool_use_id } if *tool_use_id == call.id);
    let unpaired = Unpaired { calls: calls().count(), results: results.len() };
    let ids: BTreeSet<&str> = calls().map(|call| &*call.id).collect();
    let unique = ids.len() == calls().count();
    let fits = unique && ids.len() == results.len() && calls().zip(results).all(answers);
    if fits { Ok(()) } else { Err(unpaired) }
}
