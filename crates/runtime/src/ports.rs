//! What the driver needs from the world. An adapter implements one of these traits; nothing here
//! knows which vendor, disk or clock is behind it.

mod clock;
mod finding;
mod forgetting;
mod heartbeat;
mod hooks;
mod model;
mod records;
mod store;
mod store_error;
mod tool;

pub use clock::Clock;
pub use finding::{
    Left, Look, Reach, Reconcile, Resume, SeenBeat, ServedWorkspace, Whose, WorkerInfo,
};
pub use forgetting::{Forget, Forgotten};
pub use heartbeat::Heartbeat;
pub use hooks::{Heard, Hooks, NoHooks, Scene, SessionEndReason};
pub use model::{Model, Stream};
pub use records::{
    EventCount, NumberedWorkerEvent, SpendingAccount, SpendingChange, ToolStats, WorkerEvent,
    WorkerEventPage,
};
pub use store::{
    Append, Claim, Delivered, EncodedEntry, LaneInfo, Letter, MAIL_PAGE, Removed, RunInfo, Store,
    TraceEnd, WorkerId,
};
pub use store_error::StoreError;
pub use tool::{CallContext, Tool};

use std::future::Future;
use std::pin::Pin;

/// A future behind a trait object.
pub type Task<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;
