//! The exhaustive explorer and the seeded simulator.

pub mod explore;
pub mod world;
