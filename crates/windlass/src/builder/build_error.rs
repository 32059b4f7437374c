//! Why a Windlass could not be started.

use windlass_core::permission::{BypassRefusedForRoot, InvalidRule};
use windlass_core::settings::settings_validation::InvalidSettings;
#[cfg(feature = "providers")]
use windlass_providers::catalog::provider_table::ProviderError as NameError;
use windlass_runtime::ports::StoreError;
use windlass_tools::InvalidOutputSchema;

/// Why [`WindlassBuilder::start`](crate::WindlassBuilder::start) failed. Each message says what to do.
#[derive(Debug, thiserror::Error)]
pub enum BuildError {
    /// No model was given.
    #[error("no model; set one with `.model(…)`")]
    NoModel,
    /// No store was given.
    #[error("no store; set one with `.store(…)`")]
    NoStore,
    /// A permission rule is not valid.
    #[error(transparent)]
    InvalidRule(#[from] InvalidRule),
    /// The name of a model is not known.
    #[cfg(feature = "providers")]
    #[error(transparent)]
    UnknownModel(#[from] NameError),
    /// The output schema is not valid.
    #[error(transparent)]
    InvalidSchema(#[from] InvalidOutputSchema),
    /// An MCP server cannot be used.
    #[cfg(feature = "mcp")]
    #[error("MCP server {name}: {error}")]
    McpServer {
        /// The name of the server.
        name: String,
        /// What is wrong with it.
        error: windlass_mcp::McpError,
    },
    /// A setting is not valid.
    #[error(transparent)]
    InvalidSettings(#[from] InvalidSettings),
    /// The permission mode is refused for a process that runs as root.
    #[error(transparent)]
    RefusedForRoot(#[from] BypassRefusedForRoot),
    /// The store failed or does not respond.
    #[error(transparent)]
    Store(#[from] StoreError),
}
