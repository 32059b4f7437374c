//! What a conversation holds while it waits for its model, besides what was said.

use super::Reservation;
use crate::driver::Driver;

/// The room that a future takes, without making one.
fn room<F: Future>(_: impl FnOnce(Reservation) -> F) -> usize {
    size_of::<F>()
}

#[test]
fn a_conversation_that_waits_takes_little_room() {
    let driving = room(|reservation| reservation.drive(None));
    assert!(driving < 4_096, "the future that drives takes {driving} bytes");
    assert!(size_of::<Driver>() < 3_072, "a driver takes {} bytes", size_of::<Driver>());
}
