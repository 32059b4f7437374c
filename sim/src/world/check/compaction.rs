//! Checks of compaction: what must stay is there after every compaction.

use windlass_core::Conversation;
use windlass_core::apply::apply;
use windlass_core::log::record::Record;
use windlass_core::message::transcript::{SegmentKind, TranscriptSegment};

use super::history::HistoryStep;
use super::{CheckedWorld, ensure};

/// The user's messages of the run, and instructions, are kept byte for byte.
pub(super) fn keeps_rules(case: &CheckedWorld<'_>) -> Result<(), String> {
    for history in &case.histories {
        for step in &history.steps {
            let lost = lost_in(step);
            ensure(lost.is_none(), || {
                format!("{} entry {}: {lost:?}", history.lane(), step.entry.seq)
            })?;
        }
    }
    Ok(())
}

fn lost_in(step: &HistoryStep) -> Option<TranscriptSegment> {
    let mut now = step.before.clone();
    for record in &step.entry.records {
        let was = now.clone();
        apply(&mut now, step.entry.at, &step.entry.input, record);
        if matches!(record, Record::Compacted { .. } | Record::Pruned { .. }) {
            let mut left = now.transcript.segments().iter();
            let lost = must_stay(&was).find(|stays| !left.any(|segment| segment == *stays));
            if lost.is_some() {
                return lost.cloned();
            }
        }
    }
    None
}

fn must_stay(c: &Conversation) -> impl Iterator<Item = &TranscriptSegment> {
    let is_said = |segment: &&TranscriptSegment| segment.kind == SegmentKind::Prompt;
    let of_run = c.run.as_ref().map_or(0, |run| run.user_message_count as usize);
    let older = c.transcript.segments().iter().filter(is_said).count().saturating_sub(of_run);
    let mut seen = 0;
    c.transcript.segments().iter().filter(move |segment| {
        seen += usize::from(segment.kind == SegmentKind::Prompt);
        segment.kind == SegmentKind::Memory || (segment.kind == SegmentKind::Prompt && seen > older)
    })
}

/// The recovery ladder has an end.
pub(super) fn ends(case: &CheckedWorld<'_>) -> Result<(), String> {
    for history in &case.histories {
        for step in &history.steps {
            let limit = step.after.settings.as_ref().map_or(0, |s| s.limits.recoveries);
            let used = step.after.run.as_ref().map_or(0, |run| run.recoveries.total);
            ensure(used <= limit, || {
                format!("{} entry {}: {used} recoveries", history.lane(), step.entry.seq)
            })?;
        }
    }
    Ok(())
}
