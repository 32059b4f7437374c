//! Budgets: spending, spending caps, and the task budget that the model is told about.

pub mod spending;
#[cfg(test)]
mod spending_tests;
pub mod task_budget;
#[cfg(test)]
mod task_budget_tests;
