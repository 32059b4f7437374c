//! Checks at every entry of a long conversation with a hostile model.

use windlass_core::Conversation;
use windlass_core::apply::apply;
use windlass_core::log::entry::Entry;
use windlass_core::log::record::Record;
use windlass_core::message::request::join_segments;
use windlass_core::message::request_check::check_messages;
use windlass_core::message::transcript::{SegmentKind, TranscriptSegment};

use super::figures::HostileFigures;
use super::model::HostileUsage;

/// Maximum number of records of one entry: more means an endless loop.
const MOST_RECORDS: usize = 400;

/// Checks an entry that is about to be folded into `before`.
pub(super) fn entry(
    before: &Conversation,
    entry: &Entry,
    bill: HostileUsage,
    figures: &mut HostileFigures,
) {
    let mut now = before.clone();
    if entry.records.len() > MOST_RECORDS {
        figures.failures.push(format!("entry {}: {} records", entry.seq, entry.records.len()));
    }
    for record in &entry.records {
        let was = now.clone();
        apply(&mut now, entry.at, &entry.input, record);
        match record {
            Record::Compacted { .. } => figures.compactions += 1,
            Record::Pruned { .. } => figures.prunes += 1,
            Record::QuestionAsked { .. } => figures.humans += 1,
            Record::ModelCallStarted { .. } => check_request(&was, &now, entry, figures),
            _ => {}
        }
        if matches!(record, Record::Compacted { .. } | Record::Pruned { .. }) {
            check_kept(&was, &now, entry, figures);
        }
        spent(&was, &now, entry, bill, figures);
    }
}

/// Checks that the API accepts a request, and that none is made once a cap is exceeded.
fn check_request(
    was: &Conversation,
    now: &Conversation,
    entry: &Entry,
    figures: &mut HostileFigures,
) {
    if let Err(refusal) = check_messages(&join_segments(now.transcript.segments().iter())) {
        figures.failures.push(format!("entry {}: {refusal}", entry.seq));
    }
    let cap = was.settings.as_ref().and_then(|settings| settings.limits.run_tokens);
    let passed = was.run.as_ref().is_some_and(|run| cap.is_some_and(|cap| run.spent.tokens > cap));
    if passed {
        figures.failures.push(format!("entry {}: asked although a cap is passed", entry.seq));
    }
}

/// Returns what must stay: instructions, and the user's messages of this run.
fn must_stay(c: &Conversation) -> Vec<&TranscriptSegment> {
    let of_run = c.run.as_ref().map_or(0, |run| run.user_message_count as usize);
    let said = c.transcript.segments().iter().filter(|s| s.kind == SegmentKind::Prompt).count();
    let older = said.saturating_sub(of_run);
    let mut seen = 0;
    let stays = |segment: &&TranscriptSegment| {
        seen += usize::from(segment.kind == SegmentKind::Prompt);
        segment.kind == SegmentKind::Memory || (segment.kind == SegmentKind::Prompt && seen > older)
    };
    c.transcript.segments().iter().filter(stays).collect()
}

fn check_kept(was: &Conversation, now: &Conversation, entry: &Entry, figures: &mut HostileFigures) {
    let mut left = now.transcript.segments().iter();
    for stays in must_stay(was) {
        figures.looked_for += 1;
        if left.any(|segment| segment == stays) {
            figures.kept += 1;
        } else {
            figures.failures.push(format!("entry {}: {stays:?} is gone", entry.seq));
        }
    }
}

/// A cap is exceeded by one reserved call at most, where the usage is reported honestly.
fn spent(
    was: &Conversation,
    now: &Conversation,
    entry: &Entry,
    bill: HostileUsage,
    figures: &mut HostileFigures,
) {
    let cap = now.settings.as_ref().and_then(|settings| settings.limits.run_tokens);
    let (Some(run), Some(cap), HostileUsage::Honest(_)) = (&now.run, cap, bill) else { return };
    let over = run.spent.tokens.saturating_sub(cap);
    let reserved = was
        .run
        .as_ref()
        .and_then(|run| run.pending_model_call())
        .map(|asking| asking.reserved_tokens);
    figures.overshoot = figures.overshoot.max(over);
    if over > 0 && reserved.is_some_and(|reserved| over > reserved) {
        figures.failures.push(format!("entry {}: {over} tokens beyond the cap", entry.seq));
    }
}
