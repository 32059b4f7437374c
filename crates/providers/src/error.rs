//! Errors of a model call and their retry classification.

pub(crate) mod call_error;
pub(crate) mod error_response;
pub(crate) mod retry_after;
#[cfg(test)]
mod retry_after_tests;
pub(crate) mod retry_class;
#[cfg(test)]
mod retry_class_tests;
