//! Planted bugs in the end of runs.

use windlass_core::Input;
use windlass_core::log::record::{OutputBound, Record, ToolChoice, Transition};
use windlass_core::message::reply::StopReason;
use windlass_core::stop::StopCause;

use super::{DecideCall, Mutant, records, replace, twice, until, without};

pub(super) const MUTANTS: &[Mutant] = &[
    records("forget a stop cause", forget_end, &["answers"]),
    records("end a run twice", end_twice, &["answers"]),
    records("accept a truncated reply as an answer", cut_is_answer, &["ladders"]),
    records("run the tools of a refusal", refusal_runs, &["odd-calls"]),
    records("go on after a fatal error", fatal_goes_on, &["fatal", "reads"]),
    records("forget the cancel when another cause comes", forget_cancel, &["faults", "answers"]),
    records("record the stop causes in the wrong order", wrong_order, &["answers", "budget"]),
    records("ignore the budget", ignore_budget, &["budget"]),
    records("wait for a dead provider for ever", defer_forever, &["faults"]),
    records("ask again for ever", reprompt_forever, &["answers"]),
    records("run tools beyond the limit", endless_rounds, &["reads"]),
    records("end in the middle of a round", end_in_round, &["reads"]),
    records("call an empty end a success", empty_success, &["answers"]),
];

pub(super) fn is_end(record: &Record) -> bool {
    matches!(record, Record::RunFinished { .. })
}

fn forget_end(_: &DecideCall<'_>, records: Vec<Record>) -> Vec<Record> {
    until(records, is_end)
}

fn end_twice(_: &DecideCall<'_>, records: Vec<Record>) -> Vec<Record> {
    twice(records, is_end)
}

fn end(told: &DecideCall<'_>, cause: StopCause) -> Vec<Record> {
    let run = told.run().map(|run| run.id.clone());
    run.map(|run| Record::RunFinished { run, cause, other_causes: Vec::new(), text_override: None })
        .into_iter()
        .collect()
}

fn stop_reason<'a>(told: &DecideCall<'a>) -> Option<&'a StopReason> {
    match told.input {
        Input::ModelReplied { reply, .. } => Some(&reply.stop_reason),
        _ => None,
    }
}

fn cut_is_answer(told: &DecideCall<'_>, records: Vec<Record>) -> Vec<Record> {
    match (stop_reason(told), records.first()) {
        (Some(StopReason::MaxTokens), Some(first)) => {
            let start = [first.clone(), Record::ReplyKept {}];
            start.into_iter().chain(end(told, StopCause::EndTurn)).collect()
        }
        _ => records,
    }
}

fn refusal_runs(told: &DecideCall<'_>, records: Vec<Record>) -> Vec<Record> {
    let calls = match told.input {
        Input::ModelReplied { reply, .. } => reply.tool_uses().count(),
        _ => 0,
    };
    match (stop_reason(told), records.first()) {
        (Some(StopReason::Refusal), Some(first)) if calls > 0 => {
            let opened = Record::RoundOpened { dropped: Vec::new(), note: None };
            told.advance_records(vec![first.clone(), opened])
        }
        _ => records,
    }
}

fn fatal_goes_on(_: &DecideCall<'_>, records: Vec<Record>) -> Vec<Record> {
    without(records, |record| matches!(record, Record::FatalToolError { .. }))
}

fn forget_cancel(_: &DecideCall<'_>, records: Vec<Record>) -> Vec<Record> {
    replace(records, |record| match record {
        Record::RunFinished { run, cause: StopCause::UserCancel, other_causes, text_override } => {
            let cause = other_causes.first().copied().unwrap_or(StopCause::ProviderFailed);
            vec![Record::RunFinished { run, cause, other_causes: Vec::new(), text_override }]
        }
        record => vec![record],
    })
}

