//! One tool call: its state, facts, order and outcome.

pub mod call_facts;
pub mod call_order;
#[cfg(test)]
mod call_order_tests;
pub mod call_state;
pub(crate) mod error_chain;
pub mod input_form;
#[cfg(test)]
mod input_form_tests;
pub mod input_request;
pub mod jitter;
#[cfg(test)]
mod jitter_tests;
pub mod outcome;
#[cfg(test)]
mod outcome_tests;
pub(crate) mod retry_classification;
