//! Planted bugs in model calls and the handling of their replies.

use windlass_core::log::record::{Record, ToolChoice, Transition};
use windlass_core::run::active_run::{Run, RunPhase};
use windlass_core::{Input, decide};

use super::{DecideCall, Mutant, records, replace, twice, without};

pub(super) const MUTANTS: &[Mutant] = &[
    records("take the reply of another call", foreign_reply, &["answers"]),
    records("say a note twice", note_twice, &["ladders"]),
    records("keep a reply twice", keep_twice, &["answers"]),
    records("use a model call's number again", reuse_number, &["answers"]),
    records("ask again before the pause is over", impatient, &["faults"]),
    records("ask the model in a halted run", ask_halted, &["drift"]),
    records("ask although the run is to end", ask_anyway, &["answers", "reads"]),
    records("ignore a truncated reply", say_nothing, &["ladders"]),
    records("drop the reply and ask about nothing new", drop_reply, &["answers"]),
    records("compact without end", compact_again, &["ladders"]),
];

fn foreign_reply(told: &DecideCall<'_>, records: Vec<Record>) -> Vec<Record> {
    let open = told.run().and_then(Run::pending_model_call).map(|asking| asking.model_call);
    match (told.input, open) {
        (Input::ModelReplied { reply, facts, .. }, Some(model_call)) => {
            let (reply, facts) = (reply.clone(), facts.clone());
            decide(told.state, told.at, &Input::ModelReplied { model_call, reply, facts })
        }
        _ => records,
    }
}

fn note_twice(_: &DecideCall<'_>, records: Vec<Record>) -> Vec<Record> {
    twice(records, |record| matches!(record, Record::NoteAdded { .. }))
}

fn keep_twice(_: &DecideCall<'_>, records: Vec<Record>) -> Vec<Record> {
    twice(records, |record| matches!(record, Record::ReplyKept {}))
}

fn reuse_number(told: &DecideCall<'_>, records: Vec<Record>) -> Vec<Record> {
    replace(records, |record| match record {
        Record::ModelCallStarted {
            model_call,
            max_tokens,
            bound,
            reserved_tokens,
            transition,
            choice,
        } => {
            let model_call = if told.state.model_call_count > 0 {
                told.state.model_call_count
            } else {
                model_call
            };
            vec![Record::ModelCallStarted {
                model_call,
                max_tokens,
                bound,
                reserved_tokens,
                transition,
                choice,
            }]
        }
        record => vec![record],
    })
}

fn impatient(told: &DecideCall<'_>, records: Vec<Record>) -> Vec<Record> {
    match (told.input, told.run().map(|run| &run.phase)) {
        (Input::TimerFired {}, Some(RunPhase::AwaitingRetry { until })) => {
            decide(told.state, *until, told.input)
        }
        _ => records,
    }
}

fn ask_halted(told: &DecideCall<'_>, records: Vec<Record>) -> Vec<Record> {
    let halts = records.iter().any(|record| {
        matches!(record, Record::QuestionAsked { question } if question.kind.call().is_none())
    });
    match told.input {
        Input::OwnerChanged { .. } if halts => {
            let model_call = told.state.model_call_count + 1;
            let bound = windlass_core::log::record::OutputBound::Cap;
            let transition = Transition::OwnerChanged;
            let choice = ToolChoice::Auto;
            let asked = Record::ModelCallStarted {
                model_call,
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

fn ask_anyway(told: &DecideCall<'_>, records: Vec<Record>) -> Vec<Record> {
    let stopping = told.run().is_some_and(|run| run.stop_request.is_some());
    let replied = matches!(told.input, Input::ModelReplied { .. } | Input::ToolReturned { .. });
    if !stopping || !replied {
        return records;
    }
    let mut state = told.state.clone();
    if let Some(run) = &mut state.run {
        run.stop_request = None;
    }
    decide(&state, told.at, told.input)
}

fn say_nothing(_: &DecideCall<'_>, records: Vec<Record>) -> Vec<Record> {
    without(records, |record| matches!(record, Record::NoteAdded { .. }))
}

fn drop_reply(_: &DecideCall<'_>, records: Vec<Record>) -> Vec<Record> {
    replace(records, |record| match record {
        Record::ReplyKept {} => vec![Record::ReplyDropped { why: None }],
        record => vec![record],
    })
}

fn compact_again(_: &DecideCall<'_>, records: Vec<Record>) -> Vec<Record> {
    twice(records, |record| matches!(record, Record::Compacted { .. }))
}
