//! The exhaustive explorer and the seeded simulator.
