//! Long conversations with a model that means harm: endless calls, huge results, the same call again
//! and again, cut replies, absurd bills, junk for summaries. The pure core drives them, so that two
//! hundred rounds take milliseconds.
//!
//! Not here: crashes at every point (the explorer) and the driver (the simulator's worlds).

mod check;
mod figures;
mod model;
mod play;
mod tools;

pub use figures::Figures;

use crate::world::dice::Dice;
use play::Play;

/// Plays one conversation of two hundred rounds.
#[must_use]
pub fn hostile(seed: u64) -> Figures {
    let dice = Dice::about(seed, "hostile");
    Play::new(dice).played()
}
