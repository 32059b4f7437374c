//! Checks of results: what the tool returned is what the log has, and what the model sees.

use windlass_core::call::call_state::{Call, CallState};
use windlass_core::call::outcome::ToolOutcome;
use windlass_core::log::ids::CallId;
use windlass_core::log::input::Input;
use windlass_core::log::record::{Record, RecordedResult};
use windlass_core::message::content_block::{ContentBlock, ErrorFlag};
use windlass_core::message::transcript::{SegmentKind, TranscriptSegment};

use super::history::{HistoryStep, LaneHistory};
use super::{CheckedWorld, ensure};
use crate::world::observation_log::{ExecutionEnd, ToolExecution};

pub(super) fn as_returned(case: &CheckedWorld<'_>) -> Result<(), String> {
    for history in &case.histories {
        for step in &history.steps {
            let Input::ToolReturned { call, attempt, outcome, .. } = step.input() else { continue };
            let ran = case.evidence.seen.effects.iter().any(|effect| {
                effect.lane == *history.lane()
                    && (effect.call, effect.attempt) == (*call, *attempt)
                    && is_of(step, effect)
                    && matches_outcome(effect, outcome)
            });
            ensure(ran, || format!("{} call {call} attempt {attempt}", history.lane()))?;
        }
        completed_once(history)?;
    }
    Ok(())
}

/// Whether the ledger's line is about the call in the log.
fn is_of(step: &HistoryStep, effect: &ToolExecution) -> bool {
    let round = step.before.run.as_ref().and_then(|run| run.round());
    let call = round.and_then(|round| round.call(effect.call));
    call.is_some_and(|call| {
        *call.tool_use.name == *effect.tool && call.tool_use.input == effect.input
    })
}

fn matches_outcome(effect: &ToolExecution, outcome: &ToolOutcome) -> bool {
    match (&effect.ended, outcome) {
        (Some((_, ExecutionEnd::Returned(returned))), outcome) => returned == outcome,
        (Some((_, ExecutionEnd::Panicked)), ToolOutcome::Failed(error)) => {
            &*error.code == "tool_panicked"
        }
        (Some((_, ExecutionEnd::Dropped)), ToolOutcome::TimedOut { .. }) => true,
        (Some((_, ExecutionEnd::Panicked | ExecutionEnd::Dropped)) | None, _) => false,
    }
}

fn completed_once(history: &LaneHistory<'_>) -> Result<(), String> {
    let mut seen = std::collections::BTreeSet::new();
    for (_, record) in history.records() {
        if let Record::CallReturned { call } = record {
            ensure(seen.insert(*call), || format!("{} call {call} twice", history.lane()))?;
        }
    }
    Ok(())
}

pub(super) fn in_transcript(case: &CheckedWorld<'_>) -> Result<(), String> {
    for history in &case.histories {
        for (step, _) in history.records().filter(|(_, record)| **record == Record::RoundClosed {})
        {
            let calls = step.before.run.as_ref().and_then(|run| run.round());
            for call in calls.into_iter().flat_map(|round| &round.calls) {
                let expected = expected_result_block(history, step, call);
                let there = expected.is_some_and(|block| has_once(step, &block));
                ensure(there, || format!("{} call {}", history.lane(), call.id))?;
            }
        }
    }
    Ok(())
}

fn has_once(step: &HistoryStep, block: &ContentBlock) -> bool {
    let segments = step.after.transcript.segments();
    let results = |segment: &&TranscriptSegment| segment.kind == SegmentKind::Results;
    let last = segments.iter().rev().find(results);
    last.is_some_and(|last| last.blocks.iter().filter(|other| *other == block).count() == 1)
}

/// Returns the block that the final result of the call requires.
fn expected_result_block(
    history: &LaneHistory<'_>,
    step: &HistoryStep,
    call: &Call,
) -> Option<ContentBlock> {
    if let CallState::Finished(shown) = &call.state {
        return Some(ContentBlock::tool_result(
            &call.tool_use.id,
            &shown.content,
            shown.error_flag,
        ));
    }
    let shown = step.entry.records.iter().rev().find_map(|record| match record {
        Record::ResultFinalized { call: id, result } if *id == call.id => Some(result),
        _ => None,
    })?;
    match shown {
        RecordedResult::Replaced(shown) => {
            Some(ContentBlock::tool_result(&call.tool_use.id, &shown.content, shown.error_flag))
        }
        RecordedResult::Unchanged {} => {
            let content = returned_content(history, call.id)?;
            Some(ContentBlock::tool_result(&call.tool_use.id, &content, ErrorFlag::Success))
        }
    }
}

fn returned_content(
    history: &LaneHistory<'_>,
    wanted: CallId,
) -> Option<windlass_core::message::raw_json::RawJson> {
    history.steps.iter().rev().find_map(|step| match step.input() {
        Input::ToolReturned { call, outcome, .. } if *call == wanted => outcome.content().cloned(),
        _ => None,
    })
}
