//! Results of tools: files for long ones, and objects for the SDKs.

mod long_results;
mod sdk_result;

#[cfg(test)]
mod sdk_result_tests;

pub use long_results::with_long_results;
pub(crate) use sdk_result::model_content;
pub use sdk_result::sdk_result;
