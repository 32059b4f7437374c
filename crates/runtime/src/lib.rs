//! The runtime: ports to the outside world, and the driver that performs what the core decides.
//!
//! Not here: decisions (those are in `windlass-core`) and vendors (those are in the adapters).

mod adapter_guard;
pub mod agent;
pub mod agent_registry;
pub mod driver;
mod effect_runner;
pub mod fair_semaphore;
pub mod feed;
pub mod hook_chain;
mod hook_notifications;
pub mod input_schema;
pub mod json_schema;
pub mod lane_host;
pub mod lease;
pub mod locked_files;
pub mod network_addresses;
#[cfg(test)]
mod network_addresses_tests;
pub mod ports;
pub mod retention;
pub mod session;
pub mod system_clock;
pub mod telemetry;
pub mod tool_registry;
pub mod unconfined_launcher;
mod watchdog_slot;
pub mod worker_identity;
pub mod worker_loop;
pub mod workspace;
mod worktree_places;

pub use agent::{Agent, Ports};
pub use agent_registry::AgentRegistry;
pub use driver::{DriveError, DriveOutcome, Driver};
pub use fair_semaphore::FairSemaphore;
pub use hook_chain::HookChain;
pub use json_schema::JsonSchema;
pub use lane_host::LaneHost;
pub use session::{RunOutcome, RunStream, Session};
pub use system_clock::SystemClock;
pub use tool_registry::{ToolRegistry, ToolSource};
pub use unconfined_launcher::UnconfinedLauncher;
pub use worker_loop::{StoreStatus, StoreStatusObserver, WorkerSettings};
pub use worktree_places::WorktreePlaces;
