//! Planted bugs in rounds and tool calls.

use std::sync::Arc;

use windlass_core::Input;
use windlass_core::call::call_state::{Call, CallState};
use windlass_core::call::outcome::{CallResult, OutcomeKind, ToolOutcome};
use windlass_core::decide;
use windlass_core::log::ids::CallId;
use windlass_core::log::record::{EarlyStart, Record, RecordedResult};
use windlass_core::permission::PermissionDecision;
use windlass_core::run::active_run::Run;
use windlass_core::run::question::QuestionKind;

use super::{DecideCall, Mutant, records, replace, twice, without};

pub(super) const MUTANTS: &[Mutant] = &[
    records("close a round with an open call", close_open, &["reads", "conflicts"]),
    records("run a call without approval", no_leave, &["approval"]),
    records("run a denied call", run_denied, &["approval", "odd-calls"]),
    records("start conflicting calls together", let_all_go, &["conflicts"]),
    records("start more calls than allowed", let_many_go, &["reads"]),
    records("start a once-only call without storing it", unstored, &["once-only"]),
    records("retry a once-only call", retry_once_only, &["once-only", "conflicts"]),
    records("retry beyond the limit", retry_forever, &["reads"]),
    records("reset the retry count after a crash", forget_repeats, &["in-a-hurry"]),
    records("repeat a call that has no time left", no_deadline, &["in-a-hurry"]),
    records("interrupt a tool on cancel", interrupt, &["once-only", "reads"]),
    records("finish a call twice", settle_twice, &["reads"]),
    records("take a stale result", stale_result, &["reads"]),
    records("run a write before its reply", early_write, &["early"]),
    records("lose a result", lose_result, &["reads"]),
    records("start a call in a run that is stopping", late_start, &["conflicts", "hooks", "fatal"]),
    records("ignore a hook that denies", ignore_hook, &["hooks"]),
    records("run a call that makes no sense", run_nonsense, &["odd-calls"]),
    records("run a call a human is to answer", run_asking, &["approval"]),
];

fn close_open(_: &DecideCall<'_>, mut records: Vec<Record>) -> Vec<Record> {
    let back = records.iter().any(|record| matches!(record, Record::CallReturned { .. }));
    let closed = records.contains(&Record::RoundClosed {});
    if back && !closed {
        records.push(Record::RoundClosed {});
    }
    records
}

fn allow(call: CallId) -> Record {
    Record::PermissionDecided { call, verdict: PermissionDecision::Allow { by: Arc::from("bug") } }
}

fn no_leave(told: &DecideCall<'_>, records: Vec<Record>) -> Vec<Record> {
    allow_instead(told, records, |about| matches!(about, QuestionKind::Approval { .. }))
}

fn run_asking(told: &DecideCall<'_>, records: Vec<Record>) -> Vec<Record> {
    allow_instead(told, records, |about| matches!(about, QuestionKind::ModelQuestion { .. }))
}

pub(super) fn allow_instead(
    told: &DecideCall<'_>,
    records: Vec<Record>,
    which: fn(&QuestionKind) -> bool,
) -> Vec<Record> {
    let asks = records.iter().any(
        |record| matches!(record, Record::QuestionAsked { question } if which(&question.kind)),
    );
    let records = replace(records, |record| match &record {
        Record::QuestionAsked { question } if which(&question.kind) => {
            question.kind.call().map(allow).into_iter().collect()
        }
        _ => vec![record],
    });
    if asks { told.advance_records(records) } else { records }
}

pub(super) fn run_settled(
    told: &DecideCall<'_>,
    records: Vec<Record>,
    kind: OutcomeKind,
) -> Vec<Record> {
    let is_kind = |record: &Record| match record {
        Record::ResultFinalized { result: RecordedResult::Replaced(shown), .. } => {
            shown.kind == kind
        }
        _ => false,
    };
    if !records.iter().any(is_kind) {
        return records;
    }
    let open = |record: &Record| !matches!(record, Record::RoundClosed {});
    let records = records.into_iter().take_while(open).collect();
    let records = replace(records, |record| match record {
        Record::ResultFinalized { call, .. } if is_kind(&record) => vec![allow(call)],
        record => vec![record],
    });
    told.advance_records(records)
}

fn run_denied(told: &DecideCall<'_>, records: Vec<Record>) -> Vec<Record> {
    run_settled(told, records, OutcomeKind::Denied)
}

fn run_nonsense(told: &DecideCall<'_>, records: Vec<Record>) -> Vec<Record> {
    match told.input {
        Input::ModelReplied { .. } => run_settled(told, records, OutcomeKind::Failed),
        _ => records,
    }
}

fn ignore_hook(told: &DecideCall<'_>, records: Vec<Record>) -> Vec<Record> {
    match told.input {
        Input::HookResponded { .. } => run_settled(told, records, OutcomeKind::Denied),
        _ => records,
    }
}

fn ready(told: &DecideCall<'_>, records: &[Record]) -> Vec<Call> {
    let state = told.after(records);
    let calls = state.run.as_ref().and_then(Run::round).map(|round| round.calls.clone());
    let ready = calls.unwrap_or_default().into_iter();
    ready.filter(|call| call.state == CallState::Ready).collect()
}

