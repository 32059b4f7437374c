//! Bugs of mail, queue and questions.

use std::sync::Arc;

use windlass_core::call::CallState;
use windlass_core::ids::MailId;
use windlass_core::mail::{Answer, MailBody};
use windlass_core::record::{Record, Stop};
use windlass_core::stop::StopCause;
use windlass_core::{Input, decide};

use super::{Mutant, Told, records, replace, twice, until, without};

pub(super) const MUTANTS: &[Mutant] = &[
    records("lose a prompt", lose_prompt, &["queue"]),
    records("refuse a good prompt", refuse_prompt, &["queue"]),
    records("queue a prompt twice", queue_twice, &["queue"]),
    records("take the last prompt first", lifo, &["long-queue"]),
    records("let a prompt supersede the run", supersede, &["queue"]),
    records("lose a steer", lose_steer, &["queue", "answers"]),
    records("leave a cancel unread", lose_cancel, &["queue"]),
    records("refuse a cancel", refuse_cancel, &["queue"]),
    records("take an abort for a cancel", soften, &["once-only"]),
    records("take an answer nobody asked for", stale_answer, &["approval"]),
    records("refuse a good answer", refuse_answer, &["approval"]),
    records("take leave that comes too late", late_leave, &["expiring"]),
    records("let a question wait that has expired", never_expires, &["expiring"]),
    records("take leave for another input", other_input, &["approval"]),
    records("refuse room that could be made", refuse_room, &["on-request"]),
    records("promise room where nothing is old", promise_room, &["on-request"]),
    records("ask the same question under the same number", same_number, &["approval"]),
];

fn refused(mail: MailId) -> Vec<Record> {
    vec![Record::MailRefused { mail, why: Arc::from("bug") }]
}

fn is_queued(record: &Record) -> bool {
    matches!(record, Record::Queued { .. })
}

fn lose_prompt(_: &Told<'_>, records: Vec<Record>) -> Vec<Record> {
    let more = records.len() > 1;
    if more { without(records, is_queued) } else { records }
}

fn refuse_prompt(told: &Told<'_>, records: Vec<Record>) -> Vec<Record> {
    if told.run().is_none() {
        return records;
    }
    replace(records, |record| match record {
        Record::Queued { mail } => refused(mail),
        record => vec![record],
    })
}

fn queue_twice(told: &Told<'_>, records: Vec<Record>) -> Vec<Record> {
    if told.run().is_some() { twice(records, is_queued) } else { records }
}

fn lifo(told: &Told<'_>, records: Vec<Record>) -> Vec<Record> {
    replace(records, |record| match (record, told.state.queue.back()) {
        (Record::RunStarted { .. }, Some(last)) => {
            vec![Record::RunStarted { run: last.run.clone() }]
        }
        (record, _) => vec![record],
    })
}

fn supersede(told: &Told<'_>, mut records: Vec<Record>) -> Vec<Record> {
    if let (Some(run), true) = (told.run(), records.iter().any(is_queued)) {
        let run = run.id.clone();
        let cause = StopCause::UserCancel;
        records.push(Record::Finished { run, cause, also: Vec::new(), said: Some(Arc::from("")) });
    }
    records
}

fn lose_steer(_: &Told<'_>, records: Vec<Record>) -> Vec<Record> {
    replace(records, |record| match record {
        Record::Steered { mail } => refused(mail),
        record => vec![record],
    })
}

fn is_stop(record: &Record) -> bool {
    matches!(record, Record::CancelRequested { .. })
}

fn lose_cancel(_: &Told<'_>, records: Vec<Record>) -> Vec<Record> {
    if records.len() > 1 { until(records, is_stop) } else { records }
}

fn refuse_cancel(_: &Told<'_>, records: Vec<Record>) -> Vec<Record> {
    match records.first() {
        Some(Record::CancelRequested { mail, .. }) => refused(*mail),
        _ => records,
    }
}

fn soften(_: &Told<'_>, records: Vec<Record>) -> Vec<Record> {
    replace(records, |record| match record {
        Record::CancelRequested { mail, .. } => {
            vec![Record::CancelRequested { mail, how: Stop::Cancel }]
        }
        record => vec![record],
    })
}

fn stale_answer(told: &Told<'_>, records: Vec<Record>) -> Vec<Record> {
    let answers = match told.input {
        Input::Received { mail } => {
            mail.iter().any(|mail| matches!(mail.body, MailBody::Answer { .. }))
        }
        _ => false,
    };
    replace(records, |record| match record {
        Record::MailRefused { mail, .. } if answers => vec![Record::Answered { mail }],
        record => vec![record],
    })
}

fn refuse_answer(_: &Told<'_>, records: Vec<Record>) -> Vec<Record> {
    match records.first() {
        Some(Record::Answered { mail }) => refused(*mail),
        _ => records,
    }
}

fn same_number(_: &Told<'_>, records: Vec<Record>) -> Vec<Record> {
    replace(records, |record| match record {
        Record::Questioned { mut question } => {
            question.id = 1;
            vec![Record::Questioned { question }]
        }
        record => vec![record],
    })
}

/// As if no question ever expired.
fn unexpiring(told: &Told<'_>) -> Vec<Record> {
    told.decided_for(|run| {
        for call in run.round_mut().into_iter().flat_map(|round| &mut round.calls) {
            if let CallState::Questioned(question) = &mut call.state {
                question.expires_at = None;
            }
        }
    })
}

fn late_leave(told: &Told<'_>, records: Vec<Record>) -> Vec<Record> {
    if matches!(told.input, Input::Received { .. }) { unexpiring(told) } else { records }
}

fn never_expires(told: &Told<'_>, records: Vec<Record>) -> Vec<Record> {
    if matches!(told.input, Input::Ticked {}) { unexpiring(told) } else { records }
}

fn other_input(told: &Told<'_>, records: Vec<Record>) -> Vec<Record> {
    let Input::Received { mail } = told.input else { return records };
    let mut mail = mail.clone();
    for body in mail.iter_mut().map(|mail| &mut mail.body) {
        if let MailBody::Answer { answer: Answer::Allow { input_hash, .. }, .. } = body {
            *input_hash = None;
        }
    }
    decide(told.state, told.at, &Input::Received { mail })
}

fn refuse_room(_: &Told<'_>, records: Vec<Record>) -> Vec<Record> {
    replace(records, |record| match record {
        Record::CompactionAsked { mail } => refused(mail),
        record => vec![record],
    })
}

fn promise_room(told: &Told<'_>, records: Vec<Record>) -> Vec<Record> {
    let Input::Received { mail } = told.input else { return records };
    let wants = |id: &MailId| {
        mail.iter().any(|mail| mail.id == *id && matches!(mail.body, MailBody::Compact { .. }))
    };
    replace(records, |record| match record {
        Record::MailRefused { mail, .. } if wants(&mail) => vec![Record::CompactionAsked { mail }],
        record => vec![record],
    })
}
