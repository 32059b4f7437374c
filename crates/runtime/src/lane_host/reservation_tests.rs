//! Tests: how much memory a conversation takes while it waits for its model, besides its messages.

use super::LaneReservation;
use crate::driver::Driver;

/// The size of a future, without creating one.
fn future_size<F: Future>(_: impl FnOnce(LaneReservation) -> F) -> usize {
    size_of::<F>()
}

#[test]
fn a_conversation_that_waits_takes_little_room() {
    let driving = future_size(|reservation| reservation.drive(None));
    assert!(driving < 4_096, "the future that drives takes {driving} bytes");
    assert!(size_of::<Driver>() < 3_072, "a driver takes {} bytes", size_of::<Driver>());
}
