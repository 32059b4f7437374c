//! The exhaustive explorer: a world around the pure core in which every choice of model, tools,
//! humans, disk and clock is a transition, walked breadth first within stated bounds.
//!
//! Not here: the driver, sockets, real time. What the driver does with an entry (store, then apply,
//! then start effects) is `World::append`; a failed append is the state before it.

mod act;
mod advice;
mod batch;
mod bounds;
mod config;
mod configs;
mod coverage;
mod eyes;
mod hash;
mod hunt;
mod invariants;
mod law;
mod ledger;
mod liveness;
mod menu;
mod moves;
mod mutants;
mod replay;
mod report;
mod search;
mod stale;
mod tools;
mod watch;
mod world;

pub use hunt::hunt_all;
pub use report::{explore_all, explore_one, list};

#[cfg(test)]
mod search_tests;
