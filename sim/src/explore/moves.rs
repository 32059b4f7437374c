//! Every choice the world has in a state. Not here: an append that fails is the state before it,
//! and an append that lands unseen is a crash right after it, so both are covered by `Die`.

use windlass_core::call::Call;
use windlass_core::ids::{AskId, CallId, QuestionId};
use windlass_core::permission::Otherwise;
use windlass_core::question::About;
use windlass_core::run::Run;
use windlass_core::wanted::{Effect, Wanted};

use super::advice::Advise;
use super::config::{Config, Mailing, Owner};
use super::menu::{Back, Fault, Say, Think};
use super::world::{Stream, World};

/// A choice.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Move {
    /// The model says this line of the menu.
    Say(u8),
    /// The next call of this line has streamed.
    Block(u8),
    /// The model call fails.
    Fail(Fault),
    /// The effect of a call that changes something takes place.
    Fire(CallId),
    /// A tool comes back.
    Return(CallId, Back),
    /// A hook answers.
    Hook(CallId, Say),
    /// A tool says what became of a lost call.
    Probe(CallId, Find),
    /// A classifier looked at a call.
    Think(CallId, Think),
    /// Whom the run waits for answers.
    Advise(Advise),
    /// Time passes and nobody is told.
    Lapse(Lapse),
    /// The awaited time comes.
    Tick,
    /// The owner records its settings, as wanted.
    Configure,
    /// The owner offers settings between runs.
    Offer(Owner),
    /// Somebody sends mail.
    Post(Letter),
    /// The owner drains the mailbox.
    Drain,
    /// The process or the machine dies; a new owner takes over what is left of the log.
    Die { keep: u8, owner: Owner },
    /// A copy of the lane goes on.
    Fork,
}

/// What a probe finds. Probes do not lie.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Find {
    Truth,
    Unknown,
}

/// How time passes unnoticed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Lapse {
    /// Beyond the time that was waited for.
    Late,
    /// So long that nobody can have been there.
    Asleep,
}

/// Mail to send.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Letter {
    Prompt,
    Steer,
    Child,
    Cancel,
    Abort,
    CancelQueued,
    Memory,
    Compact,
    Task,
    /// The child that does this part of a call comes home.
    Home(CallId, u16),
    Answer(QuestionId, Choice),
}

/// An answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Choice {
    Allow,
    /// Yes, and calls of this tool need not be asked about again.
    Grant,
    Deny,
    Retry,
    MarkDone,
    Abandon,
    Continue,
    Text,
}

/// All moves of `world`.
pub(crate) fn moves(config: &Config, world: &World, wanted: &Wanted) -> Vec<Move> {
    let mut moves = Vec::new();
    for effect in &wanted.effects {
        of_effect(config, world, *effect, &mut moves);
    }
    if wanted.wake_at.is_some() {
        moves.push(Move::Tick);
    }
    letters(config, world, &mut moves);
    lapses(world, wanted, &mut moves);
    deaths(world, &mut moves);
    between_runs(world, &mut moves);
    moves
}

fn of_effect(config: &Config, world: &World, effect: Effect, moves: &mut Vec<Move>) {
    match effect {
        Effect::Ask(ask) => of_model(config, world, ask, moves),
        Effect::RunTool { call, .. } => of_tool(config, world, call, moves),
        Effect::HookBefore(call) | Effect::HookAfter(call) => {
            moves.extend(config.says.iter().map(|say| Move::Hook(call, *say)));
        }
        Effect::Probe(call) => {
            moves.extend([Find::Truth, Find::Unknown].map(|find| Move::Probe(call, find)));
        }
        Effect::Classify(call) => {
            moves.extend(config.thoughts.iter().map(|think| Move::Think(call, *think)));
        }
        Effect::Consult(_) => moves.extend(advices(config, world)),
        Effect::Configure => moves.push(Move::Configure),
    }
}

fn advices<'a>(config: &'a Config, world: &'a World) -> impl Iterator<Item = Move> + 'a {
    let about = world.live.run.as_ref().and_then(Run::consulting).map(|sought| &sought.about);
    let fits = move |says: &&Advise| about.is_some_and(|about| says.fits(about));
    config.advices.iter().filter(fits).map(|says| Move::Advise(*says))
}

/// Time that passes unnoticed matters only where a time is waited for.
fn lapses(world: &World, wanted: &Wanted, moves: &mut Vec<Move>) {
    if world.left.lapses > 0 && wanted.wake_at.is_some_and(|wake| world.now < wake) {
        moves.extend([Lapse::Late, Lapse::Asleep].map(Move::Lapse));
    }
}

fn of_model(config: &Config, world: &World, ask: AskId, moves: &mut Vec<Move>) {
    if world.live.run.as_ref().and_then(Run::asking).is_none_or(|asking| asking.ask != ask) {
        return;
    }
    for (line, scripted) in (0u8..).zip(&config.lines) {
        if world.stream.is_some_and(|stream| stream.line != line) {
            continue;
        }
        moves.push(Move::Say(line));
        let seen = world.stream.map_or(0, |stream| stream.calls);
        if world.left.blocks > 0 && usize::from(seen) < scripted.facts.len() {
            moves.push(Move::Block(line));
        }
    }
    if world.left.failures > 0 {
        moves.extend(config.faults.iter().map(|fault| Move::Fail(*fault)));
    }
}

