//! Results: what the tool returned is what the log has, and what the model sees.

use windlass_core::block::{Block, ErrorFlag};
use windlass_core::call::{Call, CallState};
use windlass_core::ids::CallId;
use windlass_core::input::Input;
use windlass_core::outcome::Outcome;
use windlass_core::record::{Record, Settlement};
use windlass_core::transcript::{Part, Segment};

use super::history::{History, Step};
use super::{Case, ensure};
use crate::world::witness::{Effect, Ending};

pub(super) fn as_returned(case: &Case<'_>) -> Result<(), String> {
    for history in &case.histories {
        for step in &history.steps {
            let Input::ToolReturned { call, attempt, outcome, .. } = step.input() else { continue };
            let ran = case.evidence.seen.effects.iter().any(|effect| {
                effect.lane == *history.lane()
                    && (effect.call, effect.attempt) == (*call, *attempt)
                    && is_of(step, effect)
                    && brought(effect, outcome)
            });
            ensure(ran, || format!("{} call {call} attempt {attempt}", history.lane()))?;
        }
        completed_once(history)?;
    }
    Ok(())
}

/// Whether the ledger's line is about the call the log has.
fn is_of(step: &Step, effect: &Effect) -> bool {
    let round = step.before.run.as_ref().and_then(|run| run.round());
    let call = round.and_then(|round| round.call(effect.call));
    call.is_some_and(|call| {
        *call.tool_use.name == *effect.tool && call.tool_use.input == effect.input
    })
}

fn brought(effect: &Effect, outcome: &Outcome) -> bool {
    match (&effect.ended, outcome) {
        (Some((_, Ending::Returned(returned))), outcome) => returned == outcome,
        (Some((_, Ending::Panicked)), Outcome::Failed(error)) => &*error.code == "tool_panicked",
        (Some((_, Ending::Dropped)), Outcome::TimedOut { .. }) => true,
        (Some((_, Ending::Panicked | Ending::Dropped)) | None, _) => false,
    }
}

fn completed_once(history: &History<'_>) -> Result<(), String> {
    let mut seen = std::collections::BTreeSet::new();
    for (_, record) in history.records() {
        if let Record::Completed { call } = record {
            ensure(seen.insert(*call), || format!("{} call {call} twice", history.lane()))?;
        }
    }
    Ok(())
}

pub(super) fn in_transcript(case: &Case<'_>) -> Result<(), String> {
    for history in &case.histories {
        for (step, _) in history.records().filter(|(_, record)| **record == Record::RoundClosed {})
        {
            let calls = step.before.run.as_ref().and_then(|run| run.round());
            for call in calls.into_iter().flat_map(|round| &round.calls) {
                let expected = settled(history, step, call);
                let there = expected.is_some_and(|block| has_once(step, &block));
                ensure(there, || format!("{} call {}", history.lane(), call.id))?;
            }
        }
    }
    Ok(())
}

fn has_once(step: &Step, block: &Block) -> bool {
    let segments = step.after.transcript.segments();
    let results = |segment: &&Segment| segment.part == Part::Results;
    let last = segments.iter().rev().find(results);
    last.is_some_and(|last| last.blocks.iter().filter(|other| *other == block).count() == 1)
}

/// The block the call's last settlement calls for.
fn settled(history: &History<'_>, step: &Step, call: &Call) -> Option<Block> {
    if let CallState::Settled(shown) = &call.state {
        return Some(Block::tool_result(&call.tool_use.id, &shown.content, shown.flag));
    }
    let shown = step.entry.records.iter().rev().find_map(|record| match record {
        Record::Settled { call: id, shown } if *id == call.id => Some(shown),
        _ => None,
    })?;
    match shown {
        Settlement::Shown(shown) => {
            Some(Block::tool_result(&call.tool_use.id, &shown.content, shown.flag))
        }
        Settlement::AsCompleted {} => {
            let content = returned(history, call.id)?;
            Some(Block::tool_result(&call.tool_use.id, &content, ErrorFlag::Fine))
        }
    }
}

fn returned(history: &History<'_>, wanted: CallId) -> Option<windlass_core::raw::Raw> {
    history.steps.iter().rev().find_map(|step| match step.input() {
        Input::ToolReturned { call, outcome, .. } if *call == wanted => outcome.content().cloned(),
        _ => None,
    })
}
