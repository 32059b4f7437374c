//! The ledger of effects: kept outside the store, as a system that tools act on would keep it.

use std::sync::Arc;

use windlass_core::facts::Facts;
use windlass_core::ids::{CallId, LaneId};
use windlass_core::outcome::Outcome;
use windlass_core::raw::Raw;

use super::{ProcessId, Tick, Witness};

/// Its place in the ledger.
pub(crate) type EffectId = usize;

/// One execution of a tool.
#[derive(Debug, Clone)]
pub(crate) struct Effect {
    pub(crate) process: ProcessId,
    pub(crate) lane: LaneId,
    pub(crate) key: Arc<str>,
    pub(crate) call: CallId,
    pub(crate) attempt: u32,
    pub(crate) tool: &'static str,
    pub(crate) input: Raw,
    pub(crate) facts: Facts,
    pub(crate) started: Tick,
    /// When the world changed.
    pub(crate) fired: Option<Tick>,
    pub(crate) ended: Option<(Tick, Ending)>,
}

/// How an execution ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Ending {
    /// It brought this back.
    Returned(Outcome),
    /// It broke down.
    Panicked,
    /// Nobody waited for it any longer.
    Dropped,
}

impl Effect {
    pub(crate) fn is_once_only(&self) -> bool {
        !self.facts.is_repeatable()
    }

    pub(super) fn end(&mut self, tick: Tick, ending: Ending) {
        self.ended.get_or_insert((tick, ending));
    }
}

/// What became of a call, as far as the world can tell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Truth {
    Happened,
    DidNotHappen,
    /// It is going on somewhere.
    Open,
}

impl Witness {
    pub(crate) fn start(&self, build: impl FnOnce(Tick) -> Effect) -> EffectId {
        let mut seen = self.seen();
        let tick = seen.tick();
        seen.effects.push(build(tick));
        seen.effects.len() - 1
    }

    pub(crate) fn fire(&self, id: EffectId) {
        let mut seen = self.seen();
        let tick = seen.tick();
        if let Some(effect) = seen.effects.get_mut(id) {
            effect.fired.get_or_insert(tick);
        }
    }

    pub(crate) fn end(&self, id: EffectId, ending: Ending) {
        let mut seen = self.seen();
        let tick = seen.tick();
        if let Some(effect) = seen.effects.get_mut(id) {
            effect.end(tick, ending);
        }
    }

    /// How often a call was executed so far.
    pub(crate) fn executions(&self, key: &str) -> usize {
        self.seen().effects.iter().filter(|effect| &*effect.key == key).count()
    }

    /// What a probe that is honest finds.
    pub(crate) fn truth(&self, key: &str) -> Truth {
        let seen = self.seen();
        let mut mine = seen.effects.iter().filter(|effect| &*effect.key == key);
        let open = mine.clone().any(|effect| effect.ended.is_none());
        let fired = mine.any(|effect| effect.fired.is_some());
        match (fired, open) {
            (true, _) => Truth::Happened,
            (false, true) => Truth::Open,
            (false, false) => Truth::DidNotHappen,
        }
    }
}