fn go(call: &Call) -> Record {
    match call.facts.is_repeatable() {
        true => Record::RepeatableCallStarted { call: call.id },
        false => Record::CallStarted { call: call.id },
    }
}

fn let_all_go(told: &DecideCall<'_>, mut records: Vec<Record>) -> Vec<Record> {
    if !records.is_empty() {
        records.extend(ready(told, &records).iter().map(go));
    }
    records
}

fn let_many_go(told: &DecideCall<'_>, mut records: Vec<Record>) -> Vec<Record> {
    if !records.is_empty() {
        let reads = ready(told, &records).into_iter().filter(|call| call.facts.touches.is_read());
        records.extend(reads.map(|call| go(&call)));
    }
    records
}

fn unstored(_: &DecideCall<'_>, records: Vec<Record>) -> Vec<Record> {
    replace(records, |record| match record {
        Record::CallStarted { call } => vec![Record::RepeatableCallStarted { call }],
        record => vec![record],
    })
}

fn is_passing(input: &Input) -> bool {
    match input {
        Input::ToolReturned { outcome: ToolOutcome::Failed(error), .. } => {
            error.transient && error.recoverable
        }
        _ => false,
    }
}

fn retry(told: &DecideCall<'_>, records: Vec<Record>, which: fn(&Call) -> bool) -> Vec<Record> {
    let Input::ToolReturned { call: id, .. } = told.input else { return records };
    let call = told.run().and_then(Run::round).and_then(|round| round.call(*id));
    if records.is_empty() || !is_passing(told.input) || !call.is_some_and(which) {
        return records;
    }
    vec![Record::CallRetryScheduled { call: *id, until: told.at.plus_ms(1) }]
}

fn retry_once_only(told: &DecideCall<'_>, records: Vec<Record>) -> Vec<Record> {
    retry(told, records, |call| !call.facts.is_repeatable())
}

fn retry_forever(told: &DecideCall<'_>, records: Vec<Record>) -> Vec<Record> {
    retry(told, records, |call| call.facts.is_repeatable())
}

fn with_calls(told: &DecideCall<'_>, change: fn(&mut Call)) -> Vec<Record> {
    told.decided_for(|run| run.round_mut().into_iter().flat_map(|r| &mut r.calls).for_each(change))
}

fn forget_repeats(told: &DecideCall<'_>, records: Vec<Record>) -> Vec<Record> {
    match told.state.epoch {
        0 => records,
        _ => with_calls(told, |call| call.retries.count = 0),
    }
}

fn no_deadline(told: &DecideCall<'_>, _: Vec<Record>) -> Vec<Record> {
    with_calls(told, |call| call.retries.used_ms = 0)
}

fn interrupt(told: &DecideCall<'_>, mut records: Vec<Record>) -> Vec<Record> {
    if records.iter().any(|record| matches!(record, Record::CancelRequested { .. })) {
        let calls = told.run().and_then(Run::round).into_iter().flat_map(|round| &round.calls);
        let flying = calls.filter(|call| matches!(call.state, CallState::Running { .. }));
        let shown = |call: &Call| {
            RecordedResult::Replaced(CallResult::from_interruption(1, call.side_effects()))
        };
        records.extend(
            flying.map(|call| Record::ResultFinalized { call: call.id, result: shown(call) }),
        );
    }
    records
}

fn settle_twice(_: &DecideCall<'_>, records: Vec<Record>) -> Vec<Record> {
    twice(records, |record| matches!(record, Record::ResultFinalized { .. }))
}

fn stale_result(told: &DecideCall<'_>, records: Vec<Record>) -> Vec<Record> {
    let Input::ToolReturned { call: id, started_at, outcome, .. } = told.input else {
        return records;
    };
    let call = told.run().and_then(Run::round).and_then(|round| round.call(*id));
    let Some(attempt) = call.map(|call| call.attempts) else { return records };
    let (call, started_at, outcome) = (*id, *started_at, outcome.clone());
    decide(
        told.state,
        told.at,
        &Input::ToolReturned {
            call,
            attempt,
            started_at,
            outcome,
            context: Vec::new(),
            untrusted: Vec::new(),
        },
    )
}

fn early_write(_: &DecideCall<'_>, records: Vec<Record>) -> Vec<Record> {
    replace(records, |record| match record {
        Record::EarlyCallDecided { call, .. } => {
            vec![Record::EarlyCallDecided { call, start: EarlyStart::Started }]
        }
        record => vec![record],
    })
}

fn lose_result(_: &DecideCall<'_>, records: Vec<Record>) -> Vec<Record> {
    match records.first() {
        Some(Record::CallReturned { .. }) => Vec::new(),
        _ => records,
    }
}

fn late_start(told: &DecideCall<'_>, records: Vec<Record>) -> Vec<Record> {
    let stopping = told.run().is_some_and(|run| run.stop_request.is_some());
    let asked = records.iter().any(|record| matches!(record, Record::CancelRequested { .. }));
    if !stopping && !asked {
        return records;
    }
    let skipped = |record: &Record| match record {
        Record::ResultFinalized { result: RecordedResult::Replaced(shown), .. } => {
            shown.kind == OutcomeKind::Skipped
        }
        _ => false,
    };
    let records = without(records, |record| skipped(record));
    let_all_go(told, records)
}
