//! Bugs planted one at a time, to see that the invariants find them. Each is a small function that
//! alters what `decide` settled or what `wanted` wants.

mod air;
mod company;
mod ending;
mod limits;
mod mail;
mod model;
mod room;
mod rounds;
mod rules;
mod takeover;

use std::sync::Arc;

use windlass_core::apply::apply;
use windlass_core::ids::Millis;
use windlass_core::run::Run;
use windlass_core::settings::Settings;
use windlass_core::wanted::Wanted;
use windlass_core::{Conversation, Input, Record, decide};

/// A planted bug.
pub(crate) struct Mutant {
    pub(crate) name: &'static str,
    pub(crate) plant: Plant,
    /// Where it is looked for.
    pub(crate) configs: &'static [&'static str],
}

/// What a bug changes.
pub(crate) enum Plant {
    /// What `decide` settles.
    Records(fn(&Told<'_>, Vec<Record>) -> Vec<Record>),
    /// What `wanted` wants.
    Wanted(fn(&Conversation, Wanted) -> Wanted),
}

/// What `decide` was told.
pub(crate) struct Told<'a> {
    pub(crate) state: &'a Conversation,
    pub(crate) at: Millis,
    pub(crate) input: &'a Input,
}

/// Every planted bug.
pub(crate) fn all() -> impl Iterator<Item = &'static Mutant> {
    let tables: [&'static [Mutant]; 10] = [
        takeover::MUTANTS,
        rounds::MUTANTS,
        ending::MUTANTS,
        mail::MUTANTS,
        model::MUTANTS,
        air::MUTANTS,
        rules::MUTANTS,
        room::MUTANTS,
        limits::MUTANTS,
        company::MUTANTS,
    ];
    tables.into_iter().flatten()
}

const fn records(
    name: &'static str,
    alter: fn(&Told<'_>, Vec<Record>) -> Vec<Record>,
    configs: &'static [&'static str],
) -> Mutant {
    Mutant { name, plant: Plant::Records(alter), configs }
}

const fn wants(
    name: &'static str,
    alter: fn(&Conversation, Wanted) -> Wanted,
    configs: &'static [&'static str],
) -> Mutant {
    Mutant { name, plant: Plant::Wanted(alter), configs }
}

impl Told<'_> {
    /// The state with `records` applied.
    fn after(&self, records: &[Record]) -> Conversation {
        let mut state = self.state.clone();
        for record in records {
            apply(&mut state, self.at, self.input, record);
        }
        state
    }

    /// `records`, and what follows for the open round.
    fn advanced(&self, mut records: Vec<Record>) -> Vec<Record> {
        let state = self.after(&records);
        if state.run.as_ref().and_then(Run::round).is_some() {
            records.extend(decide(&state, self.at, &Input::Ticked {}));
        }
        records
    }

    /// What would be settled if the state were another.
    fn decided(&self, change: impl FnOnce(&mut Conversation)) -> Vec<Record> {
        let mut state = self.state.clone();
        change(&mut state);
        decide(&state, self.at, self.input)
    }

    /// What would be settled if the active run were another.
    fn decided_for(&self, change: impl FnOnce(&mut Run)) -> Vec<Record> {
        self.decided(|state| {
            if let Some(run) = &mut state.run {
                change(run);
            }
        })
    }

    /// What would be settled with other settings.
    fn decided_with(&self, change: impl FnOnce(&mut Settings)) -> Vec<Record> {
        let offered = matches!(self.input, Input::Configured { .. });
        self.decided(|state| match &mut state.settings {
            // Settings that are offered are compared with the ones in force.
            Some(settings) if !offered => change(Arc::make_mut(settings)),
            Some(_) | None => {}
        })
    }

    fn run(&self) -> Option<&Run> {
        self.state.run.as_ref()
    }
}

/// Puts what `change` says in place of each record.
fn replace(records: Vec<Record>, change: impl Fn(Record) -> Vec<Record>) -> Vec<Record> {
    records.into_iter().flat_map(change).collect()
}

/// Leaves out what `unwanted` names.
fn without(records: Vec<Record>, unwanted: impl Fn(&Record) -> bool) -> Vec<Record> {
    records.into_iter().filter(|record| !unwanted(record)).collect()
}

/// The records up to the first that `stop` names.
fn until(records: Vec<Record>, stop: impl Fn(&Record) -> bool) -> Vec<Record> {
    records.into_iter().take_while(|record| !stop(record)).collect()
}

/// Says each record that `named` names a second time.
fn twice(records: Vec<Record>, named: impl Fn(&Record) -> bool) -> Vec<Record> {
    replace(records, |record| match named(&record) {
        true => vec![record.clone(), record],
        false => vec![record],
    })
}
