//! Bugs of a new owner.

use std::sync::Arc;

use windlass_core::outcome::Shown;
use windlass_core::question::{About, Question};
use windlass_core::record::{Record, Settlement};
use windlass_core::reply::Usage;
use windlass_core::{Input, decide};

use super::{Mutant, Told, records, replace, without};

pub(super) const MUTANTS: &[Mutant] = &[
    records("repeat a once-only call after a crash", repeat, &["once-only"]),
    records("take a lost call to be still in the air", forget_loss, &["once-only"]),
    records("ask nobody and call a lost call done", guess, &["once-only"]),
    records("ask nobody and call a lost call skipped", skip, &["once-only"]),
    records("ask a human what the tool could tell", unprobed, &["verify"]),
    records("put before a human what was safe", surface, &["reads", "conflicts"]),
    records("ignore a changed prompt", ignore_drift, &["drift"]),
    records("ask about a prompt that did not change", invent_drift, &["once-only"]),
    records("do not charge a model call that was lost", uncharged, &["budget", "faults"]),
    records("forget an owner's takeover", forget_takeover, &["once-only"]),
];

fn is_takeover(told: &Told<'_>) -> bool {
    matches!(told.input, Input::Adopted { .. })
}

fn is_uncertain(record: &Record) -> bool {
    matches!(record, Record::Questioned { question } if matches!(question.about, About::Uncertain { .. }))
}

fn repeat(told: &Told<'_>, records: Vec<Record>) -> Vec<Record> {
    if !is_takeover(told) {
        return records;
    }
    let records = replace(without(records, is_uncertain), |record| match record {
        Record::CallLost { call } => vec![Record::CallCleared { call }],
        record => vec![record],
    });
    told.advanced(records)
}

fn forget_loss(_: &Told<'_>, records: Vec<Record>) -> Vec<Record> {
    without(records, |record| matches!(record, Record::CallLost { .. }) || is_uncertain(record))
}

fn settle_instead(told: &Told<'_>, records: Vec<Record>, shown: &Shown) -> Vec<Record> {
    let records = replace(records, |record| match &record {
        Record::Questioned { question } if is_uncertain(&record) => settled(question, shown),
        _ => vec![record],
    });
    if is_takeover(told) { told.advanced(records) } else { records }
}

fn settled(question: &Question, shown: &Shown) -> Vec<Record> {
    let shown = Settlement::Shown(shown.clone());
    question.about.call().map(|call| Record::Settled { call, shown }).into_iter().collect()
}

fn guess(told: &Told<'_>, records: Vec<Record>) -> Vec<Record> {
    settle_instead(told, records, &Shown::answered("done", 100))
}

fn skip(told: &Told<'_>, records: Vec<Record>) -> Vec<Record> {
    settle_instead(told, records, &Shown::skipped("x"))
}

fn unprobed(told: &Told<'_>, records: Vec<Record>) -> Vec<Record> {
    let id = told.state.questions + 1;
    let asks = records.iter().any(is_uncertain);
    replace(records, |record| match record {
        Record::CallLost { call } if !asks => {
            let question = Question::new(id, About::Uncertain { call });
            vec![record, Record::Questioned { question }]
        }
        record => vec![record],
    })
}

fn surface(told: &Told<'_>, records: Vec<Record>) -> Vec<Record> {
    if !is_takeover(told) {
        return records;
    }
    let id = told.state.questions + 1;
    replace(records, |record| match record {
        Record::Launched { call } => {
            let question = Question::new(id, About::Uncertain { call });
            vec![Record::Questioned { question }]
        }
        record => vec![record],
    })
}

fn adopted_with(told: &Told<'_>, records: Vec<Record>, hash: Option<Arc<str>>) -> Vec<Record> {
    match (told.input, hash) {
        (Input::Adopted { epoch, .. }, Some(prompt_hash)) => decide(
            told.state,
            told.at,
            &Input::Adopted { epoch: *epoch, prompt_hash, offer: None, settings: None },
        ),
        _ => records,
    }
}

fn ignore_drift(told: &Told<'_>, records: Vec<Record>) -> Vec<Record> {
    adopted_with(told, records, told.state.prompt_hash.clone())
}

fn invent_drift(told: &Told<'_>, records: Vec<Record>) -> Vec<Record> {
    adopted_with(told, records, Some(Arc::from("another")))
}

fn uncharged(_: &Told<'_>, records: Vec<Record>) -> Vec<Record> {
    replace(records, |record| match record {
        Record::AttemptAbandoned { ask, why, .. } => {
            vec![Record::AttemptAbandoned { ask, why, charged: Usage::default() }]
        }
        record => vec![record],
    })
}

fn forget_takeover(told: &Told<'_>, records: Vec<Record>) -> Vec<Record> {
    if is_takeover(told) { Vec::new() } else { records }
}
