//! What the driver needs from the world. An adapter implements one of these traits; nothing here
//! knows which vendor, disk or clock is behind it.

mod clock;
mod hooks;
mod model;
mod store;
mod tool;

pub use clock::Clock;
pub use hooks::{Heard, Hooks, NoHooks, Scene};
pub use model::{Model, Stream};
pub use store::{
    Append, Claim, Delivered, EncodedEntry, LaneInfo, Letter, Look, RunInfo, SeenBeat, Store,
    StoreError, TraceEnd, Wanting, WorkerId,
};
pub use tool::{CallContext, Tool};

use std::future::Future;
use std::pin::Pin;

/// A future behind a trait object.
pub type Task<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;
