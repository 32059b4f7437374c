//! What must stay true. Three kinds: of a state, of a step from one state to the next, and of one
//! record in the moment it is settled. Each is a small function with a sentence for a name.

mod air;
mod asking;
mod calls;
mod counsel;
mod ending;
mod gate;
mod humans;
mod kids;
mod mail;
mod money;
mod spine;
mod time;
mod window;

use windlass_core::apply::apply;
use windlass_core::wanted::Wanted;
use windlass_core::{Conversation, Entry, Record};

use super::config::Config;
use super::world::World;

/// `Err` says what is wrong.
pub(crate) type Verdict = Result<(), String>;

/// An invariant that does not hold.
#[derive(Debug)]
pub(crate) struct Broken {
    pub(crate) invariant: &'static str,
    pub(crate) what: String,
    /// The entry that broke it, if it was not stored.
    pub(crate) entry: Option<Box<Entry>>,
}

impl Broken {
    pub(crate) fn new(invariant: &'static str, what: &dyn std::fmt::Display) -> Self {
        Self { invariant, what: what.to_string(), entry: None }
    }

    fn by(mut self, entry: &Entry) -> Self {
        self.entry = Some(Box::new(entry.clone()));
        self
    }
}

/// A state and what is wanted in it.
pub(crate) struct State<'a> {
    pub(crate) config: &'a Config,
    pub(crate) world: &'a World,
    pub(crate) wanted: &'a Wanted,
}

/// A step.
pub(crate) struct Step<'a> {
    pub(crate) before: &'a Conversation,
    pub(crate) entry: &'a Entry,
    pub(crate) after: &'a Conversation,
}

/// A record, about to be applied to `now`.
pub(crate) struct Fact<'a> {
    pub(crate) world: &'a World,
    pub(crate) now: &'a Conversation,
    pub(crate) entry: &'a Entry,
    pub(crate) record: &'a Record,
}

/// An invariant of states, with its name.
pub(crate) type OfState = (&'static str, fn(&State<'_>) -> Verdict);
/// An invariant of steps.
pub(crate) type OfStep = (&'static str, fn(&Step<'_>) -> Verdict);
/// An invariant of records.
pub(crate) type OfFact = (&'static str, fn(&Fact<'_>) -> Verdict);

const STATES: [&[OfState]; 5] =
    [spine::STATES, air::STATES, money::STATES, time::STATES, kids::STATES];
const STEPS: [&[OfStep]; 9] = [
    mail::STEPS,
    spine::STEPS,
    ending::STEPS,
    humans::STEPS,
    asking::STEPS,
    window::STEPS,
    gate::STEPS,
    counsel::STEPS,
    kids::STEPS,
];
const FACTS: [&[OfFact]; 11] = [
    mail::FACTS,
    ending::FACTS,
    humans::FACTS,
    calls::FACTS,
    asking::FACTS,
    money::FACTS,
    window::FACTS,
    time::FACTS,
    gate::FACTS,
    counsel::FACTS,
    kids::FACTS,
];

/// Checks a state.
pub(crate) fn state(config: &Config, world: &World, wanted: &Wanted) -> Result<(), Broken> {
    let state = State { config, world, wanted };
    for (name, holds) in STATES.into_iter().flatten() {
        holds(&state).map_err(|what| Broken::new(name, &what))?;
    }
    Ok(())
}

/// Checks a step.
pub(crate) fn step(
    before: &Conversation,
    entry: &Entry,
    after: &Conversation,
) -> Result<(), Broken> {
    let step = Step { before, entry, after };
    for (name, holds) in STEPS.into_iter().flatten() {
        holds(&step).map_err(|what| Broken::new(name, &what))?;
    }
    Ok(())
}

/// Checks each record where it is settled, and lets the onlooker note it.
pub(crate) fn facts(world: &mut World, entry: &Entry) -> Result<(), Broken> {
    let mut now = world.live.clone();
    world.ledger.hear(&now, &entry.input);
    for record in &entry.records {
        fact(&Fact { world, now: &now, entry, record })?;
        world.ledger.witness(&now, entry, record);
        apply(&mut now, entry.at, &entry.input, record);
    }
    Ok(())
}

fn fact(fact: &Fact<'_>) -> Result<(), Broken> {
    for (name, holds) in FACTS.into_iter().flatten() {
        holds(fact).map_err(|what| Broken::new(name, &what).by(fact.entry))?;
    }
    Ok(())
}

/// The names of all invariants, for whoever lists them.
pub(crate) fn names() -> Vec<&'static str> {
    let states = STATES.into_iter().flatten().map(|(name, _)| *name);
    let steps = STEPS.into_iter().flatten().map(|(name, _)| *name);
    let facts = FACTS.into_iter().flatten().map(|(name, _)| *name);
    states.chain(steps).chain(facts).collect()
}

/// `Ok` if it holds; otherwise the sentence.
fn ensure(holds: bool, otherwise: impl FnOnce() -> String) -> Verdict {
    if holds { Ok(()) } else { Err(otherwise()) }
}
