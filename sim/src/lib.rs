//! The exhaustive explorer and the seeded simulator.

pub mod explore;
pub mod hostile;
pub mod world;
