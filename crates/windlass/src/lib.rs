//! Windlass is an agent runtime: it calls a model, runs the tools the model asks for, and records
//! each step durably before the next one, so that a run either advances or stops with a stated
//! cause. This crate is the library to depend on: the runtime, its adapters (models, stores,
//! tools), and a builder.
//!
//! Begin with [`Windlass::builder`]; send prompts through a [`Session`] and read a [`RunStream`].

#![doc = include_str!("../../../README.md")]

mod agent_definition;
mod builder;

pub use agent_definition::AgentDefinition;
pub use builder::{BuildError, WindlassBuilder};
pub use windlass_core as core;
pub use windlass_core::log::inbox::HumanAnswer;
pub use windlass_core::settings::conversation_settings::{ModelSpec as ModelSettings, Settings};
pub use windlass_core::stop::StopCause;
pub use windlass_scripted as scripted;

/// Models over HTTP, chosen by name: the model registry, the provider table, prices and
/// capabilities.
pub mod models {
    pub use windlass_providers::catalog::capabilities::{
        CapabilityTable, Evidence, ModelCapabilities,
    };
    pub use windlass_providers::catalog::model_description::{
        CatalogStatus, ModelDescription, describe_model,
    };
    pub use windlass_providers::catalog::overrides::{ModelOverride, ProviderOverride};
    pub use windlass_providers::catalog::prices::{CacheWriteLifetime, TokenPrices};
    pub use windlass_providers::catalog::provider_table::{
        Credential, Provider, ProviderError as NameError, ProviderTable, WireFormat,
    };
    pub use windlass_providers::{
        CallNotice, CallOptions, EnvLookup, HttpClient, ModelRegistry, ProxyRules, SharedServices,
        notices_in,
    };
}

pub use windlass_runtime::feed::{StreamItem, Subscription};
pub use windlass_runtime::lease::LeaseTimes;
pub use windlass_runtime::retention::RetentionPolicy;
pub use windlass_runtime::worker_identity::process_rights;
pub use windlass_runtime::workspace::Workspace;
pub use windlass_runtime::{
    Agent, AgentRegistry, DriveError, LaneHost, RunOutcome, RunStream, Session, StoreStatus,
    StoreStatusObserver, SystemClock, ToolRegistry, WorkerSettings, ports,
};
pub use windlass_store::{memory, postgres, sqlite};
pub use windlass_tools as tools;

use std::sync::Arc;

use windlass_core::log::ids::LaneId;

/// A running Windlass: drives conversations in this process. Clones share the same process state.
#[derive(Clone)]
pub struct Windlass {
    host: Arc<LaneHost>,
}

impl Windlass {
    /// Returns a builder with default settings.
    #[must_use]
    pub fn builder() -> WindlassBuilder {
        WindlassBuilder::default()
    }

    /// Returns a handle to the conversation on `lane`, which need not exist yet.
    #[must_use]
    pub fn session(&self, lane: impl Into<LaneId>) -> Session {
        self.host.session(lane)
    }

    /// Runs the worker loop with default settings: drives every runnable conversation of the store,
    /// whichever process started it, until [`Windlass::hand_over`] is called. Returns when all
    /// conversations of this process are released, or the time for handing over has passed.
    ///
    /// # Errors
    ///
    /// Returns a [`ports::StoreError`] if the store fails at the start, or later in a way that
    /// retrying cannot repair.
    pub async fn run_worker(&self) -> Result<(), ports::StoreError> {
        self.host.run_worker(WorkerSettings::default()).await
    }

    /// Runs the worker loop like [`Windlass::run_worker`], with the given intervals and limits.
    ///
    /// # Errors
    ///
    /// Returns a [`ports::StoreError`] if the store fails at the start, or later in a way that
    /// retrying cannot repair.
    pub async fn run_worker_with(&self, times: WorkerSettings) -> Result<(), ports::StoreError> {
        self.host.run_worker(times).await
    }

    /// Runs the worker loop like [`Windlass::run_worker_with`]. `tell` is called when the store
    /// stops responding, and when it responds again.
    ///
    /// # Errors
    ///
    /// Returns a [`ports::StoreError`] if the store fails at the start, or later in a way that
    /// retrying cannot repair.
    pub async fn run_worker_with_observer(
        &self,
        times: WorkerSettings,
        tell: StoreStatusObserver<'_>,
    ) -> Result<(), ports::StoreError> {
        self.host.run_worker_with_observer(times, tell).await
    }

    /// Stops driving: every conversation stops at its current step and is released, so that another
    /// process can continue it.
    pub fn hand_over(&self) {
        self.host.hand_over();
    }

    /// Stops driving like [`Windlass::hand_over`], but lets running tool calls finish first if they
    /// do so within `grace_ms` milliseconds. No new effect is started meanwhile.
    pub fn hand_over_within(&self, grace_ms: u64) {
        self.host.hand_over_within(grace_ms);
    }
}
