//! From every state, a world that means well brings the lane to rest in a bounded number of steps.

use windlass_core::question::About;
use windlass_core::run::Run;
use windlass_core::wanted::Effect;

use super::act::Sim;
use super::advice::Advise;
use super::invariants::Broken;
use super::menu::{Back, Say, Think};
use super::moves::{Choice, Find, Letter, Move};
use super::world::World;

const MOST_STEPS: usize = 80;
const NAME: &str = "a fair world brings the lane to rest";

/// How the humans of the fair world behave.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Humans {
    /// They answer, declining.
    Decline,
    /// They answer, going on.
    GoOn,
    /// They answer only when nothing else happens.
    Slow,
}

/// Plays on from `world` and requires that the lane comes to rest.
pub(crate) fn check(sim: &Sim<'_>, world: &World, humans: Humans) -> Result<(), Broken> {
    let mut world = world.clone();
    for _ in 0..MOST_STEPS {
        match fair_move(sim, &world, humans) {
            Some(step) => world = sim.act(&world, step)?,
            None if world.live.run.is_none() => return Ok(()),
            None => return Err(Broken::new(NAME, &"nothing more can happen")),
        }
    }
    Err(Broken::new(NAME, &format!("still {} after {MOST_STEPS} steps", world.live.phase_name())))
}

fn fair_move(sim: &Sim<'_>, world: &World, humans: Humans) -> Option<Move> {
    let wanted = sim.eyes.wanted(&world.live);
    if !world.mailbox.is_empty() {
        return Some(Move::Drain);
    }
    let effect = wanted.effects.iter().find_map(|effect| of_effect(world, *effect));
    let effect = effect.or_else(|| homecoming(world));
    let tick = || wanted.wake_at.map(|_| Move::Tick);
    match humans {
        Humans::Slow => effect.or_else(tick).or_else(|| answer(world, humans)),
        Humans::Decline | Humans::GoOn => answer(world, humans).or(effect).or_else(tick),
    }
}

fn of_effect(world: &World, effect: Effect) -> Option<Move> {
    match effect {
        Effect::Ask(_) => Some(Move::Say(closing_line(world))),
        Effect::RunTool { call, .. } => {
            let round = world.live.run.as_ref().and_then(Run::round)?;
            let changes = !round.call(call)?.facts.touches.is_read();
            let due = changes && !world.fired.contains(&call);
            Some(if due { Move::Fire(call) } else { Move::Return(call, Back::Done) })
        }
        Effect::HookBefore(call) | Effect::HookAfter(call) => Some(Move::Hook(call, Say::Pass)),
        Effect::Probe(call) => Some(Move::Probe(call, Find::Unknown)),
        Effect::Classify(call) => Some(Move::Think(call, Think::Unsure)),
        Effect::Consult(_) => Some(Move::Advise(fair_advice(world)?)),
        Effect::Configure => Some(Move::Configure),
    }
}

fn fair_advice(world: &World) -> Option<Advise> {
    let about = &world.live.run.as_ref().and_then(Run::consulting)?.about;
    [Advise::Pass, Advise::Summary].into_iter().find(|says| says.fits(about))
}

/// A child that is out comes home.
fn homecoming(world: &World) -> Option<Move> {
    let out = world.ledger.kids().iter().find(|kid| kid.is_out())?;
    Some(Move::Post(Letter::Home(out.call, out.part)))
}

/// The line that streams already, or the first of the menu: an answer in every configuration.
fn closing_line(world: &World) -> u8 {
    world.stream.map_or(0, |stream| stream.line)
}

fn answer(world: &World, humans: Humans) -> Option<Move> {
    // What has expired nobody answers any more: its time comes.
    let mut open = world.live.run.as_ref()?.questions();
    let question = open.find(|question| !question.is_expired(world.now))?;
    let choice = match (&question.about, humans) {
        (About::Approval { .. } | About::Plan { .. }, Humans::GoOn) => Choice::Allow,
        (About::Approval { .. } | About::Asking { .. } | About::Plan { .. }, _) => Choice::Deny,
        (About::Uncertain { .. }, Humans::GoOn) => Choice::Retry,
        (About::Drift { .. } | About::Guidance { .. }, Humans::GoOn) => Choice::Continue,
        (About::Budget { .. }, Humans::GoOn) => Choice::Continue,
        (About::Uncertain { .. } | About::Drift { .. }, _) => Choice::Abandon,
        (About::Guidance { .. } | About::Budget { .. }, _) => Choice::Abandon,
    };
    Some(Move::Post(Letter::Answer(question.id, choice)))
}
