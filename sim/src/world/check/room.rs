//! Room in the window: what must stay is there after every compaction.

use windlass_core::Conversation;
use windlass_core::apply::apply;
use windlass_core::record::Record;
use windlass_core::transcript::{Part, Segment};

use super::history::Step;
use super::{Case, ensure};

/// What people said in the run, and instructions, byte for byte.
pub(super) fn keeps_rules(case: &Case<'_>) -> Result<(), String> {
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

fn lost_in(step: &Step) -> Option<Segment> {
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

fn must_stay(c: &Conversation) -> impl Iterator<Item = &Segment> {
    let is_said = |segment: &&Segment| segment.part == Part::Prompt;
    let of_run = c.run.as_ref().map_or(0, |run| run.prompts as usize);
    let older = c.transcript.segments().iter().filter(is_said).count().saturating_sub(of_run);
    let mut seen = 0;
    c.transcript.segments().iter().filter(move |segment| {
        seen += usize::from(segment.part == Part::Prompt);
        segment.part == Part::Memory || (segment.part == Part::Prompt && seen > older)
    })
}

/// The ladder has an end.
pub(super) fn ends(case: &Case<'_>) -> Result<(), String> {
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
