//! Properties of decisions: instructions survive, budgets are kept, compaction ends.

use proptest::prelude::*;
use windlass_core::message::transcript::{SegmentKind, Transcript, TranscriptSegment};
use windlass_core::run::conversation::Conversation;
use windlass_core::{Entry, Record};

use super::cases;
use super::lanes::{story, told};
use super::narrow::narrow;

proptest! {
    #![proptest_config(cases(40))]

    // spec: INV-04, INV-08, WINDOW-06
    #[test]
    fn rules_survive_money_is_kept_and_compaction_ends(settings in narrow(), story in story()) {
        let lane = told(settings, story);
        let mut now = Conversation::default();
        for entry in &lane.log {
            let mut after = now.clone();
            after.fold(entry).unwrap();
            rules_survive(&now, &after, entry)?;
            if !entry.records.contains(&Record::PromptWithdrawn {}) {
                // A prompt that is withdrawn was never sent.
                generations_only_grow(&now.transcript, &after.transcript)?;
            }
            recoveries_are_bounded(&after)?;
            calls_are_reserved(&now, &after, entry)?;
            now = after;
        }
    }
}

/// The most that any settings here allow.
const MOST_RECOVERIES: u32 = 5;

fn memories(transcript: &Transcript) -> Vec<TranscriptSegment> {
    transcript
        .segments()
        .iter()
        .filter(|segment| segment.kind == SegmentKind::Memory)
        .cloned()
        .collect()
}

/// Instructions are never removed, in order and byte for byte, and every hash of a compaction is
/// correct.
fn rules_survive(
    before: &Conversation,
    after: &Conversation,
    entry: &Entry,
) -> Result<(), TestCaseError> {
    let (old, new) = (memories(&before.transcript), memories(&after.transcript));
    let is_replaced = |record: &Record| matches!(record, Record::HistoryReplaced { .. });
    match entry.records.iter().any(is_replaced) {
        // They went with the messages that they came with, and are shown again when they are found.
        true => prop_assert!(after.context_sources.is_empty(), "forgotten at {}", entry.seq),
        false => {
            prop_assert!(new.starts_with(&old), "instructions are gone after entry {}", entry.seq);
        }
    }
    let compactions = entry.records.iter().filter(|r| matches!(r, Record::Compacted { .. }));
    if compactions.count() == 1
        && let Some(Record::Compacted { kept_segments, kept_hash: Some(kept), .. }) =
            entry.records.iter().find(|r| matches!(r, Record::Compacted { .. }))
    {
        let is_attached = |segment: &TranscriptSegment| {
            matches!(segment.kind, SegmentKind::Memory | SegmentKind::Prompt)
        };
        let places = after.transcript.segments().iter().enumerate();
        let places = places.filter(|(_, segment)| is_attached(segment)).map(|(at, _)| at);
        let places: Vec<usize> = places.take(kept_segments.len()).collect();
        prop_assert_eq!(&after.transcript.hash_segments(&places), &**kept);
    }
    Ok(())
}

/// Within a generation the blocks that are sent only grow at the end.
fn generations_only_grow(before: &Transcript, after: &Transcript) -> Result<(), TestCaseError> {
    if before.generation() == after.generation() {
        let same = before.segments().iter().zip(after.segments()).all(|(old, new)| old == new);
        let grew = after.segments().len() >= before.segments().len();
        prop_assert!(same && grew, "the prefix changed within a generation");
    }
    Ok(())
}

fn recoveries_are_bounded(now: &Conversation) -> Result<(), TestCaseError> {
    if let Some(run) = &now.run {
        // Settings that change during a run may allow fewer than were used.
        prop_assert!(run.recoveries.total <= MOST_RECOVERIES);
    }
    Ok(())
}

/// What is reserved for a call is within every cap: spending exceeds one by the error of the
/// estimate, and by one call at most.
fn calls_are_reserved(
    before: &Conversation,
    after: &Conversation,
    entry: &Entry,
) -> Result<(), TestCaseError> {
    let Some(Record::ModelCallStarted { reserved_tokens, .. }) = entry.records.last() else {
        return Ok(());
    };
    let (Some(run), Some(settings)) = (&after.run, &after.settings) else { return Ok(()) };
    let spent = |cap: Option<u64>, spent: u64| {
        let fits = cap.is_none_or(|cap| spent.saturating_add(*reserved_tokens) <= cap);
        (cap, fits)
    };
    let times = u64::from(run.budget_extensions) + 1;
    let of_run = settings.budget.run.multiplied_by(times).tokens;
    let caps = [
        spent(settings.budget.call.tokens, 0),
        spent(of_run, run.spent.tokens),
        spent(settings.budget.conversation.tokens, after.spent.tokens),
        spent(after.parent.as_ref().and_then(|p| p.caps.tokens), after.spent.tokens),
    ];
    for (cap, fits) in caps {
        prop_assert!(
            fits,
            "{cap:?} is passed by entry {} after {}",
            entry.seq,
            before.spent.tokens
        );
    }
    Ok(())
}
