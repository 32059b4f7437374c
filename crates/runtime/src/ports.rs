//! The ports: what the driver needs from the outside world. An adapter implements one of these
//! traits; nothing here knows which vendor, disk or clock is behind it.

mod call_heartbeat;
mod call_progress;
mod clock;
mod documents;
mod hook_message;
mod hook_model;
mod hooks;
mod lane_discovery;
mod model;
mod process_launcher;
mod retention;
mod source_reporter;
mod statistics;
mod store;
mod store_error;
mod tool;

pub use call_heartbeat::CallHeartbeat;
pub use call_progress::{CallProgress, MAX_LIVE_OUTPUT_BYTES, ProgressReporter, ProgressStep};
pub use clock::Clock;
pub use documents::{
    DEFAULT_TENANT, Document, DocumentFilter, DocumentQuery, LimitedTenant, RUN_CHANGE_KIND,
    RunCount, TenantLimits, WEBHOOK_KIND, WriteCondition,
};
pub use hook_message::{HookMessage, HookMessageLevel, HookMessages};
pub use hook_model::HookModel;
pub use hooks::{
    ExpansionKind, HookContext, HookResponse, Hooks, ModelSwitch, NoHooks, RunMoment,
    SessionEndReason, SessionEvent,
};
pub use lane_discovery::{
    AbandonedLane, Affinity, ClaimQuery, ObservedHeartbeat, ReconcileRequest, ResumeOverride,
    ServedWorkspace, WorkerInfo, WorkerScope,
};
pub use model::{Model, ReplyObserver};
pub use process_launcher::{
    LaunchAccess, LaunchGroup, LaunchPurpose, LaunchRequest, LaunchStream, LaunchedProcess,
    ProcessHandle, ProcessLauncher,
};
pub use retention::{DeletedRows, RetentionCutoffs};
pub use source_reporter::SourceReporter;
pub use statistics::{
    EventCount, NumberedWorkerEvent, SpendingAccount, SpendingChange, ToolStats, WorkerEvent,
    WorkerEventPage,
};
pub use store::{
    AppendRequest, EncodedEntry, EnqueuedMessage, INBOX_PAGE_MESSAGES, LaneClaim, LaneInfo,
    OutboxMessage, RemovedLanes, RunInfo, RunTraceEnd, Store, WorkerId,
};
pub use store_error::StoreError;
pub use tool::{CallContext, ResultFiles, Tool};

use std::future::Future;
use std::pin::Pin;

/// A boxed future, as the methods of the port traits return it.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;
