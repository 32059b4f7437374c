//! The search: breadth first, so the first violation found has the shortest path.

use std::collections::{HashSet, VecDeque};
use std::hash::BuildHasherDefault;

use super::coverage::{Coverage, InputKind, phases};
use super::hash::PassThroughHasher;
use super::invariants::{self, BrokenInvariant};
use super::liveness::{self, HumanBehaviour};
use super::moves::{WorldMove, moves};
use super::replay;
use super::stale_inputs;
use super::stopwatch::Stopwatch;
use super::transitions::ExplorerSim;
use super::world::ExploredState;

/// The result of an exploration.
#[derive(Debug, Default)]
pub(crate) struct ExplorationResult {
    pub(crate) states: u64,
    pub(crate) transitions: u64,
    pub(crate) coverage: Coverage,
    pub(crate) violation: Option<ViolationTrace>,
    /// Whether every state within the bounds was seen.
    pub(crate) end: ExplorationEnd,
}

/// How an exploration ended.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ExplorationEnd {
    /// Every state was seen.
    #[default]
    Exhausted,
    /// The limit of states or time was reached.
    Bounded,
}

/// A violation and the path to it.
#[derive(Debug)]
pub(crate) struct ViolationTrace {
    pub(crate) broken: BrokenInvariant,
    pub(crate) path: Vec<WorldMove>,
    pub(crate) log: Vec<String>,
}

/// How far an exploration may go.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ExplorationLimits {
    pub(crate) states: u64,
    pub(crate) ms: u64,
}

/// One in this many states is played to its end and replayed from its log.
const SAMPLE: u128 = 64;

struct StateNode {
    parent: usize,
    step: Option<WorldMove>,
}

struct Explorer<'a> {
    sim: ExplorerSim<'a>,
    visited: HashSet<u128, BuildHasherDefault<PassThroughHasher>>,
    nodes: Vec<StateNode>,
    frontier: VecDeque<(usize, ExploredState)>,
    walk: ExplorationResult,
}

/// Explores every state of a configuration, or until an invariant is broken.
pub(crate) fn search(sim: ExplorerSim<'_>, reach: ExplorationLimits) -> ExplorationResult {
    let mut walker = Explorer {
        sim,
        visited: HashSet::default(),
        nodes: Vec::new(),
        frontier: VecDeque::new(),
        walk: ExplorationResult::default(),
    };
    let watch = Stopwatch::start();
    match sim.start() {
        Ok(world) => walker.go(world, reach, &watch),
        Err(broken) => walker.fail(0, None, &ExploredState::new(sim.config), broken),
    }
    walker.walk
}

impl Explorer<'_> {
    fn go(&mut self, start: ExploredState, reach: ExplorationLimits, watch: &Stopwatch) {
        self.enter(0, None, start);
        while let Some((node, world)) = self.frontier.pop_front() {
            if self.walk.violation.is_some() {
                return;
            }
            if self.walk.states >= reach.states || watch.elapsed_ms() >= reach.ms {
                self.walk.end = ExplorationEnd::Bounded;
                return;
            }
            self.expand(node, &world);
        }
    }

    /// Adds a state that was not seen before.
    fn enter(&mut self, parent: usize, step: Option<WorldMove>, world: ExploredState) {
        let key = world.key();
        if !self.visited.insert(key) {
            return;
        }
        self.walk.states += 1;
        if let Err(broken) = self.examine(key, &world) {
            return self.fail(parent, step, &world, broken);
        }
        self.nodes.push(StateNode { parent, step });
        self.frontier.push_back((self.nodes.len() - 1, world));
    }

    fn examine(&mut self, key: u128, world: &ExploredState) -> Result<(), BrokenInvariant> {
        let wanted = self.sim.eyes.wanted(&world.live);
        invariants::state(self.sim.config, world, &wanted)?;
        stale_inputs::check_stale_inputs(&self.sim, world, &mut self.walk.coverage)?;
        self.play_on(key, world)
    }

    fn play_on(&self, key: u128, world: &ExploredState) -> Result<(), BrokenInvariant> {
        match key % SAMPLE {
            0 => liveness::check(&self.sim, world, HumanBehaviour::Decline),
            1 => liveness::check(&self.sim, world, HumanBehaviour::GoOn),
            2 => liveness::check(&self.sim, world, HumanBehaviour::Slow),
            // A planted bug decides differently than the core: only the core itself is replayed.
            3 if self.sim.eyes.is_unmodified() => replay::check(world),
            _ => Ok(()),
        }
    }

    fn expand(&mut self, node: usize, world: &ExploredState) {
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

    /// Records coverage. Stale inputs are recorded where they are sent; this records the moves with
    /// no stale form.
    fn cover(&mut self, place: u16, step: WorldMove, world: &ExploredState) {
        match step {
            WorldMove::Die { keep, .. } => {
                let stored = world.disk.get(usize::from(keep));
                let place = stored.map_or(0, |stored| phases(&stored.conversation));
                self.walk.coverage.note(place, InputKind::Adopted);
            }
            WorldMove::Fork => self.walk.coverage.note(place, InputKind::Forked),
            WorldMove::Tick => self.walk.coverage.note(place, InputKind::Ticked),
            WorldMove::Configure => self.walk.coverage.note(place, InputKind::Configured),
            _ => {}
        }
    }

    fn fail(
        &mut self,
        parent: usize,
        step: Option<WorldMove>,
        world: &ExploredState,
        broken: BrokenInvariant,
    ) {
        let mut path: Vec<WorldMove> = step.into_iter().collect();
        let mut at = self.nodes.get(parent);
        while let Some(StateNode { parent, step: Some(step) }) = at {
            path.push(*step);
            at = self.nodes.get(*parent);
        }
        path.reverse();
        let log = world.log().iter().map(windlass_core::Entry::encode).collect();
        self.walk.violation = Some(ViolationTrace { broken, path, log });
    }
}
