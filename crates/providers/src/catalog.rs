//! The catalog of providers and models: capabilities, prices, windows, and what the user overrides.

pub mod capabilities;
#[cfg(test)]
mod capabilities_tests;
pub mod model_description;
#[cfg(test)]
mod model_description_tests;
pub(crate) mod model_registry;
pub mod overrides;
pub mod prices;
pub mod provider_table;
#[cfg(test)]
mod provider_table_tests;
