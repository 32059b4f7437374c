//! The cheap stages: none of them asks a model, and none touches the tail that stays as it is.

use std::collections::BTreeSet;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::block::{Block, ErrorFlag, Kind};
use crate::cut;
use crate::raw::Raw;
use crate::transcript::{Part, Segment, Transcript};

/// Characters an old tool result is cut to.
const MICRO_CHARS: u64 = 1_000;

/// A stage, in the order they act.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stage {
    /// Old thoughts and notes of the runtime go.
    Snip,
    /// Old tool results are cut.
    Micro,
    /// Results that a later call of the same kind made stale give way to a pointer.
    Collapse,
    /// The model sums up.
    Auto,
}

/// One block changed, or taken out.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Rewrite {
    /// Which segment.
    pub segment: u32,
    /// Which block of it.
    pub block: u32,
    /// What stands there now; `None` takes it out.
    pub to: Option<Block>,
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

impl Stage {
    /// Its name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Snip => "snip",
            Self::Micro => "micro",
            Self::Collapse => "collapse",
            Self::Auto => "auto",
        }
    }

    /// What the stage would change before segment `keep_from`.
    #[must_use]
    pub fn propose(self, transcript: &Transcript, keep_from: usize) -> Vec<Rewrite> {
        match self {
            Self::Snip => snip(transcript, keep_from),
            Self::Micro => each_block(transcript, keep_from, micro),
            Self::Collapse => collapse(transcript, keep_from),
            Self::Auto => Vec::new(),
        }
    }
}

fn each_block(
    transcript: &Transcript,
    keep_from: usize,
    stage: impl Fn(&Segment, &Block) -> Option<Option<Block>>,
) -> Vec<Rewrite> {
    let mut rewrites = Vec::new();
    for (at, segment) in (0u32..).zip(transcript.segments().iter().take(keep_from)) {
        for (block_at, block) in (0u32..).zip(segment.blocks.iter()) {
            if let Some(to) = stage(segment, block) {
                rewrites.push(Rewrite { segment: at, block: block_at, to });
            }
        }
    }
    rewrites
}

/// The notes at the head are the summary of what was left out and the journal: they are all that is
/// left of it.
fn snip(transcript: &Transcript, keep_from: usize) -> Vec<Rewrite> {
    let is_note = |segment: &&Segment| segment.part == Part::Note;
    let head = transcript.segments().iter().take_while(is_note).count();
    let mut rewrites = each_block(transcript, keep_from, |segment, block| {
        (segment.part == Part::Note || block.is_thought()).then_some(None)
    });
    rewrites.retain(|rewrite| rewrite.segment as usize >= head);
    rewrites
}

fn micro(_segment: &Segment, block: &Block) -> Option<Option<Block>> {
    let view = result_view(block)?;
    if (view.content.get().len() as u64) <= MICRO_CHARS * 2 {
        return None;
    }
    let content = cut::content(&Raw::parse(view.content.get()).ok()?, MICRO_CHARS);
    Some(Some(Block::tool_result(&view.tool_use_id, &content, flag(&view))))
}

fn result_view(block: &Block) -> Option<ResultView<'_>> {
    match block.kind() {
        Kind::ToolResult { .. } => block.raw().read().ok(),
        Kind::Text(_) | Kind::ToolUse(_) | Kind::Other(_) => None,
    }
}

fn flag(view: &ResultView<'_>) -> ErrorFlag {
    if view.is_error { ErrorFlag::Error } else { ErrorFlag::Fine }
}

/// Walks backwards: the first time a (tool, input) is met is its latest call; earlier results of the
/// same call are stale.
fn collapse(transcript: &Transcript, keep_from: usize) -> Vec<Rewrite> {
    let mut later: BTreeSet<(Arc<str>, Arc<str>)> = BTreeSet::new();
    let mut stale: BTreeSet<Arc<str>> = BTreeSet::new();
    for segment in transcript.segments().iter().rev() {
        for call in segment.blocks.iter().rev().filter_map(Block::as_tool_use) {
            let key = (call.name.clone(), Arc::from(call.input.text()));
            if !later.insert(key) {
                stale.insert(call.id.clone());
            }
        }
    }
    each_block(transcript, keep_from, |_, block| {
        let view = result_view(block)?;
        let pointer = Raw::string("[an older result of a call that was made again later]");
        let is_stale = stale.contains(view.tool_use_id.as_ref());
        let is_long = view.content.get().len() > pointer.text().len();
        (is_stale && is_long)
            .then(|| Some(Block::tool_result(&view.tool_use_id, &pointer, flag(&view))))
    })
}
