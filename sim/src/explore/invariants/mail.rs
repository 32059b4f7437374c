//! Mail is answered for: whatever is drained leaves exactly one record that names it.

use windlass_core::call::Call;
use windlass_core::child::Homecoming;
use windlass_core::ids::{Millis, RunId};
use windlass_core::mail::{Answer, Mail, MailBody};
use windlass_core::question::Question;
use windlass_core::record::{Record, Stop};
use windlass_core::run::Run;
use windlass_core::{Conversation, Input};

use super::{Fact, OfFact, OfStep, Step, Verdict, ensure};
use crate::explore::ledger::answer_in;

pub(super) const STEPS: &[OfStep] = &[("every mail leaves one record", mail_leaves_one_record)];

pub(super) const FACTS: &[OfFact] = &[
    ("mail is refused only for a reason", refused_rightly),
    ("room is asked for only where something can be left out", room_asked_rightly),
];

fn mail_leaves_one_record(step: &Step<'_>) -> Verdict {
    let Input::Received { mail } = &step.entry.input else { return Ok(()) };
    for mail in mail {
        let count = |which: fn(&Record, &Mail) -> bool| {
            step.entry.records.iter().filter(|record| which(record, mail)).count()
        };
        let named = match count(names) {
            0 => count(ends_unbegun),
            named => named,
        };
        ensure(named == 1, || format!("{named} records name mail {} {:?}", mail.id, mail.body))?;
    }
    Ok(())
}

fn names(record: &Record, mail: &Mail) -> bool {
    match (&mail.body, record) {
        (_, Record::MailRefused { mail: id, .. }) => *id == mail.id,
        (MailBody::Prompt { .. }, Record::Queued { mail: id }) => *id == mail.id,
        (MailBody::Steer { .. }, Record::Queued { mail: id } | Record::Steered { mail: id }) => {
            *id == mail.id
        }
        (MailBody::ChildFinished { home: None, .. }, Record::Steered { mail: id }) => {
            *id == mail.id
        }
        (MailBody::ChildFinished { .. }, Record::ChildBack { mail: id }) => *id == mail.id,
        (MailBody::Task { .. }, Record::Employed { mail: id }) => *id == mail.id,
        (MailBody::Compact { .. }, Record::CompactionAsked { mail: id }) => *id == mail.id,
        (MailBody::Memory { .. }, Record::Remembered { mail: id }) => *id == mail.id,
        (MailBody::Answer { .. }, Record::Answered { mail: id }) => *id == mail.id,
        (MailBody::Cancel { .. }, Record::CancelRequested { mail: id, how }) => {
            *id == mail.id && *how == Stop::Cancel
        }
        (MailBody::Abort { .. }, Record::CancelRequested { mail: id, how }) => {
            *id == mail.id && *how == Stop::Abort
        }
        _ => false,
    }
}

/// The cancel of a run that has not begun is recorded as the run's end.
fn ends_unbegun(record: &Record, mail: &Mail) -> bool {
    match (&mail.body, record) {
        (
            MailBody::Cancel { run: target } | MailBody::Abort { run: target },
            Record::Finished { run, .. },
        ) => target.as_ref() == Some(run),
        _ => false,
    }
}

fn refused_rightly(fact: &Fact<'_>) -> Verdict {
    let Record::MailRefused { mail: id, .. } = fact.record else { return Ok(()) };
    let Input::Received { mail } = &fact.entry.input else { return Ok(()) };
    let Some(mail) = mail.iter().find(|mail| mail.id == *id) else { return Ok(()) };
    let now = fact.now;
    let useful = match &mail.body {
        MailBody::Prompt { run, .. } => has_room(now, run),
        MailBody::Steer { run, .. } if goes_on(now).is_none() => has_room(now, run),
        MailBody::Steer { .. } => goes_on(now).is_some_and(|run| run.steers.is_empty()),
        MailBody::Answer { .. } => answer_in(now, &fact.entry.input, *id)
            .is_some_and(|(question, answer)| is_good(now, question, answer, fact.entry.at)),
        MailBody::Cancel { run } => can_stop(now, run.as_ref(), Stop::Cancel),
        MailBody::Abort { run } => can_stop(now, run.as_ref(), Stop::Abort),
        MailBody::ChildFinished { home: Some(home), .. } => is_awaited(now, home),
        MailBody::ChildFinished { .. } => goes_on(now).is_some_and(|run| run.steers.is_empty()),
        MailBody::Task { run, .. } => has_room(now, run) && now.parent.is_none(),
        MailBody::Compact { .. } => can_leave_out(now),
        MailBody::Memory { text } => !text.trim().is_empty() && can_remember(now),
    };
    ensure(!useful, || format!("{:?}", mail.body))
}

/// Whether a compaction would leave anything out: the last messages stay, and so do
/// instructions and what people said in the run.
fn can_leave_out(c: &Conversation) -> bool {
    let Some(settings) = &c.settings else { return false };
    let kept = settings.limits.kept_messages;
    let prompts = c.run.as_ref().map_or(0, |run| run.prompts);
    let cut = c.transcript.cut_point(kept);
    cut.is_some_and(|cut| c.transcript.protected(cut, prompts).len() < cut)
}

fn room_asked_rightly(fact: &Fact<'_>) -> Verdict {
    let Record::CompactionAsked { .. } = fact.record else { return Ok(()) };
    ensure(can_leave_out(fact.now), || "there is nothing old".to_owned())
}

/// Whether an answer is one the question takes, comes in time, and is about what would run.
pub(super) fn is_good(c: &Conversation, question: &Question, answer: &Answer, at: Millis) -> bool {
    let Answer::Allow { input_hash: Some(seen), .. } = answer else {
        return question.about.takes(answer) && !question.is_expired(at);
    };
    let call = question.about.call().and_then(|call| c.input_hash(call));
    question.about.takes(answer) && !question.is_expired(at) && call.as_deref() == Some(&**seen)
}

/// Whether a call waits for this child.
fn is_awaited(c: &Conversation, home: &Homecoming) -> bool {
    let call = c.run.as_ref().and_then(Run::round).and_then(|round| round.call(home.call));
    let place = call.and_then(Call::away).and_then(|away| away.back.get(usize::from(home.part)));
    place.is_some_and(Option::is_none)
}

fn can_remember(c: &Conversation) -> bool {
    let most = c.settings.as_ref().map_or(0, |settings| settings.limits.waiting_steers);
    c.run.as_ref().is_none_or(|run| run.memories.len() < most as usize)
}

/// The active run, if nobody asked it to end.
fn goes_on(c: &Conversation) -> Option<&Run> {
    c.run.as_ref().filter(|run| run.stop.is_none())
}

fn has_room(c: &Conversation, id: &RunId) -> bool {
    let most = c.settings.as_ref().map_or(0, |settings| settings.limits.queued_prompts);
    let active = c.run.as_ref().is_some_and(|run| run.id == *id);
    let ended = c.last_end.as_ref().is_some_and(|end| end.run == *id);
    let waits = c.queue.iter().any(|queued| queued.run == *id);
    c.queue.len() < most as usize && !active && !ended && !waits && id.as_str() != "empty"
}

fn can_stop(c: &Conversation, target: Option<&RunId>, how: Stop) -> bool {
    let active = c.run.as_ref().filter(|run| target.is_none_or(|target| *target == run.id));
    let waits = c.queue.iter().any(|queued| Some(&queued.run) == target);
    waits || active.is_some_and(|run| run.stop.is_none_or(|stop| stop.how < how))
}
