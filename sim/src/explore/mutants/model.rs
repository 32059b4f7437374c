//! Bugs of asking the model and reading its reply.

use windlass_core::record::{Record, ToolChoice, Transition};
use windlass_core::run::{Phase, Run};
use windlass_core::{Input, decide};

use super::{Mutant, Told, records, replace, twice, without};

pub(super) const MUTANTS: &[Mutant] = &[
    records("take the reply of another call", foreign_reply, &["answers"]),
    records("say a note twice", note_twice, &["ladders"]),
    records("keep a reply twice", keep_twice, &["answers"]),
    records("use a model call's number again", reuse_number, &["answers"]),
    records("ask again before the pause is over", impatient, &["faults"]),
    records("ask the model in a halted run", ask_halted, &["drift"]),
    records("ask although the run is to end", ask_anyway, &["answers", "reads"]),
    records("answer nothing to a reply that was cut", say_nothing, &["ladders"]),
    records("drop the reply and ask about nothing new", drop_reply, &["answers"]),
    records("compact without end", compact_again, &["ladders"]),
];

fn foreign_reply(told: &Told<'_>, records: Vec<Record>) -> Vec<Record> {
    let open = told.run().and_then(Run::asking).map(|asking| asking.ask);
    match (told.input, open) {
        (Input::Replied { reply, facts, .. }, Some(ask)) => {
            let (reply, facts) = (reply.clone(), facts.clone());
            decide(told.state, told.at, &Input::Replied { ask, reply, facts })
        }
        _ => records,
    }
}

fn note_twice(_: &Told<'_>, records: Vec<Record>) -> Vec<Record> {
    twice(records, |record| matches!(record, Record::Noted { .. }))
}

fn keep_twice(_: &Told<'_>, records: Vec<Record>) -> Vec<Record> {
    twice(records, |record| matches!(record, Record::ReplyKept {}))
}

fn reuse_number(told: &Told<'_>, records: Vec<Record>) -> Vec<Record> {
    replace(records, |record| match record {
        Record::Asked { ask, max_tokens, bound, reserved_tokens, transition, choice } => {
            let ask = if told.state.asks > 0 { told.state.asks } else { ask };
            vec![Record::Asked { ask, max_tokens, bound, reserved_tokens, transition, choice }]
        }
        record => vec![record],
    })
}

fn impatient(told: &Told<'_>, records: Vec<Record>) -> Vec<Record> {
    match (told.input, told.run().map(|run| &run.phase)) {
        (Input::Ticked {}, Some(Phase::Deferred { until })) => {
            decide(told.state, *until, told.input)
        }
        _ => records,
    }
}

fn ask_halted(told: &Told<'_>, records: Vec<Record>) -> Vec<Record> {
    let halts = records.iter().any(|record| {
        matches!(record, Record::Questioned { question } if question.about.call().is_none())
    });
    match told.input {
        Input::Adopted { .. } if halts => {
            let ask = told.state.asks + 1;
            let bound = windlass_core::record::OutputBound::Cap;
            let transition = Transition::Adopted;
            let choice = ToolChoice::Open;
            let asked = Record::Asked {
                ask,
                max_tokens: 9,
                bound,
                reserved_tokens: 10,
                transition,
                choice,
            };
            records.into_iter().chain([asked]).collect()
        }
        _ => records,
    }
}

fn ask_anyway(told: &Told<'_>, records: Vec<Record>) -> Vec<Record> {
    let stopping = told.run().is_some_and(|run| run.stop.is_some());
    let replied = matches!(told.input, Input::Replied { .. } | Input::ToolReturned { .. });
    if !stopping || !replied {
        return records;
    }
    let mut state = told.state.clone();
    if let Some(run) = &mut state.run {
        run.stop = None;
    }
    decide(&state, told.at, told.input)
}

fn say_nothing(_: &Told<'_>, records: Vec<Record>) -> Vec<Record> {
    without(records, |record| matches!(record, Record::Noted { .. }))
}

fn drop_reply(_: &Told<'_>, records: Vec<Record>) -> Vec<Record> {
    replace(records, |record| match record {
        Record::ReplyKept {} => vec![Record::ReplyDropped { why: None }],
        record => vec![record],
    })
}

fn compact_again(_: &Told<'_>, records: Vec<Record>) -> Vec<Record> {
    twice(records, |record| matches!(record, Record::Compacted { .. }))
}
