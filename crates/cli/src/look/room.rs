//! How full the window is and what making room would do, for people and for programs.

mod words;

use serde::Serialize;
use windlass::core::conversation::{Asked, Conversation};
use windlass::core::transcript::{Part, Segment};
use windlass::core::window::{Acts, Plan, plan};

use super::paper::{Paper, one_line};
use super::words as common;

/// Characters of what stays word for word.
const QUOTE_CHARS: usize = 100;

/// What a compaction would do.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct Preview {
    /// Tokens of the next request, as estimated.
    pub(crate) tokens: u64,
    /// Tokens that may be in it.
    pub(crate) usable_tokens: u64,
    /// The share of them that is used, in per cent.
    pub(crate) percent: u64,
    /// From which share on room is made without being asked.
    pub(crate) compacts_at_percent: u64,
    /// What would act.
    pub(crate) acts: &'static str,
    /// What the cheap stages would bring, each after the ones before it.
    pub(crate) stages: Vec<StagePreview>,
    /// The rung of the ladder.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) rung: Option<std::sync::Arc<str>>,
    /// Parts of messages that would give way to a note.
    pub(crate) left_out: usize,
    /// Parts at the end that stay as they are.
    pub(crate) kept: usize,
    /// What else stays word for word: instructions, and what people said in this run.
    pub(crate) word_for_word: Vec<String>,
}

/// What a cheap stage would bring.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct StagePreview {
    /// Which.
    pub(crate) stage: &'static str,
    /// Blocks it would change or take out.
    pub(crate) blocks: usize,
    /// The share of the window after it, in per cent.
    pub(crate) percent_after: u64,
}

/// What would happen if somebody asked for room now; `None` while nothing is configured.
pub(crate) fn preview(now: &Conversation) -> Option<Preview> {
    Some(of(now, &plan(now, Asked::Yes)?))
}

fn of(now: &Conversation, plan: &Plan) -> Preview {
    let segments = now.transcript.segments();
    let cut = plan.cut.as_ref().filter(|_| plan.acts == Acts::Cut);
    let attached = cut.map(|cut| cut.attached.as_slice()).unwrap_or_default();
    let stage = |stage: &windlass::core::window::StagePlan| StagePreview {
        stage: stage.stage.name(),
        blocks: stage.blocks,
        percent_after: stage.percent_after,
    };
    Preview {
        tokens: plan.tokens,
        usable_tokens: plan.usable_tokens,
        percent: plan.percent,
        compacts_at_percent: plan.thresholds.compact,
        acts: name(plan.acts),
        stages: plan.stages.iter().map(stage).collect(),
        rung: cut.map(|cut| common::stored_name(&cut.rung)),
        left_out: cut.map_or(0, |cut| cut.keep_from.saturating_sub(attached.len())),
        kept: cut.map_or(segments.len(), |cut| segments.len().saturating_sub(cut.keep_from)),
        word_for_word: attached.iter().filter_map(|at| segments.get(*at)).map(quote).collect(),
    }
}

fn name(acts: Acts) -> &'static str {
    match acts {
        Acts::Nothing => "nothing",
        Acts::Stages(_) => "stages",
        Acts::Cut => "cut",
        Acts::Human => "human",
        Acts::Stuck => "stuck",
    }
}

fn quote(segment: &Segment) -> String {
    let who = match segment.part {
        Part::Memory => "instructions",
        Part::Prompt | Part::Note | Part::Summary | Part::Journal | Part::Reply | Part::Results => {
            "you"
        }
    };
    format!("{who}: {}", one_line(&common::blocks(&segment.blocks), QUOTE_CHARS))
}

impl Preview {
    /// Whether asking for room would make any.
    pub(crate) fn makes_room(&self) -> bool {
        ![name(Acts::Nothing), name(Acts::Stuck)].contains(&self.acts)
    }

    /// Why nothing was compacted, in a sentence.
    pub(crate) fn nothing_done(&self) -> String {
        words::nothing_done(self)
    }

    /// As text.
    pub(crate) fn lines(&self, paper: Paper) -> Vec<String> {
        words::lines(self, paper)
    }
}

/// Why nothing made enough room, in sentences: what each stage and the ladder could have done.
pub(crate) fn why_stuck(now: &Conversation) -> Vec<String> {
    plan(now, Asked::Yes).map(|plan| words::stuck(&plan)).unwrap_or_default()
}

/// How full the window is, in a sentence.
pub(crate) fn fullness(now: &Conversation) -> Option<String> {
    plan(now, Asked::No).map(|plan| words::fullness(plan.percent, plan.tokens, plan.usable_tokens))
}
