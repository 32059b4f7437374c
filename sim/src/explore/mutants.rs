//! Mutants: bugs planted one at a time, to see that the invariants find them. Each is a small
//! function that alters the records of `decide` or the effects of `wanted`.

mod child_runs;
mod commands;
mod compaction;
mod ending;
mod in_flight;
mod limits;
mod model_calls;
mod owner_change;
mod permissions;
mod rounds;
mod session_changes;

use std::sync::Arc;

use windlass_core::apply::apply;
use windlass_core::log::ids::UnixMillis;
use windlass_core::run::active_run::Run;
use windlass_core::run::wanted::Wanted;
use windlass_core::settings::conversation_settings::Settings;
use windlass_core::{Conversation, Input, Record, decide};

/// A planted bug.
pub(crate) struct Mutant {
    pub(crate) name: &'static str,
    pub(crate) plant: Mutation,
    /// The configurations in which it is searched.
    pub(crate) configs: &'static [&'static str],
}

/// What a bug changes.
pub(crate) enum Mutation {
    /// The records of `decide`.
    Records(fn(&DecideCall<'_>, Vec<Record>) -> Vec<Record>),
    /// The effects of `wanted`.
    Wanted(fn(&Conversation, Wanted) -> Wanted),
}

/// The arguments of `decide`.
pub(crate) struct DecideCall<'a> {
    pub(crate) state: &'a Conversation,
    pub(crate) at: UnixMillis,
    pub(crate) input: &'a Input,
}

/// Returns every planted bug.
pub(crate) fn all() -> impl Iterator<Item = &'static Mutant> {
    let tables: [&'static [Mutant]; 11] = [
        owner_change::MUTANTS,
        rounds::MUTANTS,
        ending::MUTANTS,
        commands::MUTANTS,
        model_calls::MUTANTS,
        in_flight::MUTANTS,
        permissions::MUTANTS,
        compaction::MUTANTS,
        limits::MUTANTS,
        child_runs::MUTANTS,
        session_changes::MUTANTS,
    ];
    tables.into_iter().flatten()
}

const fn records(
    name: &'static str,
    alter: fn(&DecideCall<'_>, Vec<Record>) -> Vec<Record>,
    configs: &'static [&'static str],
) -> Mutant {
    Mutant { name, plant: Mutation::Records(alter), configs }
}

const fn wants(
    name: &'static str,
    alter: fn(&Conversation, Wanted) -> Wanted,
    configs: &'static [&'static str],
) -> Mutant {
    Mutant { name, plant: Mutation::Wanted(alter), configs }
}

impl DecideCall<'_> {
    /// Returns the state with `records` applied.
    fn after(&self, records: &[Record]) -> Conversation {
        let mut state = self.state.clone();
        for record in records {
            apply(&mut state, self.at, self.input, record);
        }
        state
    }

    /// Returns `records`, and what follows for the open round.
    fn advance_records(&self, mut records: Vec<Record>) -> Vec<Record> {
        let state = self.after(&records);
        if state.run.as_ref().and_then(Run::round).is_some() {
            records.extend(decide(&state, self.at, &Input::TimerFired {}));
        }
        records
    }

    /// Returns what would be decided with a changed state.
    fn decide_with(&self, change: impl FnOnce(&mut Conversation)) -> Vec<Record> {
        let mut state = self.state.clone();
        change(&mut state);
        decide(&state, self.at, self.input)
    }

    /// Returns what would be decided with a changed run.
    fn decided_for(&self, change: impl FnOnce(&mut Run)) -> Vec<Record> {
        self.decide_with(|state| {
            if let Some(run) = &mut state.run {
                change(run);
            }
        })
    }

    /// Returns what would be decided with changed settings.
    fn decided_with(&self, change: impl FnOnce(&mut Settings)) -> Vec<Record> {
        let offered = matches!(self.input, Input::Configured { .. });
        self.decide_with(|state| match &mut state.settings {
            // Offered settings are compared with the current ones.
            Some(settings) if !offered => change(Arc::make_mut(settings)),
            Some(_) | None => {}
        })
    }

    fn run(&self) -> Option<&Run> {
        self.state.run.as_ref()
    }
}

/// Replaces each record by what `change` returns.
fn replace(records: Vec<Record>, change: impl Fn(Record) -> Vec<Record>) -> Vec<Record> {
    records.into_iter().flat_map(change).collect()
}

/// Removes the records that `unwanted` matches.
fn without(records: Vec<Record>, unwanted: impl Fn(&Record) -> bool) -> Vec<Record> {
    records.into_iter().filter(|record| !unwanted(record)).collect()
}

/// Returns the records up to the first that `stop` matches.
fn until(records: Vec<Record>, stop: impl Fn(&Record) -> bool) -> Vec<Record> {
    records.into_iter().take_while(|record| !stop(record)).collect()
}

/// Repeats each record that `named` matches.
fn twice(records: Vec<Record>, named: impl Fn(&Record) -> bool) -> Vec<Record> {
    replace(records, |record| match named(&record) {
        true => vec![record.clone(), record],
        false => vec![record],
    })
}
