//! The exhaustive explorer (model checker): a world around the pure core in which every choice of
//! model, tools, humans, disk and clock is a transition, explored breadth first within stated
//! bounds.
//!
//! Not here: the driver, sockets, real time. What the driver does with an entry (store, then apply,
//! then start effects) is `ExploredState::append`; a failed append is the state before it.

mod batch;
mod bounds;
mod choices;
mod command_bodies;
mod config;
mod configs;
mod core_under_test;
mod coverage;
mod hash;
mod invariants;
mod ledger;
mod liveness;
mod moves;
mod mutants;
mod mutation_test;
mod permission_model;
mod replay;
mod report;
mod review_choices;
mod search;
mod stale_inputs;
mod stopwatch;
mod tools;
mod transitions;
mod world;

pub use mutation_test::test_all_mutants;
pub use report::{explore_all, explore_one, list};

#[cfg(test)]
mod search_tests;
