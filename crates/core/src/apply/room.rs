//! Room that was made in the window.

use crate::conversation::{Asked, Conversation};
use crate::ids::MailId;
use crate::input::Input;
use crate::mail::MailBody;
use crate::record::Record;
use crate::window::{CompactionTrigger, Rewrite, Rung};

use super::talk::{mail_body, refresh_digest};
use super::with_run;

pub(super) fn compacted(c: &mut Conversation, record: &Record) {
    let Record::Compacted { keep_from, note, rung, attached, trigger, .. } = record else { return };
    let place = |at: &u64| usize::try_from(*at).unwrap_or(usize::MAX);
    let attached: Vec<usize> = attached.iter().map(place).collect();
    let journal = if rung.is_some() { c.journal_to_show() } else { String::new() };
    c.end_generation();
    c.transcript.compact(place(keep_from), note, &attached, &journal);
    if *trigger == CompactionTrigger::Reactive {
        with_run(c, |run| {
            run.counters.reactive_compactions = run.counters.reactive_compactions.saturating_add(1);
        });
    }
    if let Some(rung) = rung {
        climbed(c, *rung);
        c.journal_shown = c.journal.version();
        refresh_digest(c);
    }
    heard(c);
}

pub(super) fn asked_for(c: &mut Conversation, input: &Input, mail: MailId) {
    c.compaction = Asked::Yes;
    if let Some(MailBody::Compact { wishes: Some(wishes) }) = mail_body(input, mail) {
        c.compaction_wishes = Some(wishes.clone());
    }
}

/// Whoever asked for room was heard.
fn heard(c: &mut Conversation) {
    c.compaction = Asked::No;
    c.compaction_wishes = None;
}

pub(super) fn pruned(c: &mut Conversation, rewrites: &[Rewrite]) {
    c.end_generation();
    c.transcript.rewrite(rewrites);
}

pub(super) fn climbed(c: &mut Conversation, rung: Rung) {
    heard(c);
    with_run(c, |run| {
        let iteration = run.counters.model_calls;
        run.recoveries.climbed(rung, iteration);
    });
}
