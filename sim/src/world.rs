//! The seeded simulator: the real driver and the pure core in a world where everything that can go
//! wrong does, and the same way every time for the same seed.
//!
//! `plan` says what happens, `stage` lets it happen, `witness` sees it, `check` judges it. Not here:
//! every interleaving within bounds (that is the explorer) and real processes (the torture).

mod check;
mod clock;
pub(crate) mod dice;
mod event;
mod evidence;
mod gate;
mod hooks;
mod model;
mod people;
mod plan;
mod process;
mod replay;
mod shared;
mod stage;
mod store;
mod tools;
mod verdict;
mod witness;

pub use check::Violation;
pub use replay::{ReplayError, replay};
pub use shared::Break;
pub use verdict::{Verdict, simulate};
