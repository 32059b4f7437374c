//! The ledger of effects: kept outside the store, as a system that tools act on would keep it.

use std::sync::Arc;

use windlass_core::call::call_facts::CallFacts;
use windlass_core::call::outcome::ToolOutcome;
use windlass_core::log::ids::{CallId, LaneId};
use windlass_core::message::raw_json::RawJson;

use super::{ObservationLog, ObservationTick, ProcessId};

/// Index of an effect in the ledger.
pub(crate) type EffectId = usize;

/// One execution of a tool.
#[derive(Debug, Clone)]
pub(crate) struct ToolExecution {
    pub(crate) process: ProcessId,
    pub(crate) lane: LaneId,
    pub(crate) key: Arc<str>,
    pub(crate) call: CallId,
    pub(crate) attempt: u32,
    pub(crate) tool: &'static str,
    pub(crate) input: RawJson,
    pub(crate) facts: CallFacts,
    pub(crate) started: ObservationTick,
    /// When the effect took place.
    pub(crate) fired: Option<ObservationTick>,
    pub(crate) ended: Option<(ObservationTick, ExecutionEnd)>,
}

/// How an execution ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum ExecutionEnd {
    /// The execution returned this outcome.
    Returned(ToolOutcome),
    /// The execution panicked.
    Panicked,
    /// The execution was dropped: its result was no longer wanted.
    Dropped,
}

impl ToolExecution {
    pub(crate) fn is_once_only(&self) -> bool {
        !self.facts.is_repeatable()
    }

    pub(super) fn end(&mut self, tick: ObservationTick, ending: ExecutionEnd) {
        self.ended.get_or_insert((tick, ending));
    }
}

/// What happened to a call, as far as the world can tell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ExecutionTruth {
    Happened,
    DidNotHappen,
    /// The call is still running somewhere.
    Open,
}

impl ObservationLog {
    pub(crate) fn start(&self, build: impl FnOnce(ObservationTick) -> ToolExecution) -> EffectId {
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

    pub(crate) fn end(&self, id: EffectId, ending: ExecutionEnd) {
        let mut seen = self.seen();
        let tick = seen.tick();
        if let Some(effect) = seen.effects.get_mut(id) {
            effect.end(tick, ending);
        }
    }

    /// Returns how often a call was executed so far.
    pub(crate) fn executions(&self, key: &str) -> usize {
        self.seen().effects.iter().filter(|effect| &*effect.key == key).count()
    }

    /// Returns what an honest probe finds.
    pub(crate) fn truth(&self, key: &str) -> ExecutionTruth {
        let seen = self.seen();
        let mut mine = seen.effects.iter().filter(|effect| &*effect.key == key);
        let open = mine.clone().any(|effect| effect.ended.is_none());
        let fired = mine.any(|effect| effect.fired.is_some());
        match (fired, open) {
            (true, _) => ExecutionTruth::Happened,
            (false, true) => ExecutionTruth::Open,
            (false, false) => ExecutionTruth::DidNotHappen,
        }
    }
}
