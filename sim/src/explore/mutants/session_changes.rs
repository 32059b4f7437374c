//! Planted bugs in changes of permissions and model, and in runs that hooks end.

use windlass_core::Input;
use windlass_core::call::outcome::OutcomeKind;
use windlass_core::log::inbox::{AfterDenial, HumanAnswer, InboxCommand};
use windlass_core::log::record::Record;
use windlass_core::stop::StopCause;

use super::rounds::run_settled;
use super::{DecideCall, Mutant, records, replace, until, without};

pub(super) const MUTANTS: &[Mutant] = &[
    records("leave a change of the permissions unread", unread_update, &["modes"]),
    records("let an approval pass a deny rule", approval_passes_deny, &["rich-answers"]),
    records("keep a question that no longer matters", keep_question, &["modes"]),
    records("run a call that a new rule denies", run_forbidden, &["session-rules", "modes"]),
    records("run a call with arguments that make no sense", run_senseless, &["rich-answers"]),
    records("go on after a denial that ends the run", go_on_after_denial, &["rich-answers"]),
    records("call the old model after a change", old_model, &["models"]),
    records("change the model unasked", unasked_model, &["models"]),
    records("go on after a hook ended the run", go_on_after_hook, &["hook-stops"]),
    records("hide that a hook ended the run", hide_hook, &["hook-stops"]),
    records("run a deferred call", run_deferred, &["deferrals"]),
    records("ignore the limit on replies", many_replies, &["replies"]),
    records("leave a new list of tools untaken", untaken_tools, &["servers"]),
    records("change tools while the model is called", tools_in_call, &["servers"]),
    records("say nothing about a tool that is gone", silent_removal, &["servers"]),
];

fn is_update(record: &Record) -> bool {
    matches!(record, Record::PermissionsUpdated { .. })
}

fn unread_update(_: &DecideCall<'_>, records: Vec<Record>) -> Vec<Record> {
    if records.len() > 1 { without(records, is_update) } else { records }
}

fn approval_passes_deny(told: &DecideCall<'_>, records: Vec<Record>) -> Vec<Record> {
    match records.iter().any(is_update) {
        true => run_settled(told, records, OutcomeKind::Denied),
        false => records,
    }
}

fn keep_question(_: &DecideCall<'_>, records: Vec<Record>) -> Vec<Record> {
    let decided = |record: &Record| matches!(record, Record::PermissionDecided { .. });
    if records.first().is_some_and(is_update) { until(records, decided) } else { records }
}

fn run_forbidden(told: &DecideCall<'_>, records: Vec<Record>) -> Vec<Record> {
    match records.first().is_some_and(is_update) {
        true => run_settled(told, records, OutcomeKind::Denied),
        false => records,
    }
}

fn run_senseless(told: &DecideCall<'_>, records: Vec<Record>) -> Vec<Record> {
    let changed = |record: &Record| matches!(record, Record::CallInputChanged { .. });
    match records.iter().any(changed) {
        true => run_settled(told, records, OutcomeKind::Failed),
        false => records,
    }
}

fn go_on_after_denial(told: &DecideCall<'_>, records: Vec<Record>) -> Vec<Record> {
    let Input::CommandsReceived { messages } = told.input else { return records };
    let ends = messages.iter().any(|mail| {
        matches!(
            &mail.body,
            InboxCommand::Answer {
                answer: HumanAnswer::Deny { then: AfterDenial::Interrupt, .. },
                ..
            }
        )
    });
    let stop = |record: &Record| matches!(record, Record::CancelRequested { .. });
    if ends { told.advance_records(until(records, stop)) } else { records }
}

fn is_change(record: &Record) -> bool {
    matches!(record, Record::ModelChanged { .. })
}

fn old_model(_: &DecideCall<'_>, records: Vec<Record>) -> Vec<Record> {
    without(records, is_change)
}

fn unasked_model(_: &DecideCall<'_>, records: Vec<Record>) -> Vec<Record> {
    replace(records, |record| match record {
        Record::ModelCallStarted { .. } => {
            vec![Record::ModelChanged { model: "n".into() }, record]
        }
        record => vec![record],
    })
}

fn go_on_after_hook(told: &DecideCall<'_>, _: Vec<Record>) -> Vec<Record> {
    told.decided_for(|run| run.hook_stop = None)
}

fn hide_hook(_: &DecideCall<'_>, records: Vec<Record>) -> Vec<Record> {
    replace(records, |record| match record {
        Record::RunFinished { run, cause: StopCause::HookStopped, other_causes, text_override } => {
            let cause = StopCause::ProviderFailed;
            vec![Record::RunFinished { run, cause, other_causes, text_override }]
        }
        record => vec![record],
    })
}

fn run_deferred(told: &DecideCall<'_>, records: Vec<Record>) -> Vec<Record> {
    run_settled(told, records, OutcomeKind::Deferred)
}

fn many_replies(told: &DecideCall<'_>, _: Vec<Record>) -> Vec<Record> {
    told.decided_with(|settings| settings.limits.model_replies = None)
}

fn untaken_tools(_: &DecideCall<'_>, records: Vec<Record>) -> Vec<Record> {
    without(records, |record| matches!(record, Record::ServerToolsChanged { .. }))
}

fn tools_in_call(told: &DecideCall<'_>, records: Vec<Record>) -> Vec<Record> {
    match told.input {
        Input::ServerToolsOffered { tools } if told.run().is_some() && records.is_empty() => {
            let added = tools.iter().map(|tool| tool.name.clone()).collect();
            let (changed, removed) = (Vec::new(), Vec::new());
            vec![Record::ServerToolsChanged { added, changed, removed }]
        }
        _ => records,
    }
}

fn silent_removal(_: &DecideCall<'_>, records: Vec<Record>) -> Vec<Record> {
    replace(records, |record| match record {
        Record::ServerToolsChanged { added, changed, .. } => {
            vec![Record::ServerToolsChanged { added, changed, removed: Vec::new() }]
        }
        record => vec![record],
    })
}
