//! Settings of a conversation, their limits and their validation.

pub mod conversation_settings;
#[cfg(test)]
mod conversation_settings_tests;
pub mod limits;
#[cfg(test)]
mod limits_tests;
pub mod model_change;
pub mod run_settings;
pub(crate) mod run_settings_json;
pub mod server_tools;
pub mod settings_validation;
#[cfg(test)]
mod settings_validation_tests;
pub(crate) mod temperature;
