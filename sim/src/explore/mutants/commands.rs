//! Planted bugs in commands, prompt queue and questions.

use std::sync::Arc;

use windlass_core::call::call_state::CallState;
use windlass_core::log::command_rejection::CommandRejection;
use windlass_core::log::ids::InboxMessageId;
use windlass_core::log::inbox::{HumanAnswer, InboxCommand};
use windlass_core::log::record::{Record, StopMode};
use windlass_core::stop::StopCause;
use windlass_core::{Input, decide};

use super::{DecideCall, Mutant, records, replace, twice, until, without};

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
    records("accept an answer to no open question", stale_answer, &["approval"]),
    records("refuse a good answer", refuse_answer, &["approval"]),
    records("accept an approval that comes too late", late_leave, &["expiring"]),
    records("let a question wait that has expired", never_expires, &["expiring"]),
    records("accept an approval of another input", other_input, &["approval"]),
    records("refuse a compaction that is possible", refuse_room, &["on-request"]),
    records("promise a compaction where nothing is old", promise_room, &["on-request"]),
    records("ask the same question under the same number", same_number, &["approval"]),
];

fn refused(message: InboxMessageId) -> Vec<Record> {
    vec![Record::CommandRejected { message, reason: CommandRejection::NoSuchRun }]
}

fn is_queued(record: &Record) -> bool {
    matches!(record, Record::PromptQueued { .. })
}

fn lose_prompt(_: &DecideCall<'_>, records: Vec<Record>) -> Vec<Record> {
    let more = records.len() > 1;
    if more { without(records, is_queued) } else { records }
}

fn refuse_prompt(told: &DecideCall<'_>, records: Vec<Record>) -> Vec<Record> {
    if told.run().is_none() {
        return records;
    }
    replace(records, |record| match record {
        Record::PromptQueued { message } => refused(message),
        record => vec![record],
    })
}

fn queue_twice(told: &DecideCall<'_>, records: Vec<Record>) -> Vec<Record> {
    if told.run().is_some() { twice(records, is_queued) } else { records }
}

fn lifo(told: &DecideCall<'_>, records: Vec<Record>) -> Vec<Record> {
    replace(records, |record| match (record, told.state.prompt_queue.back()) {
        (Record::RunStarted { .. }, Some(last)) => {
            vec![Record::RunStarted { run: last.run.clone() }]
        }
        (record, _) => vec![record],
    })
}

fn supersede(told: &DecideCall<'_>, mut records: Vec<Record>) -> Vec<Record> {
    if let (Some(run), true) = (told.run(), records.iter().any(is_queued)) {
        let run = run.id.clone();
        let cause = StopCause::UserCancel;
        records.push(Record::RunFinished {
            run,
            cause,
            other_causes: Vec::new(),
            text_override: Some(Arc::from("")),
        });
    }
    records
}

fn lose_steer(_: &DecideCall<'_>, records: Vec<Record>) -> Vec<Record> {
    replace(records, |record| match record {
        Record::SteeringQueued { message } => refused(message),
        record => vec![record],
    })
}

fn is_stop(record: &Record) -> bool {
    matches!(record, Record::CancelRequested { .. })
}

fn lose_cancel(_: &DecideCall<'_>, records: Vec<Record>) -> Vec<Record> {
    if records.len() > 1 { until(records, is_stop) } else { records }
}

fn refuse_cancel(_: &DecideCall<'_>, records: Vec<Record>) -> Vec<Record> {
    match records.first() {
        Some(Record::CancelRequested { message, .. }) => refused(*message),
        _ => records,
    }
}

fn soften(_: &DecideCall<'_>, records: Vec<Record>) -> Vec<Record> {
    replace(records, |record| match record {
        Record::CancelRequested { message, .. } => {
            vec![Record::CancelRequested { message, mode: StopMode::Cancel }]
        }
        record => vec![record],
    })
}

fn stale_answer(told: &DecideCall<'_>, records: Vec<Record>) -> Vec<Record> {
    let answers = match told.input {
        Input::CommandsReceived { messages } => {
            messages.iter().any(|mail| matches!(mail.body, InboxCommand::Answer { .. }))
        }
        _ => false,
    };
    replace(records, |record| match record {
        Record::CommandRejected { message, .. } if answers => {
            vec![Record::QuestionAnswered { message }]
        }
        record => vec![record],
    })
}

fn refuse_answer(_: &DecideCall<'_>, records: Vec<Record>) -> Vec<Record> {
    match records.first() {
        Some(Record::QuestionAnswered { message }) => refused(*message),
        _ => records,
    }
}

fn same_number(_: &DecideCall<'_>, records: Vec<Record>) -> Vec<Record> {
    replace(records, |record| match record {
        Record::QuestionAsked { mut question } => {
            question.id = 1;
            vec![Record::QuestionAsked { question }]
        }
        record => vec![record],
    })
}

/// As if no question ever expired.
fn unexpiring(told: &DecideCall<'_>) -> Vec<Record> {
    told.decided_for(|run| {
        for call in run.round_mut().into_iter().flat_map(|round| &mut round.calls) {
            if let CallState::AwaitingHuman(question) = &mut call.state {
                question.expires_at = None;
            }
        }
    })
}

fn late_leave(told: &DecideCall<'_>, records: Vec<Record>) -> Vec<Record> {
    if matches!(told.input, Input::CommandsReceived { .. }) { unexpiring(told) } else { records }
}

fn never_expires(told: &DecideCall<'_>, records: Vec<Record>) -> Vec<Record> {
    if matches!(told.input, Input::TimerFired {}) { unexpiring(told) } else { records }
}

fn other_input(told: &DecideCall<'_>, records: Vec<Record>) -> Vec<Record> {
    let Input::CommandsReceived { messages } = told.input else { return records };
    let mut messages = messages.clone();
    for body in messages.iter_mut().map(|mail| &mut mail.body) {
        if let InboxCommand::Answer { answer: HumanAnswer::Allow { input_hash, .. }, .. } = body {
            *input_hash = None;
        }
    }
    decide(told.state, told.at, &Input::CommandsReceived { messages })
}

fn refuse_room(_: &DecideCall<'_>, records: Vec<Record>) -> Vec<Record> {
    replace(records, |record| match record {
        Record::CompactionRequested { message } => refused(message),
        record => vec![record],
    })
}

fn promise_room(told: &DecideCall<'_>, records: Vec<Record>) -> Vec<Record> {
    let Input::CommandsReceived { messages } = told.input else { return records };
    let wants = |id: &InboxMessageId| {
        messages
            .iter()
            .any(|mail| mail.id == *id && matches!(mail.body, InboxCommand::Compact { .. }))
    };
    replace(records, |record| match record {
        Record::CommandRejected { message, .. } if wants(&message) => {
            vec![Record::CompactionRequested { message }]
        }
        record => vec![record],
    })
}
