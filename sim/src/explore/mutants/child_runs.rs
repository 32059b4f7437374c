//! Planted bugs in journal, child runs and prompt hooks.

use windlass_core::Input;
use windlass_core::call::call_state::Call;
use windlass_core::call::outcome::CallResult;
use windlass_core::log::command_rejection::CommandRejection;
use windlass_core::log::record::{Record, RecordedResult, Transition};
use windlass_core::run::active_run::Run;
use windlass_core::run::review::ReviewResult;
use windlass_core::run::wanted::{Effect, Wanted};
use windlass_core::{Conversation, decide};

use super::ending::asked;
use super::{DecideCall, Mutant, records, replace, twice, until, wants, without};

pub(super) const MUTANTS: &[Mutant] = &[
    records("lose a change of the journal", lose_change, &["journal"]),
    records("make a change of the journal twice", change_twice, &["journal"]),
    records("accept a child's result twice", back_twice, &["children"]),
    records("accept the result of a child that no call waits for", take_stray, &["children"]),
    records("lose the result of a child", lose_child, &["children"]),
    records("do not tell children to stop", no_recall, &["children"]),
    records("abandon child runs at once", give_up, &["children"]),
    records("take the first child for all of them", first_is_all, &["crews"]),
    records("start child runs again after a crash", spawn_again, &["children"]),
    records("start more child runs than allowed", too_many, &["crews"]),
    records("let a child have children beyond the depth", too_deep, &["child"]),
    records("lend children more than is left", lend_all, &["lending"]),
    records("let a child spend more than its parent lent", outspend, &["child"]),
    records("send a prompt that a hook blocks", send_blocked, &["prompt-hooks"]),
    records("ask before the hooks have seen the prompt", unseen_prompt, &["prompt-hooks"]),
    wants("forget to request a review", forget_counsel, &["prompt-hooks"]),
    wants("forget to ask the classifier", forget_classifier, &["auto"]),
];

fn is_change(record: &Record) -> bool {
    matches!(record, Record::JournalChanged { .. })
}

fn lose_change(_: &DecideCall<'_>, records: Vec<Record>) -> Vec<Record> {
    without(records, is_change)
}

fn change_twice(_: &DecideCall<'_>, records: Vec<Record>) -> Vec<Record> {
    twice(records, is_change)
}

fn back_twice(_: &DecideCall<'_>, records: Vec<Record>) -> Vec<Record> {
    twice(records, |record| matches!(record, Record::ChildResultReceived { .. }))
}

fn comes_home(told: &DecideCall<'_>) -> bool {
    use windlass_core::log::inbox::InboxCommand::ChildFinished;
    matches!(told.input, Input::CommandsReceived { messages } if messages.iter().any(
        |mail| matches!(mail.body, ChildFinished { result: Some(_), .. })
    ))
}

fn take_stray(told: &DecideCall<'_>, records: Vec<Record>) -> Vec<Record> {
    let home = comes_home(told);
    replace(records, |record| match record {
        Record::CommandRejected { message, .. } if home => {
            vec![Record::ChildResultReceived { message }]
        }
        record => vec![record],
    })
}

fn lose_child(told: &DecideCall<'_>, records: Vec<Record>) -> Vec<Record> {
    let back = records.iter().find_map(|record| match record {
        Record::ChildResultReceived { message } => Some(*message),
        _ => None,
    });
    match back.filter(|_| comes_home(told)) {
        Some(message) => {
            vec![Record::CommandRejected { message, reason: CommandRejection::NoSuchRun }]
        }
        None => records,
    }
}

fn no_recall(_: &DecideCall<'_>, records: Vec<Record>) -> Vec<Record> {
    without(records, |record| matches!(record, Record::ChildrenCancelled { .. }))
}

fn calls_awaiting_children<'a>(told: &'a DecideCall<'_>) -> impl Iterator<Item = &'a Call> {
    let calls = told.run().and_then(Run::round).into_iter().flat_map(|round| &round.calls);
    calls.filter(|call| call.pending_children().is_some())
}

