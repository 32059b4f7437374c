//! Faults: which one comes next, when, and how it is applied to a process.

pub(crate) mod apply_fault;
pub(crate) mod fault_injector;
pub(crate) mod freeze_takeover;
pub(crate) mod kill_budget;
pub(crate) mod watched_kill;

#[cfg(test)]
mod kill_budget_tests;
