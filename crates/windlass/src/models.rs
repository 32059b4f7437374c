//! Models over HTTP, chosen by name: the model registry, the provider table, prices and
//! capabilities.
//!
//! [`WindlassBuilder::model_by_name`](crate::WindlassBuilder::model_by_name) takes a
//! [`ModelRegistry`]; its documentation shows how to make one. [`describe_model`] answers what a
//! model costs and can do, without a key and without the network:
//!
//! ```
//! use windlass::core::settings::conversation_settings::CacheLifetime;
//! use windlass::models::{CapabilityTable, ProviderTable, describe_model};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let (providers, capabilities) = (ProviderTable::built_in(), CapabilityTable::built_in());
//! let sonnet = describe_model(&providers, &capabilities, CacheLifetime::Off, "sonnet")?;
//! assert!(sonnet.model.window_tokens >= 200_000);
//! # Ok(())
//! # }
//! ```

pub use windlass_providers::catalog::capabilities::{CapabilityTable, Evidence, ModelCapabilities};
pub use windlass_providers::catalog::model_description::{ModelDescription, describe_model};
pub use windlass_providers::catalog::overrides::{ModelOverride, ProviderOverride};
pub use windlass_providers::catalog::prices::{CacheWriteLifetime, TokenPrices};
pub use windlass_providers::catalog::provider_table::{
    Credential, Provider, ProviderError as NameError, ProviderTable, WireFormat,
};
pub use windlass_providers::{
    CallNotice, CallOptions, EnvLookup, HttpClient, ModelRegistry, PlainRequest, PlainRequestError,
    PlainResponse, ProxyRules, SharedServices, notices_in,
};