fn of_tool(config: &Config, world: &World, id: CallId, moves: &mut Vec<Move>) {
    let Some(call) = world.live.run.as_ref().and_then(Run::round).and_then(|r| r.call(id)) else {
        return;
    };
    let fired = world.fired.contains(&id);
    if !call.facts.touches.is_read() && !fired {
        moves.push(Move::Fire(id));
    }
    let returns = config.backs.iter().filter(|back| may_return(world, call, fired, **back));
    moves.extend(returns.map(|back| Move::Return(id, *back)));
}

fn may_return(world: &World, call: &Call, fired: bool, back: Back) -> bool {
    match back {
        Back::Done | Back::Big => fired || call.facts.touches.is_read(),
        _ => world.left.mishaps > 0,
    }
}

fn letters(config: &Config, world: &World, moves: &mut Vec<Move>) {
    if !world.mailbox.is_empty() {
        moves.push(Move::Drain);
    }
    let room = match config.mailing {
        Mailing::AtOnce => world.mailbox.is_empty(),
        Mailing::Boxed => world.mailbox.len() < 2,
    };
    if room {
        plain_letters(world, moves);
        homecomings(world, moves);
        answers(world, moves);
    }
}

fn plain_letters(world: &World, moves: &mut Vec<Move>) {
    let left = &world.left;
    let letters = [
        (left.prompts, Letter::Prompt),
        (left.steers, Letter::Steer),
        (left.children, Letter::Child),
        (left.cancels, Letter::Cancel),
        (left.aborts, Letter::Abort),
        (left.memories, Letter::Memory),
        (left.compactions, Letter::Compact),
        (left.tasks, Letter::Task),
    ];
    moves.extend(letters.iter().filter(|(left, _)| *left > 0).map(|(_, l)| Move::Post(*l)));
    if left.cancels > 0 && !world.live.queue.is_empty() {
        moves.push(Move::Post(Letter::CancelQueued));
    }
}

/// A child comes home; one that was there already, or whom nobody waits for, comes as a stray.
fn homecomings(world: &World, moves: &mut Vec<Move>) {
    for kid in world.ledger.kids() {
        if kid.is_out() || world.left.strays > 0 {
            moves.push(Move::Post(Letter::Home(kid.call, kid.part)));
        }
    }
}

fn answers(world: &World, moves: &mut Vec<Move>) {
    if world.left.answers == 0 {
        return;
    }
    for question in world.live.run.iter().flat_map(Run::questions) {
        let choices = choices(world, &question.about);
        let letters = choices.iter().map(|choice| Letter::Answer(question.id, *choice));
        moves.extend(letters.map(Move::Post));
    }
}

fn choices(world: &World, about: &About) -> &'static [Choice] {
    let grants = world.live.settings.as_ref().is_some_and(|s| s.rules.otherwise == Otherwise::Ask);
    match about {
        About::Approval { .. } if grants => &[Choice::Allow, Choice::Grant, Choice::Deny],
        About::Approval { .. } => &[Choice::Allow, Choice::Deny],
        About::Guidance { .. } => &[Choice::Text, Choice::Continue, Choice::Abandon],
        About::Budget { .. } => &[Choice::Continue, Choice::Abandon],
        About::Uncertain { .. } => &[Choice::Retry, Choice::MarkDone, Choice::Abandon],
        About::Asking { .. } => &[Choice::Text, Choice::Deny],
        About::Plan { .. } => &[Choice::Allow, Choice::Continue, Choice::Deny],
        About::Drift { .. } => &[Choice::Continue, Choice::Abandon],
    }
}

fn deaths(world: &World, moves: &mut Vec<Move>) {
    let newest = world.disk.len().saturating_sub(1);
    for (keep, _) in (0u8..).zip(&world.disk) {
        let allowed = match usize::from(keep) == newest {
            true => world.left.crashes,
            false => world.left.outages,
        };
        if allowed > 0 {
            moves.push(Move::Die { keep, owner: world.owner });
            if world.left.drifts > 0 {
                moves.push(Move::Die { keep, owner: other(world.owner) });
            }
        }
    }
}

pub(crate) fn other(owner: Owner) -> Owner {
    match owner {
        Owner::First => Owner::Other,
        Owner::Other => Owner::First,
    }
}

fn between_runs(world: &World, moves: &mut Vec<Move>) {
    if world.left.offers > 0 && world.live.run.is_none() {
        moves.extend([Owner::First, Owner::Other].map(Move::Offer));
    }
    if world.left.forks > 0 && world.live.is_at_rest() {
        moves.push(Move::Fork);
    }
}

/// The stream after one more call of `line` was seen.
pub(crate) fn streamed(world: &World, line: u8) -> Stream {
    let calls = world.stream.map_or(0, |stream| stream.calls).saturating_add(1);
    Stream { line, calls }
}
