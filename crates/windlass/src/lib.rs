//! Windlass: an agent loop in which every turn either clicks forward, durably, or stops and says
//! why. This crate is the library people depend on: the runtime, its adapters, and a builder.

#![doc = include_str!("../../../README.md")]

mod builder;
mod definition;

pub use builder::{BuildError, Builder};
pub use definition::Definition;
pub use windlass_core as core;
pub use windlass_core::mail::Answer;
pub use windlass_core::settings::{Model as ModelSettings, Settings};
pub use windlass_core::stop::StopCause;
pub use windlass_providers::scripted;

/// Models over HTTP: a name chooses the provider.
pub mod models {
    pub use windlass_providers::capabilities::{Abilities, Capabilities, Evidence};
    pub use windlass_providers::describe::{Described, Standing, describe};
    pub use windlass_providers::names::{
        Credential, Error as NameError, Format, Provider, Providers,
    };
    pub use windlass_providers::overrides::{ModelRow, ProviderRow};
    pub use windlass_providers::prices::{Prices, Written};
    pub use windlass_providers::{
        Client, Models, Notice, Options, Proxies, Shared, Variables, notices,
    };
}

pub use windlass_runtime::feed::{Item, Subscription};
pub use windlass_runtime::identity::process_rights;
pub use windlass_runtime::keeping::Keeping;
pub use windlass_runtime::lease::LeaseTimes;
pub use windlass_runtime::workspace::Workspace;
pub use windlass_runtime::{
    Agent, Agents, DriveError, End, Host, RunStream, Session, StoreNews, SystemClock, Tell,
    Toolbox, WorkTimes, ports,
};
pub use windlass_store::{memory, postgres, sqlite};
pub use windlass_tools as tools;

use std::sync::Arc;

use windlass_core::ids::LaneId;

/// A running Windlass: drives conversations in this process.
#[derive(Clone)]
pub struct Windlass {
    host: Arc<Host>,
}

impl Windlass {
    /// Begins to put one together.
    #[must_use]
    pub fn builder() -> Builder {
        Builder::default()
    }

    /// A handle to the conversation on `lane`, which need not exist yet.
    #[must_use]
    pub fn session(&self, lane: impl Into<LaneId>) -> Session {
        self.host.session(lane)
    }

    /// Drives whatever wants to be driven in the store, whoever began it, until told to hand over;
    /// returns when every conversation has been given back.
    pub async fn work(&self) -> Result<(), ports::StoreError> {
        self.host.work(WorkTimes::default()).await
    }

    /// The same with other times.
    pub async fn work_with(&self, times: WorkTimes) -> Result<(), ports::StoreError> {
        self.host.work(times).await
    }

    /// Like [`Windlass::work`]. `tell` hears when the store stops to answer, and when it answers again.
    pub async fn work_telling(
        &self,
        times: WorkTimes,
        tell: Tell<'_>,
    ) -> Result<(), ports::StoreError> {
        self.host.work_telling(times, tell).await
    }

    /// Asks every conversation to stop where it is, so that another process can go on.
    pub fn hand_over(&self) {
        self.host.hand_over();
    }

    /// The same after the tool calls that run have finished, if they do so within `grace_ms`. Nothing
    /// new is started meanwhile.
    pub fn hand_over_within(&self, grace_ms: u64) {
        self.host.hand_over_within(grace_ms);
    }
}
