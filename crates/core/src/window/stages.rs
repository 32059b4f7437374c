//! The cheap stages: none of them asks a model, and none touches the tail that stays as it is.

use std::collections::BTreeSet;
use std::sync::Arc;

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
    /// Turns beyond a sliding window go; of the others old thoughts, notes of the runtime and
    /// journals that were shown again later.
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

    /// What the stage would change before segment `keep_from`, with a sliding window of so many
    /// messages.
    #[must_use]
    pub fn propose(self, transcript: &Transcript, keep_from: usize, sliding: u32) -> Vec<Rewrite> {
        match self {
            Self::Snip => snip(transcript, keep_from, sliding),
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

fn snip(transcript: &Transcript, keep_from: usize, sliding: u32) -> Vec<Rewrite> {
    let goes = snipped(transcript, keep_from, sliding);
    each_block(transcript, keep_from, |at, block| {
        (goes.contains(&at) || block.is_thought()).then_some(None)
    })
}

/// The segments that go. What people said, instructions and summaries are never among them.
fn snipped(transcript: &Transcript, keep_from: usize, sliding: u32) -> BTreeSet<usize> {
    let segments = transcript.segments();
    let window = transcript.cut_point(sliding).unwrap_or(0).min(keep_from);
    // A reply and its results go together or not at all.
    let parted = segments.get(window).is_some_and(|first| first.part == Part::Results);
    let window = if parted { window.saturating_sub(1) } else { window };
    let shown = segments.iter().rposition(|segment| segment.part == Part::Journal);
    // The last journal is a pair.
    let journal = shown.map_or(0, |read| read.saturating_sub(1));
    let mut goes = BTreeSet::new();
    let mut before: Option<&Segment> = None;
    for (at, segment) in segments.iter().enumerate().take(keep_from) {
        let is_gone = match segment.part {
            Part::Reply | Part::Results => at < window,
            // A note that keeps two replies apart, or a reply from being the first, stays.
            Part::Note => before.is_some_and(|before| before.role == Role::User),
            // Both halves of a pair or neither.
            Part::Journal => at > 0 && at < journal && journal <= keep_from,
            Part::Prompt | Part::Summary | Part::Memory => false,
        };
        if is_gone {
            goes.insert(at);
        } else {
            before = Some(segment);
        }
    }
    goes
}

fn micro(block: &Block) -> Change {
    let view = result_view(block)?;
    let whole = Raw::parse(view.content.get()).ok()?;
    // What was cut once is never this long again.
    if characters(&whole) <= MICRO_CHARS * 2 {
        return None;
    }
    let content = cut::content(&whole, MICRO_CHARS);
    let is_shorter = content.text().len() < whole.text().len();
    is_shorter.then(|| Some(Block::tool_result(&view.tool_use_id, &content, flag(&view))))
}

/// Characters of a result as a reader sees it: escapes are one.
fn characters(content: &Raw) -> u64 {
    let inner = content.read::<std::borrow::Cow<'_, str>>();
    inner.map_or_else(|_| content.text().chars().count(), |text| text.chars().count()) as u64
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
