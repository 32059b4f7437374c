//! The walk: breadth first, so the first violation found has the shortest path.

use std::collections::{HashSet, VecDeque};
use std::hash::BuildHasherDefault;

use super::act::Sim;
use super::coverage::{Coverage, Kind, phases};
use super::hash::Through;
use super::invariants::{self, Broken};
use super::liveness::{self, Humans};
use super::moves::{Move, moves};
use super::replay;
use super::stale;
use super::watch::Watch;
use super::world::World;

/// What a walk found.
#[derive(Debug, Default)]
pub(crate) struct Walk {
    pub(crate) states: u64,
    pub(crate) transitions: u64,
    pub(crate) coverage: Coverage,
    pub(crate) violation: Option<Violation>,
    /// Whether every state within the bounds was seen.
    pub(crate) end: End,
}

/// How a walk ended.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(crate) enum End {
    /// Every state was seen.
    #[default]
    Exhausted,
    /// It ran out of states or time it may use.
    Bounded,
}

/// A violation and the way there.
#[derive(Debug)]
pub(crate) struct Violation {
    pub(crate) broken: Broken,
    pub(crate) path: Vec<Move>,
    pub(crate) log: Vec<String>,
}

/// How far a walk may go.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Reach {
    pub(crate) states: u64,
    pub(crate) ms: u64,
}

/// One state in how many is played to its end and replayed from its log.
const SAMPLE: u128 = 64;

struct Node {
    parent: usize,
    step: Option<Move>,
}

struct Walker<'a> {
    sim: Sim<'a>,
    visited: HashSet<u128, BuildHasherDefault<Through>>,
    nodes: Vec<Node>,
    frontier: VecDeque<(usize, World)>,
    walk: Walk,
}

/// Walks every state of a configuration, or until something is broken.
pub(crate) fn search(sim: Sim<'_>, reach: Reach) -> Walk {
    let mut walker = Walker {
        sim,
        visited: HashSet::default(),
        nodes: Vec::new(),
        frontier: VecDeque::new(),
        walk: Walk::default(),
    };
    let watch = Watch::start();
    match sim.start() {
        Ok(world) => walker.go(world, reach, &watch),
        Err(broken) => walker.fail(0, None, &World::new(sim.config), broken),
    }
    walker.walk
}

impl Walker<'_> {
    fn go(&mut self, start: World, reach: Reach, watch: &Watch) {
        self.enter(0, None, start);
        while let Some((node, world)) = self.frontier.pop_front() {
            if self.walk.violation.is_some() {
                return;
            }
            if self.walk.states >= reach.states || watch.ms() >= reach.ms {
                self.walk.end = End::Bounded;
                return;
            }
            self.expand(node, &world);
        }
    }

    /// Takes in a state that was not seen before.
    fn enter(&mut self, parent: usize, step: Option<Move>, world: World) {
        let key = world.key();
        if !self.visited.insert(key) {
            return;
        }
        self.walk.states += 1;
        if let Err(broken) = self.examine(key, &world) {
            return self.fail(parent, step, &world, broken);
        }
        self.nodes.push(Node { parent, step });
        self.frontier.push_back((self.nodes.len() - 1, world));
    }

    fn examine(&mut self, key: u128, world: &World) -> Result<(), Broken> {
        let wanted = self.sim.eyes.wanted(&world.live);
        invariants::state(self.sim.config, world, &wanted)?;
        stale::provoke(&self.sim, world, &mut self.walk.coverage)?;
        self.play_on(key, world)
    }

    fn play_on(&self, key: u128, world: &World) -> Result<(), Broken> {
        match key % SAMPLE {
            0 => liveness::check(&self.sim, world, Humans::Decline),
            1 => liveness::check(&self.sim, world, Humans::GoOn),
            2 => liveness::check(&self.sim, world, Humans::Slow),
            // A planted bug decides otherwise than the core: only the core itself is replayed.
            3 if self.sim.eyes.is_honest() => replay::check(world),
            _ => Ok(()),
        }
    }

    fn expand(&mut self, node: usize, world: &World) {
        let wanted = self.sim.eyes.wanted(&world.live);
        let place = phases(&world.live);
        for step in moves(self.sim.config, world, &wanted) {
            self.walk.transitions += 1;
            self.cover(place, step, world);
            match self.sim.act(world, step) {
                Ok(next) => self.enter(node, Some(step), next),
                Err(broken) => self.fail(node, Some(step), world, broken),
            }
            if self.walk.violation.is_some() {
                return;
            }
        }
    }

    /// Stale inputs are noted where they are told; this notes the moves with no stale form.
    fn cover(&mut self, place: u16, step: Move, world: &World) {
        match step {
            Move::Die { keep, .. } => {
                let stored = world.disk.get(usize::from(keep));
                let place = stored.map_or(0, |stored| phases(&stored.conversation));
                self.walk.coverage.note(place, Kind::Adopted);
            }
            Move::Fork => self.walk.coverage.note(place, Kind::Forked),
            Move::Tick => self.walk.coverage.note(place, Kind::Ticked),
            Move::Configure => self.walk.coverage.note(place, Kind::Configured),
            _ => {}
        }
    }

    fn fail(&mut self, parent: usize, step: Option<Move>, world: &World, broken: Broken) {
        let mut path: Vec<Move> = step.into_iter().collect();
        let mut at = self.nodes.get(parent);
        while let Some(Node { parent, step: Some(step) }) = at {
            path.push(*step);
            at = self.nodes.get(*parent);
        }
        path.reverse();
        let log = world.log().iter().map(windlass_core::Entry::encode).collect();
        self.walk.violation = Some(Violation { broken, path, log });
    }
}