fn settle_away(told: &DecideCall<'_>, mut records: Vec<Record>) -> Vec<Record> {
    let shown = || {
        RecordedResult::Replaced(CallResult::from_interruption(
            1,
            windlass_core::call::outcome::SideEffects::Unknown,
        ))
    };
    records.extend(
        calls_awaiting_children(told)
            .map(|call| Record::ResultFinalized { call: call.id, result: shown() }),
    );
    records
}

fn give_up(told: &DecideCall<'_>, records: Vec<Record>) -> Vec<Record> {
    let stopping = records.iter().any(|r| matches!(r, Record::CancelRequested { .. }));
    if stopping { settle_away(told, records) } else { records }
}

fn first_is_all(told: &DecideCall<'_>, mut records: Vec<Record>) -> Vec<Record> {
    let back = records.iter().any(|record| matches!(record, Record::ChildResultReceived { .. }));
    let settled = records.iter().any(|record| matches!(record, Record::ResultFinalized { .. }));
    if back && !settled {
        let shown = || RecordedResult::Replaced(CallResult::from_text("c", 100));
        records.extend(
            calls_awaiting_children(told)
                .map(|call| Record::ResultFinalized { call: call.id, result: shown() }),
        );
    }
    records
}

fn spawn_again(told: &DecideCall<'_>, mut records: Vec<Record>) -> Vec<Record> {
    if matches!(told.input, Input::OwnerChanged { .. }) {
        let again = calls_awaiting_children(told).filter_map(|call| {
            let away = call.pending_children()?;
            let to = u16::try_from(away.replies.len()).unwrap_or(u16::MAX);
            Some(Record::ChildrenSpawned { call: call.id, from: 0, to, granted: away.granted })
        });
        records.extend(again);
    }
    records
}

fn too_many(told: &DecideCall<'_>, _: Vec<Record>) -> Vec<Record> {
    told.decided_with(|settings| settings.limits.children = 100)
}

fn too_deep(told: &DecideCall<'_>, _: Vec<Record>) -> Vec<Record> {
    told.decided_with(|settings| settings.limits.child_depth = 100)
}

fn lend_all(told: &DecideCall<'_>, records: Vec<Record>) -> Vec<Record> {
    let cap = told.state.settings.as_ref().and_then(|settings| settings.limits.run_tokens);
    replace(records, |record| match record {
        Record::ChildrenSpawned { call, from, to, mut granted } => {
            granted.tokens = cap;
            vec![Record::ChildrenSpawned { call, from, to, granted }]
        }
        record => vec![record],
    })
}

fn outspend(told: &DecideCall<'_>, _: Vec<Record>) -> Vec<Record> {
    told.decide_with(|state| {
        if let Some(parent) = &mut state.parent {
            parent.caps = Default::default();
        }
    })
}

fn send_blocked(told: &DecideCall<'_>, records: Vec<Record>) -> Vec<Record> {
    match told.input {
        Input::ReviewReturned {
            id,
            result: ReviewResult::Block { .. } | ReviewResult::Stop { .. },
        } => {
            let result = ReviewResult::Pass { context: None };
            decide(told.state, told.at, &Input::ReviewReturned { id: *id, result })
        }
        _ => records,
    }
}

fn unseen_prompt(told: &DecideCall<'_>, records: Vec<Record>) -> Vec<Record> {
    let sought = |record: &Record| matches!(record, Record::ReviewRequested { .. });
    if !records.iter().any(sought) {
        return records;
    }
    let mut records = until(records, sought);
    let ask = asked(told, &records, Transition::Prompt);
    records.push(ask);
    records
}

fn forget(wanted: Wanted, unwanted: impl Fn(&Effect) -> bool) -> Wanted {
    let effects = wanted.effects.into_iter().filter(|effect| !unwanted(effect)).collect();
    Wanted { effects, ..wanted }
}

fn forget_counsel(_: &Conversation, wanted: Wanted) -> Wanted {
    forget(wanted, |effect| matches!(effect, Effect::RequestReview(_)))
}

fn forget_classifier(_: &Conversation, wanted: Wanted) -> Wanted {
    forget(wanted, |effect| matches!(effect, Effect::ClassifyCall(_)))
}
