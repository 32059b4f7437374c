//! The seeded simulator: the real driver and the pure core in a world where everything that can go
//! wrong does, and the same way every time for the same seed (deterministic simulation testing).
//!
//! `world_plan` says what happens, `world_runner` lets it happen, `observation_log` records it,
//! `check` verifies it. Not here: every interleaving within bounds (that is the explorer) and real
//! processes (the torture).

mod check;
mod clock;
mod command_sender;
mod event;
mod evidence;
mod hooks;
mod model;
mod observation_log;
mod process;
mod process_gate;
mod replay;
mod seed_result;
pub(crate) mod seeded_rng;
mod shared;
mod store;
mod tools;
mod world_plan;
mod world_runner;

pub use check::Violation;
pub use replay::{ReplayError, replay};
pub use seed_result::{SeedResult, simulate, simulate_forgotten_claims};
pub use shared::RemovedSafeguard;
