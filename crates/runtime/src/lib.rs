//! Makes it happen: ports to the world, and the driver that carries out what the core decides.
//!
//! Not here: judgement (that is `windlass-core`) and vendors (those are the adapters).

pub mod agent;
pub mod agents;
pub mod driver;
pub mod feed;
mod flights;
pub mod hook_chain;
pub mod host;
pub mod identity;
pub mod keeping;
pub mod lease;
pub mod ports;
mod schema;
pub mod session;
pub mod system_clock;
pub mod telemetry;
pub mod toolbox;
pub mod turns;
pub mod workers;
pub mod workspace;

pub use agent::{Agent, Ports};
pub use agents::Agents;
pub use driver::{DriveError, Driver, Rest};
pub use hook_chain::HookChain;
pub use host::Host;
pub use session::{End, RunStream, Session};
pub use system_clock::SystemClock;
pub use toolbox::Toolbox;
pub use turns::Turns;
pub use workers::{StoreNews, Tell, WorkTimes};
