//! What must hold at every entry of a long conversation.

use windlass_core::Conversation;
use windlass_core::apply::apply;
use windlass_core::audit::audit;
use windlass_core::log::Entry;
use windlass_core::record::Record;
use windlass_core::request::messages;
use windlass_core::transcript::{Part, Segment};

use super::figures::Figures;
use super::model::Bill;

/// Records one entry may have: more means that something goes round.
const MOST_RECORDS: usize = 400;

/// Looks at an entry that is about to be folded into `before`.
pub(super) fn entry(before: &Conversation, entry: &Entry, bill: Bill, figures: &mut Figures) {
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
            Record::Questioned { .. } => figures.humans += 1,
            Record::Asked { .. } => asked(&was, &now, entry, figures),
            _ => {}
        }
        if matches!(record, Record::Compacted { .. } | Record::Pruned { .. }) {
            kept(&was, &now, entry, figures);
        }
        spent(&was, &now, entry, bill, figures);
    }
}

/// A request is one the API accepts, and none is made once a cap is passed.
fn asked(was: &Conversation, now: &Conversation, entry: &Entry, figures: &mut Figures) {
    if let Err(refusal) = audit(&messages(now.transcript.segments().iter())) {
        figures.failures.push(format!("entry {}: {refusal}", entry.seq));
    }
    let cap = was.settings.as_ref().and_then(|settings| settings.limits.run_tokens);
    let passed = was.run.as_ref().is_some_and(|run| cap.is_some_and(|cap| run.spent.tokens > cap));
    if passed {
        figures.failures.push(format!("entry {}: asked although a cap is passed", entry.seq));
    }
}

/// Instructions, and what people said in this run.
fn must_stay(c: &Conversation) -> Vec<&Segment> {
    let of_run = c.run.as_ref().map_or(0, |run| run.prompts as usize);
    let said = c.transcript.segments().iter().filter(|s| s.part == Part::Prompt).count();
    let older = said.saturating_sub(of_run);
    let mut seen = 0;
    let stays = |segment: &&Segment| {
        seen += usize::from(segment.part == Part::Prompt);
        segment.part == Part::Memory || (segment.part == Part::Prompt && seen > older)
    };
    c.transcript.segments().iter().filter(stays).collect()
}

fn kept(was: &Conversation, now: &Conversation, entry: &Entry, figures: &mut Figures) {
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

/// A cap is passed by one reserved call at most, where tokens are counted as they are.
fn spent(was: &Conversation, now: &Conversation, entry: &Entry, bill: Bill, figures: &mut Figures) {
    let cap = now.settings.as_ref().and_then(|settings| settings.limits.run_tokens);
    let (Some(run), Some(cap), Bill::Honest(_)) = (&now.run, cap, bill) else { return };
    let over = run.spent.tokens.saturating_sub(cap);
    let reserved =
        was.run.as_ref().and_then(|run| run.asking()).map(|asking| asking.reserved_tokens);
    figures.overshoot = figures.overshoot.max(over);
    if over > 0 && reserved.is_some_and(|reserved| over > reserved) {
        figures.failures.push(format!("entry {}: {over} tokens beyond the cap", entry.seq));
    }
}
