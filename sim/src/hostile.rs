//! Long conversations with a hostile model: endless calls, huge results, the same call again and
//! again, truncated replies, absurd usage reports, junk for summaries. The pure core drives them,
//! so that two hundred rounds take milliseconds.
//!
//! Not here: crashes at every point (the explorer) and the driver (the simulator's worlds).

mod check;
mod figures;
mod model;
mod play;
pub(crate) mod tools;

pub use figures::HostileFigures;

use crate::world::seeded_rng::SeededRng;
use play::HostileRun;

/// Plays one conversation of two hundred rounds.
#[must_use]
pub fn hostile(seed: u64) -> HostileFigures {
    let rng = SeededRng::about(seed, "hostile");
    HostileRun::new(rng).run_hostile()
}
