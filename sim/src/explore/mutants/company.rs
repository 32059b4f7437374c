//! Bugs of journal, children and prompt hooks.

use windlass_core::Input;
use windlass_core::call::Call;
use windlass_core::counsel::Advice;
use windlass_core::outcome::Shown;
use windlass_core::record::{Record, Settlement, Transition};
use windlass_core::run::Run;
use windlass_core::wanted::{Effect, Wanted};
use windlass_core::{Conversation, decide};

use super::ending::asked;
use super::{Mutant, Told, records, replace, twice, until, wants, without};

pub(super) const MUTANTS: &[Mutant] = &[
    records("lose a change of the journal", lose_change, &["journal"]),
    records("make a change of the journal twice", change_twice, &["journal"]),
    records("take a child's result in twice", back_twice, &["children"]),
    records("take in a child that nobody waits for", take_stray, &["children"]),
    records("lose a child that came home", lose_child, &["children"]),
    records("do not tell children to stop", no_recall, &["children"]),
    records("give children up at once", give_up, &["children"]),
    records("take the first child for all of them", first_is_all, &["crews"]),
    records("send children out again after a crash", spawn_again, &["children"]),
    records("send out more children than may work", too_many, &["crews"]),
    records("let a child have children beyond the depth", too_deep, &["child"]),
    records("lend children more than is left", lend_all, &["lending"]),
    records("let a child spend more than its parent lent", outspend, &["child"]),
    records("send a prompt that a hook blocks", send_blocked, &["prompt-hooks"]),
    records("ask before the hooks have seen the prompt", unseen_prompt, &["prompt-hooks"]),
    wants("forget to ask for counsel", forget_counsel, &["prompt-hooks"]),
    wants("forget to ask the classifier", forget_classifier, &["auto"]),
];

fn is_change(record: &Record) -> bool {
    matches!(record, Record::JournalChanged { .. })
}

fn lose_change(_: &Told<'_>, records: Vec<Record>) -> Vec<Record> {
    without(records, is_change)
}

fn change_twice(_: &Told<'_>, records: Vec<Record>) -> Vec<Record> {
    twice(records, is_change)
}

fn back_twice(_: &Told<'_>, records: Vec<Record>) -> Vec<Record> {
    twice(records, |record| matches!(record, Record::ChildBack { .. }))
}

fn comes_home(told: &Told<'_>) -> bool {
    use windlass_core::mail::MailBody::ChildFinished;
    matches!(told.input, Input::Received { mail } if mail.iter().any(
        |mail| matches!(mail.body, ChildFinished { home: Some(_), .. })
    ))
}

fn take_stray(told: &Told<'_>, records: Vec<Record>) -> Vec<Record> {
    let home = comes_home(told);
    replace(records, |record| match record {
        Record::MailRefused { mail, .. } if home => vec![Record::ChildBack { mail }],
        record => vec![record],
    })
}

fn lose_child(told: &Told<'_>, records: Vec<Record>) -> Vec<Record> {
    let back = records.iter().find_map(|record| match record {
        Record::ChildBack { mail } => Some(*mail),
        _ => None,
    });
    match back.filter(|_| comes_home(told)) {
        Some(mail) => vec![Record::MailRefused { mail, why: "bug".into() }],
        None => records,
    }
}

fn no_recall(_: &Told<'_>, records: Vec<Record>) -> Vec<Record> {
    without(records, |record| matches!(record, Record::ChildrenRecalled { .. }))
}

fn away<'a>(told: &'a Told<'_>) -> impl Iterator<Item = &'a Call> {
    let calls = told.run().and_then(Run::round).into_iter().flat_map(|round| &round.calls);
    calls.filter(|call| call.away().is_some())
}

fn settle_away(told: &Told<'_>, mut records: Vec<Record>) -> Vec<Record> {
    let shown = || Settlement::Shown(Shown::interrupted(1, windlass_core::outcome::Reach::Unknown));
    records.extend(away(told).map(|call| Record::Settled { call: call.id, shown: shown() }));
    records
}

fn give_up(told: &Told<'_>, records: Vec<Record>) -> Vec<Record> {
    let stopping = records.iter().any(|r| matches!(r, Record::CancelRequested { .. }));
    if stopping { settle_away(told, records) } else { records }
}

fn first_is_all(told: &Told<'_>, mut records: Vec<Record>) -> Vec<Record> {
    let back = records.iter().any(|record| matches!(record, Record::ChildBack { .. }));
    let settled = records.iter().any(|record| matches!(record, Record::Settled { .. }));
    if back && !settled {
        let shown = || Settlement::Shown(Shown::done("c", 100));
        records.extend(away(told).map(|call| Record::Settled { call: call.id, shown: shown() }));
    }
    records
}

fn spawn_again(told: &Told<'_>, mut records: Vec<Record>) -> Vec<Record> {
    if matches!(told.input, Input::Adopted { .. }) {
        let again = away(told).filter_map(|call| {
            let away = call.away()?;
            let to = u16::try_from(away.back.len()).unwrap_or(u16::MAX);
            Some(Record::Spawned { call: call.id, from: 0, to, granted: away.granted })
        });
        records.extend(again);
    }
    records
}

fn too_many(told: &Told<'_>, _: Vec<Record>) -> Vec<Record> {
    told.decided_with(|settings| settings.limits.children = 100)
}

fn too_deep(told: &Told<'_>, _: Vec<Record>) -> Vec<Record> {
    told.decided_with(|settings| settings.limits.child_depth = 100)
}

fn lend_all(told: &Told<'_>, records: Vec<Record>) -> Vec<Record> {
    let cap = told.state.settings.as_ref().and_then(|settings| settings.limits.run_tokens);
    replace(records, |record| match record {
        Record::Spawned { call, from, to, mut granted } => {
            granted.tokens = cap;
            vec![Record::Spawned { call, from, to, granted }]
        }
        record => vec![record],
    })
}

fn outspend(told: &Told<'_>, _: Vec<Record>) -> Vec<Record> {
    told.decided(|state| {
        if let Some(parent) = &mut state.parent {
            parent.caps = Default::default();
        }
    })
}

fn send_blocked(told: &Told<'_>, records: Vec<Record>) -> Vec<Record> {
    match told.input {
        Input::Counselled { counsel, advice: Advice::Block { .. } | Advice::Stop { .. } } => {
            let advice = Advice::Pass { context: None };
            decide(told.state, told.at, &Input::Counselled { counsel: *counsel, advice })
        }
        _ => records,
    }
}

fn unseen_prompt(told: &Told<'_>, records: Vec<Record>) -> Vec<Record> {
    let sought = |record: &Record| matches!(record, Record::CounselSought { .. });
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
    forget(wanted, |effect| matches!(effect, Effect::Consult(_)))
}

fn forget_classifier(_: &Conversation, wanted: Wanted) -> Wanted {
    forget(wanted, |effect| matches!(effect, Effect::Classify(_)))
}
