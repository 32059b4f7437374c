//! A lane that begins as another one.

use windlass_core::ids::{LaneId, Seq};
use windlass_runtime::ports::StoreError;

use super::world::{Lane, World};
use crate::valid::refusal;

impl World {
    pub(super) fn fork(
        &mut self,
        parent: &LaneId,
        at: Seq,
        child: &LaneId,
    ) -> Result<(), StoreError> {
        let (head, whose) = (self.lane_ref(parent)?.head, self.lane_ref(parent)?.whose.clone());
        if at > head {
            return Err(refusal::fork_beyond_head(parent, at, head));
        }
        let origin = Some((parent.clone(), at));
        match self.lanes.get(child) {
            Some(there) if there.parent == origin => Ok(()),
            Some(_) => Err(refusal::fork_exists(child)),
            None => {
                let lane = Lane { whose, parent: origin, head: at, ..Lane::default() };
                self.lanes.insert(child.clone(), lane);
                Ok(())
            }
        }
    }
}
