//! Those who are neither the model nor a call: asked one at a time, heard once; and the watch for
//! circles.

use windlass_core::record::Record;
use windlass_core::run::{Phase, Run};
use windlass_core::thrash::Level;

use super::{Fact, OfFact, OfStep, Step, Verdict, ensure};

pub(super) const FACTS: &[OfFact] = &[
    ("counsel is sought between two things", sought_between),
    ("the counsel that is heard is the one in the air", heard_once),
    ("the watch rises one step at a time", one_step),
];

pub(super) const STEPS: &[OfStep] =
    &[("who goes in circles is put before a human", human_is_asked)];

fn sought_between(fact: &Fact<'_>) -> Verdict {
    let Record::CounselSought { counsel, .. } = fact.record else { return Ok(()) };
    let free = fact.now.run.as_ref().is_some_and(|run| {
        matches!(run.phase, Phase::Between | Phase::Deferred { .. }) && run.stop.is_none()
    });
    let next = *counsel == fact.now.counsels + 1;
    ensure(free && next, || format!("{counsel} while {}", fact.now.phase_name()))
}

fn heard_once(fact: &Fact<'_>) -> Verdict {
    let Record::CounselHeard { counsel, .. } = fact.record else { return Ok(()) };
    let open = fact.now.run.as_ref().and_then(Run::consulting).map(|sought| sought.id);
    ensure(open == Some(*counsel), || format!("{counsel} while {open:?} is open"))
}

fn height(level: Level) -> u8 {
    match level {
        Level::Calm => 0,
        Level::Nudge => 1,
        Level::Directive => 2,
        Level::Human => 3,
    }
}

fn one_step(fact: &Fact<'_>) -> Verdict {
    let Record::Watched { level, found } = fact.record else { return Ok(()) };
    let before = fact.now.run.as_ref().map_or(Level::Calm, |run| run.guard.level());
    let rises = height(*level) > height(before);
    let fits = height(*level) <= height(before) + 1 && (!rises || found.is_some());
    ensure(fits, || format!("{before:?} to {level:?}"))
}

/// Unless the run ends, waits for a human already, has the model ask, or only sums up.
fn human_is_asked(step: &Step<'_>) -> Verdict {
    let rose = step
        .entry
        .records
        .iter()
        .any(|r| matches!(r, Record::Watched { level: Level::Human, found: Some(_) }));
    let Some(run) = step.after.run.as_ref().filter(|_| rose) else { return Ok(()) };
    let same = step.before.run.as_ref().is_some_and(|before| before.id == run.id);
    // The model is made to ask; what a person said meanwhile may have made that needless.
    let made = step.entry.records.iter().any(|r| matches!(r, Record::QuestionDue { .. }));
    let asks = run.halt().is_some() || made;
    let excused = !same || asks || run.time_up.is_some();
    ensure(excused, || format!("the run is {}", run.phase_name()))
}
