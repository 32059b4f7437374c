//! The pruning stages: no model call, and the last messages are never touched.

use std::collections::BTreeSet;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::message::content_block::{BlockKind, ContentBlock, ErrorFlag};
use crate::message::raw_json::RawJson;
use crate::message::transcript::{Role, SegmentKind, Transcript, TranscriptSegment};
use crate::message::truncate;

/// Characters that an old tool result is truncated to.
const MICRO_RESULT_CHARS: u64 = 1_000;

/// A pruning stage, in the order in which the stages act.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PruneStage {
    /// Turns beyond a sliding window are removed; in the others old thinking, notes of the runtime
    /// and journals that were shown again later.
    Snip,
    /// Old tool results are truncated.
    Micro,
    /// Results that a later call of the same kind made stale are replaced by a pointer.
    Collapse,
    /// The model summarises old messages.
    Auto,
}

/// One block that is changed or removed.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct BlockRewrite {
    /// Index of the segment.
    pub segment: u32,
    /// Index of the block in the segment.
    pub block: u32,
    /// The new block; `None` removes the block.
    pub replacement: Option<ContentBlock>,
}

#[derive(Deserialize)]
struct ResultView<'a> {
    #[serde(borrow)]
    tool_use_id: std::borrow::Cow<'a, str>,
    #[serde(borrow)]
    content: &'a RawValue,
    #[serde(default)]
    is_error: bool,
}

impl PruneStage {
    /// Returns the name of the stage.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Snip => "snip",
            Self::Micro => "micro",
            Self::Collapse => "collapse",
            Self::Auto => "auto",
        }
    }

    /// Returns what the stage would change before segment `keep_from`, with a sliding window of so
    /// many messages.
    #[must_use]
    pub fn propose_rewrites(
        self,
        transcript: &Transcript,
        keep_from: usize,
        sliding: u32,
    ) -> Vec<BlockRewrite> {
        match self {
            Self::Snip => propose_snip(transcript, keep_from, sliding),
            Self::Micro => rewrite_blocks(transcript, keep_from, |_, block| shorten_result(block)),
            Self::Collapse => propose_collapse(transcript, keep_from),
            Self::Auto => Vec::new(),
        }
    }
}

/// The change of a block: none, another block, or its removal.
type BlockChange = Option<Option<ContentBlock>>;

fn rewrite_blocks(
    transcript: &Transcript,
    keep_from: usize,
    stage: impl Fn(usize, &ContentBlock) -> BlockChange,
) -> Vec<BlockRewrite> {
    let mut rewrites = Vec::new();
    for (at, segment) in (0u32..).zip(transcript.segments().iter().take(keep_from)) {
        for (block_at, block) in (0u32..).zip(segment.blocks.iter()) {
            if let Some(replacement) = stage(at as usize, block) {
                rewrites.push(BlockRewrite { segment: at, block: block_at, replacement });
            }
        }
    }
    rewrites
}

fn propose_snip(transcript: &Transcript, keep_from: usize, sliding: u32) -> Vec<BlockRewrite> {
    let goes = snipped_segments(transcript, keep_from, sliding);
    rewrite_blocks(transcript, keep_from, |at, block| {
        (goes.contains(&at) || block.is_thinking()).then_some(None)
    })
}

/// Returns the segments to remove. Prompts, instructions and summaries are never among them.
fn snipped_segments(transcript: &Transcript, keep_from: usize, sliding: u32) -> BTreeSet<usize> {
    let segments = transcript.segments();
    let window = transcript.cut_point(sliding).unwrap_or(0).min(keep_from);
    // A reply and its results are removed together or not at all.
    let parted = segments.get(window).is_some_and(|first| first.kind == SegmentKind::Results);
    let window = if parted { window.saturating_sub(1) } else { window };
    let shown = segments.iter().rposition(|segment| segment.kind == SegmentKind::Journal);
    // The last journal is a pair of segments.
    let journal = shown.map_or(0, |read| read.saturating_sub(1));
    let mut goes = BTreeSet::new();
    let mut before: Option<&TranscriptSegment> = None;
    for (at, segment) in segments.iter().enumerate().take(keep_from) {
        let is_gone = match segment.kind {
            SegmentKind::Reply | SegmentKind::Results => at < window,
            // A note that keeps two replies apart, or a reply from being the first, stays.
            SegmentKind::Note => before.is_some_and(|before| before.role == Role::User),
            // Both halves of a pair are removed, or neither.
            SegmentKind::Journal => at > 0 && at < journal && journal <= keep_from,
            SegmentKind::Prompt | SegmentKind::Summary | SegmentKind::Memory => false,
        };
        if is_gone {
            goes.insert(at);
        } else {
            before = Some(segment);
        }
    }
    goes
}

fn shorten_result(block: &ContentBlock) -> BlockChange {
    let view = result_view(block)?;
    let whole = RawJson::parse(view.content.get()).ok()?;
    // A result that was truncated once is never this long again.
    if character_count(&whole) <= MICRO_RESULT_CHARS * 2 {
        return None;
    }
    let content = truncate::truncate_content(&whole, MICRO_RESULT_CHARS);
    let is_shorter = content.text().len() < whole.text().len();
    is_shorter
        .then(|| Some(ContentBlock::tool_result(&view.tool_use_id, &content, error_flag(&view))))
}

/// Returns the number of characters of a result as a reader sees it: an escape is one.
fn character_count(content: &RawJson) -> u64 {
    let inner = content.read::<std::borrow::Cow<'_, str>>();
    inner.map_or_else(|_| content.text().chars().count(), |text| text.chars().count()) as u64
}

fn result_view(block: &ContentBlock) -> Option<ResultView<'_>> {
    match block.kind() {
        BlockKind::ToolResult { .. } => block.raw().read().ok(),
        BlockKind::Text(_) | BlockKind::ToolUse(_) | BlockKind::Other(_) => None,
    }
}

fn error_flag(view: &ResultView<'_>) -> ErrorFlag {
    if view.is_error { ErrorFlag::Error } else { ErrorFlag::Success }
}

/// Proposes to replace stale results. Walks backwards: the first time a (tool, input) is met is its
/// latest call; earlier results of the same call are stale.
fn propose_collapse(transcript: &Transcript, keep_from: usize) -> Vec<BlockRewrite> {
    let mut later: BTreeSet<(Arc<str>, Arc<str>)> = BTreeSet::new();
    let mut stale: BTreeSet<Arc<str>> = BTreeSet::new();
    for segment in transcript.segments().iter().rev() {
        for call in segment.blocks.iter().rev().filter_map(ContentBlock::as_tool_use) {
            let key = (call.name.clone(), Arc::from(call.input.text()));
            if !later.insert(key) {
                stale.insert(call.id.clone());
            }
        }
    }
    rewrite_blocks(transcript, keep_from, |_, block| {
        let view = result_view(block)?;
        let pointer = RawJson::string("[older result of a call that was repeated later]");
        let is_stale = stale.contains(view.tool_use_id.as_ref());
        let is_long = view.content.get().len() > pointer.text().len();
        (is_stale && is_long).then(|| {
            Some(ContentBlock::tool_result(&view.tool_use_id, &pointer, error_flag(&view)))
        })
    })
}
