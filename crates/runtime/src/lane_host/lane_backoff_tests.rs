use std::sync::Arc;

use windlass_core::log::ids::LaneId;

use super::backoff_ms;
use crate::driver::DriveError;
use crate::ports::StoreError;

#[test]
fn a_lane_is_left_to_others_for_as_long_as_its_trouble_lasts() {
    let (lane, location, reason) = (LaneId::from("a"), String::from("a.db"), String::from("cut"));
    let of = |error: StoreError| backoff_ms(&DriveError::Store(error));
    assert_eq!(of(StoreError::Fenced { lane: lane.clone() }), 0);
    assert_eq!(
        of(StoreError::Broken { location: location.clone(), reason: reason.clone() }),
        2_000
    );
    assert_eq!(of(StoreError::Corrupt { location, reason }), 60_000);
    assert_eq!(backoff_ms(&DriveError::UnknownAgent { name: Arc::from("x"), lane }), 60_000);
}