fn wrong_order(_: &DecideCall<'_>, records: Vec<Record>) -> Vec<Record> {
    replace(records, |record| match record {
        Record::RunFinished { run, cause, other_causes, text_override }
            if !other_causes.is_empty() =>
        {
            let last = other_causes.last().copied().unwrap_or(cause);
            vec![Record::RunFinished { run, cause: last, other_causes: vec![cause], text_override }]
        }
        record => vec![record],
    })
}

/// The model is called, as if nothing prevented it.
pub(super) fn asked(told: &DecideCall<'_>, before: &[Record], transition: Transition) -> Record {
    let now = told.after(before);
    let (model_call, max_tokens) = (now.model_call_count + 1, 20);
    let reserved_tokens = now.meter.estimate(now.request_bytes()) + max_tokens;
    let (bound, choice) = (OutputBound::Cap, ToolChoice::Auto);
    Record::ModelCallStarted { model_call, max_tokens, bound, reserved_tokens, transition, choice }
}

/// Continues where the run should end for `cause`.
fn go_on(
    told: &DecideCall<'_>,
    records: Vec<Record>,
    cause: StopCause,
    how: impl Fn(&[Record]) -> Vec<Record>,
) -> Vec<Record> {
    let ends =
        |record: &Record| matches!(record, Record::RunFinished { cause: c, .. } if *c == cause);
    if told.run().is_none() || !records.iter().any(ends) {
        return records;
    }
    let mut kept = until(records, is_end);
    let more = how(&kept);
    kept.extend(more);
    kept
}

fn ignore_budget(told: &DecideCall<'_>, records: Vec<Record>) -> Vec<Record> {
    let ask = |kept: &[Record]| vec![asked(told, kept, Transition::Retry)];
    go_on(told, records, StopCause::BudgetTokens, ask)
}

fn defer_forever(told: &DecideCall<'_>, records: Vec<Record>) -> Vec<Record> {
    let failures = told.run().map_or(0, |run| run.counters.failures) + 1;
    let pause =
        |_: &[Record]| vec![Record::ModelRetryScheduled { until: told.at.plus_ms(1), failures }];
    go_on(told, records, StopCause::ProviderFailed, pause)
}

fn reprompt_forever(told: &DecideCall<'_>, records: Vec<Record>) -> Vec<Record> {
    let drifted =
        matches!(told.input, Input::ModelReplied { reply, .. } if reply.stop_sequence.is_some());
    let stops = |record: &Record| is_end(record) || matches!(record, Record::QuestionAsked { .. });
    if told.run().is_none() || !drifted || !records.iter().any(stops) {
        return records;
    }
    let mut kept = until(records, stops);
    kept.push(asked(told, &kept, Transition::Reprompt));
    kept
}

fn endless_rounds(told: &DecideCall<'_>, records: Vec<Record>) -> Vec<Record> {
    let ends = |record: &Record| {
        matches!(record, Record::RunFinished { cause: StopCause::MaxToolRounds, .. })
    };
    match records.first() {
        Some(first) if records.iter().any(ends) => {
            let opened = Record::RoundOpened { dropped: Vec::new(), note: None };
            told.advance_records(vec![first.clone(), opened])
        }
        _ => records,
    }
}

fn end_in_round(told: &DecideCall<'_>, mut records: Vec<Record>) -> Vec<Record> {
    let aborted = records.iter().any(|record| matches!(record, Record::CancelRequested { .. }));
    let acting = told.state.phase_name() == "running_tools";
    if aborted && acting && !records.iter().any(is_end) {
        records.extend(end(told, StopCause::UserCancel));
    }
    records
}

fn empty_success(_: &DecideCall<'_>, records: Vec<Record>) -> Vec<Record> {
    replace(records, |record| match record {
        Record::RunFinished { run, cause: StopCause::EndTurn, other_causes, .. } => {
            let text_override = Some("".into());
            vec![Record::RunFinished {
                run,
                cause: StopCause::EndTurn,
                other_causes,
                text_override,
            }]
        }
        record => vec![record],
    })
}
