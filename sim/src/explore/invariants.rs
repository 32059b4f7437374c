//! The invariants: of a state, of a step from one state to the next, and of one record at the
//! moment it is decided. Each is a small function with a sentence as its name.

mod answers;
mod calls;
mod child_runs;
mod commands;
mod ending;
mod humans;
mod in_flight;
mod model_calls;
mod money;
mod reviews;
mod server_tools;
mod state_shape;
mod time_limits;
mod window;

use windlass_core::apply::apply;
use windlass_core::run::wanted::Wanted;
use windlass_core::{Conversation, Entry, Record};

use super::config::ExplorerConfig;
use super::world::ExploredState;

/// The result of an invariant; `Err` says what is wrong.
pub(crate) type InvariantResult = Result<(), String>;

/// An invariant that does not hold.
#[derive(Debug)]
pub(crate) struct BrokenInvariant {
    pub(crate) invariant: &'static str,
    pub(crate) what: String,
    /// The entry that broke it, if it was not stored.
    pub(crate) entry: Option<Box<Entry>>,
}

impl BrokenInvariant {
    pub(crate) fn new(invariant: &'static str, what: &dyn std::fmt::Display) -> Self {
        Self { invariant, what: what.to_string(), entry: None }
    }

    fn by(mut self, entry: &Entry) -> Self {
        self.entry = Some(Box::new(entry.clone()));
        self
    }
}

/// A state and the effects wanted in it.
pub(crate) struct StateUnderTest<'a> {
    pub(crate) config: &'a ExplorerConfig,
    pub(crate) world: &'a ExploredState,
    pub(crate) wanted: &'a Wanted,
}

/// A step from one state to the next.
pub(crate) struct StepUnderTest<'a> {
    pub(crate) before: &'a Conversation,
    pub(crate) entry: &'a Entry,
    pub(crate) after: &'a Conversation,
}

/// A record, about to be applied to `now`.
pub(crate) struct RecordUnderTest<'a> {
    pub(crate) world: &'a ExploredState,
    pub(crate) now: &'a Conversation,
    pub(crate) entry: &'a Entry,
    pub(crate) record: &'a Record,
}

/// An invariant of states, with its name.
pub(crate) type StateInvariant = (&'static str, fn(&StateUnderTest<'_>) -> InvariantResult);
/// An invariant of steps.
pub(crate) type StepInvariant = (&'static str, fn(&StepUnderTest<'_>) -> InvariantResult);
/// An invariant of records.
pub(crate) type RecordInvariant = (&'static str, fn(&RecordUnderTest<'_>) -> InvariantResult);

const STATES: [&[StateInvariant]; 6] = [
    state_shape::STATES,
    humans::STATES,
    in_flight::STATES,
    money::STATES,
    time_limits::STATES,
    child_runs::STATES,
];
const STEPS: [&[StepInvariant]; 10] = [
    commands::STEPS,
    state_shape::STEPS,
    ending::STEPS,
    humans::STEPS,
    model_calls::STEPS,
    window::STEPS,
    answers::STEPS,
    reviews::STEPS,
    child_runs::STEPS,
    server_tools::STEPS,
];
const FACTS: [&[RecordInvariant]; 12] = [
    commands::FACTS,
    ending::FACTS,
    humans::FACTS,
    calls::FACTS,
    model_calls::FACTS,
    money::FACTS,
    window::FACTS,
    time_limits::FACTS,
    answers::FACTS,
    reviews::FACTS,
    child_runs::FACTS,
    server_tools::FACTS,
];

/// Checks a state.
pub(crate) fn state(
    config: &ExplorerConfig,
    world: &ExploredState,
    wanted: &Wanted,
) -> Result<(), BrokenInvariant> {
    let state = StateUnderTest { config, world, wanted };
    for (name, holds) in STATES.into_iter().flatten() {
        holds(&state).map_err(|what| BrokenInvariant::new(name, &what))?;
    }
    Ok(())
}

/// Checks a step.
pub(crate) fn step(
    before: &Conversation,
    entry: &Entry,
    after: &Conversation,
) -> Result<(), BrokenInvariant> {
    let step = StepUnderTest { before, entry, after };
    for (name, holds) in STEPS.into_iter().flatten() {
        holds(&step).map_err(|what| BrokenInvariant::new(name, &what))?;
    }
    Ok(())
}

/// Checks each record where it is decided, and lets the ledger note it.
pub(crate) fn facts(world: &mut ExploredState, entry: &Entry) -> Result<(), BrokenInvariant> {
    let mut now = world.live.clone();
    world.ledger.observe_input(&now, &entry.input);
    for record in &entry.records {
        fact(&RecordUnderTest { world, now: &now, entry, record })?;
        world.ledger.observations(&now, entry, record);
        apply(&mut now, entry.at, &entry.input, record);
    }
    Ok(())
}

fn fact(fact: &RecordUnderTest<'_>) -> Result<(), BrokenInvariant> {
    for (name, holds) in FACTS.into_iter().flatten() {
        holds(fact).map_err(|what| BrokenInvariant::new(name, &what).by(fact.entry))?;
    }
    Ok(())
}

/// Returns the names of all invariants.
pub(crate) fn names() -> Vec<&'static str> {
    let states = STATES.into_iter().flatten().map(|(name, _)| *name);
    let steps = STEPS.into_iter().flatten().map(|(name, _)| *name);
    let facts = FACTS.into_iter().flatten().map(|(name, _)| *name);
    states.chain(steps).chain(facts).collect()
}

/// Returns `Ok` if the condition holds; otherwise the sentence.
fn ensure(holds: bool, otherwise: impl FnOnce() -> String) -> InvariantResult {
    if holds { Ok(()) } else { Err(otherwise()) }
}
