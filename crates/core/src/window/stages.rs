//! The cheap stages: none of them asks a model, and none touches the tail that stays as it is.

use std::collections::BTreeSet;
use std::sync::Arc;

use imbl::Vector;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::block::{Block, ErrorFlag, Kind};
use crate::cut;
use crate::raw::Raw;
use crate::transcript::{Part, Role, Segment, Transcript};

/// Characters an old tool result is cut to.
const MICRO_CHARS: u64 = 1_000;

/// A stage, in the order they act.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stage {
    /// Old thoughts, notes of the runtime and journals that were shown again later go.
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
            Self::Micro => each_block(transcript, keep_from, |_, block| micro(block)),
            Self::Collapse => collapse(transcript, keep_from),
            Self::Auto => Vec::new(),
        }
    }
}

/// What a stage makes of a block: nothing, another block, or none at all.
type Change = Option<Option<Block>>;

fn each_block(
    transcript: &Transcript,
    keep_from: usize,
    stage: impl Fn(usize, &Block) -> Change,
) -> Vec<Rewrite> {
    let mut rewrites = Vec::new();
    for (at, segment) in (0u32..).zip(transcript.segments().iter().take(keep_from)) {
        for (block_at, block) in (0u32..).zip(segment.blocks.iter()) {
            if let Some(to) = stage(at as usize, block) {
                rewrites.push(Rewrite { segment: at, block: block_at, to });
            }
        }
    }
    rewrites
}

fn snip(transcript: &Transcript, keep_from: usize) -> Vec<Rewrite> {
    let segments = transcript.segments();
    let shown = segments.iter().rposition(|segment| segment.part == Part::Journal);
    // The last journal is a pair.
    let journal = shown.map_or(0, |read| read.saturating_sub(1));
    let goes = |at: usize| match segments.get(at).map(|segment| segment.part) {
        Some(Part::Note) => !separates(segments, at),
        // Both halves of a pair or neither.
        Some(Part::Journal) => at > 0 && at < journal && journal <= keep_from,
        Some(Part::Prompt | Part::Summary | Part::Memory | Part::Reply | Part::Results) | None => {
            false
        }
    };
    each_block(transcript, keep_from, |at, block| (goes(at) || block.is_thought()).then_some(None))
}

/// Whether what stands there keeps two replies apart, or a reply from being the first.
fn separates(segments: &Vector<Segment>, at: usize) -> bool {
    let before = at.checked_sub(1).and_then(|before| segments.get(before));
    before.is_none_or(|before| before.role == Role::Assistant)
}

fn micro(block: &Block) -> Change {
    let view = result_view(block)?;
    let whole = view.content.get();
    if (whole.len() as u64) <= MICRO_CHARS * 2 {
        return None;
    }
    let content = cut::content(&Raw::parse(whole).ok()?, MICRO_CHARS);
    let is_shorter = content.text().len() < whole.len();
    is_shorter.then(|| Some(Block::tool_result(&view.tool_use_id, &content, flag(&view))))
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
