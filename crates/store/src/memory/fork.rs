//! Forking a lane.

use windlass_core::log::ids::{LaneId, Seq};
use windlass_runtime::ports::StoreError;

use super::store_state::{LaneState, StoreState};
use crate::validation::rejection;

impl StoreState {
    pub(super) fn fork(
        &mut self,
        parent: &LaneId,
        at: Seq,
        child: &LaneId,
    ) -> Result<(), StoreError> {
        let (head, affinity) =
            (self.lane_ref(parent)?.head, self.lane_ref(parent)?.affinity.clone());
        if at > head {
            return Err(rejection::fork_beyond_head(parent, at, head));
        }
        let origin = Some((parent.clone(), at));
        match self.lanes.get(child) {
            Some(there) if there.parent == origin => Ok(()),
            Some(_) => Err(rejection::fork_exists(child)),
            None => {
                let lane = LaneState { affinity, parent: origin, head: at, ..LaneState::default() };
                self.lanes.insert(child.clone(), lane);
                Ok(())
            }
        }
    }
}
