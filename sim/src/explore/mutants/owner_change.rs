//! Planted bugs in owner changes (crash recovery).

use std::sync::Arc;

use windlass_core::call::outcome::CallResult;
use windlass_core::log::record::{Record, RecordedResult};
use windlass_core::message::reply::TokenUsage;
use windlass_core::run::question::{Question, QuestionKind};
use windlass_core::{Input, decide};

use super::{DecideCall, Mutant, records, replace, without};

pub(super) const MUTANTS: &[Mutant] = &[
    records("repeat a once-only call after a crash", repeat, &["once-only"]),
    records("treat a lost call as still in flight", forget_loss, &["once-only"]),
    records("record a lost call as done without asking", guess, &["once-only"]),
    records("record a lost call as skipped without asking", skip, &["once-only"]),
    records("ask a human what the tool could tell", unprobed, &["verify"]),
    records("ask a human about what is safe", surface, &["reads", "conflicts"]),
    records("ignore a changed prompt", ignore_drift, &["drift"]),
    records("ask about a prompt that did not change", invent_drift, &["once-only"]),
    records("do not charge a model call that was lost", uncharged, &["budget", "faults"]),
    records("forget an owner's takeover", forget_takeover, &["once-only"]),
];

fn is_takeover(told: &DecideCall<'_>) -> bool {
    matches!(told.input, Input::OwnerChanged { .. })
}

fn is_uncertain(record: &Record) -> bool {
    matches!(record, Record::QuestionAsked { question } if matches!(question.kind, QuestionKind::Uncertain { .. }))
}

fn repeat(told: &DecideCall<'_>, records: Vec<Record>) -> Vec<Record> {
    if !is_takeover(told) {
        return records;
    }
    let records = replace(without(records, is_uncertain), |record| match record {
        Record::CallLost { call } => vec![Record::CallRequeued { call }],
        record => vec![record],
    });
    told.advance_records(records)
}

fn forget_loss(_: &DecideCall<'_>, records: Vec<Record>) -> Vec<Record> {
    without(records, |record| matches!(record, Record::CallLost { .. }) || is_uncertain(record))
}

fn settle_instead(told: &DecideCall<'_>, records: Vec<Record>, shown: &CallResult) -> Vec<Record> {
    let records = replace(records, |record| match &record {
        Record::QuestionAsked { question } if is_uncertain(&record) => settled(question, shown),
        _ => vec![record],
    });
    if is_takeover(told) { told.advance_records(records) } else { records }
}

fn settled(question: &Question, shown: &CallResult) -> Vec<Record> {
    let result = RecordedResult::Replaced(shown.clone());
    question.kind.call().map(|call| Record::ResultFinalized { call, result }).into_iter().collect()
}

fn guess(told: &DecideCall<'_>, records: Vec<Record>) -> Vec<Record> {
    settle_instead(told, records, &CallResult::from_human("done", 100))
}

fn skip(told: &DecideCall<'_>, records: Vec<Record>) -> Vec<Record> {
    settle_instead(told, records, &CallResult::from_skip("x"))
}

fn unprobed(told: &DecideCall<'_>, records: Vec<Record>) -> Vec<Record> {
    let id = told.state.question_count + 1;
    let asks = records.iter().any(is_uncertain);
    replace(records, |record| match record {
        Record::CallLost { call } if !asks => {
            let question = Question::new(id, QuestionKind::Uncertain { call });
            vec![record, Record::QuestionAsked { question }]
        }
        record => vec![record],
    })
}

fn surface(told: &DecideCall<'_>, records: Vec<Record>) -> Vec<Record> {
    if !is_takeover(told) {
        return records;
    }
    let id = told.state.question_count + 1;
    replace(records, |record| match record {
        Record::RepeatableCallStarted { call } => {
            let question = Question::new(id, QuestionKind::Uncertain { call });
            vec![Record::QuestionAsked { question }]
        }
        record => vec![record],
    })
}

fn adopted_with(
    told: &DecideCall<'_>,
    records: Vec<Record>,
    hash: Option<Arc<str>>,
) -> Vec<Record> {
    match (told.input, hash) {
        (Input::OwnerChanged { epoch, .. }, Some(prompt_hash)) => decide(
            told.state,
            told.at,
            &Input::OwnerChanged {
                epoch: *epoch,
                prompt_hash,
                prompt_fingerprint: None,
                settings: None,
            },
        ),
        _ => records,
    }
}

fn ignore_drift(told: &DecideCall<'_>, records: Vec<Record>) -> Vec<Record> {
    adopted_with(told, records, told.state.prompt_hash.clone())
}

fn invent_drift(told: &DecideCall<'_>, records: Vec<Record>) -> Vec<Record> {
    adopted_with(told, records, Some(Arc::from("another")))
}

fn uncharged(_: &DecideCall<'_>, records: Vec<Record>) -> Vec<Record> {
    replace(records, |record| match record {
        Record::ModelCallAbandoned { model_call, cause, .. } => {
            vec![Record::ModelCallAbandoned { model_call, cause, charged: TokenUsage::default() }]
        }
        record => vec![record],
    })
}

fn forget_takeover(told: &DecideCall<'_>, records: Vec<Record>) -> Vec<Record> {
    if is_takeover(told) { Vec::new() } else { records }
}
