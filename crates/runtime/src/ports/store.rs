//! The store port: lanes with their logs and inboxes. The methods are steps of a protocol, not SQL:
//! each implementation expresses them in its engine's terms, and one conformance suite checks that
//! all of them behave alike.

use std::sync::Arc;

use super::BoxFuture;
use super::documents::{
    Document, DocumentQuery, LimitedTenant, RunCount, TenantLimits, WriteCondition,
};
use super::lane_discovery::{
    AbandonedLane, Affinity, ClaimQuery, ObservedHeartbeat, ReconcileRequest, ServedWorkspace,
    WorkerInfo,
};
use super::retention::{DeletedRows, RetentionCutoffs};
use super::statistics::{
    EventCount, NumberedWorkerEvent, SpendingAccount, SpendingChange, ToolStats, WorkerEvent,
    WorkerEventPage,
};
use super::store_error::StoreError;
use windlass_core::budget::spending::Spending;
use windlass_core::log::ids::{Epoch, InboxMessageId, LaneId, RunId, Seq, UnixMillis};
use windlass_core::log::inbox::{InboxCommand, InboxMessage};
use windlass_core::log::record::Durability;
use windlass_core::projection::{RawRow, Row, RunDescription};
use windlass_core::stop::{RunState, StopCause};

/// A store of lanes.
///
/// # Errors
///
/// Every method that returns a `Result` fails with a [`StoreError`] if the store cannot be read or
/// written. Errors with a special meaning are described with their method.
pub trait Store: Send + Sync + 'static {
    /// Enqueues a message in the inbox of a lane, creating the lane if it is new. The message is
    /// durable when this returns. The same idempotency key again returns the id of the first
    /// message and changes nothing.
    fn enqueue_message(
        &self,
        lane: LaneId,
        message: OutboxMessage,
    ) -> BoxFuture<'_, Result<EnqueuedMessage, StoreError>>;

    /// Claims the lane: raises its epoch, which fences every other owner from then on. A lane with
    /// an owner is [`StoreError::Busy`], unless `dead` names that owner and the heartbeat count it
    /// still shows: then the caller has observed it without a new heartbeat for a whole lease.
    ///
    /// A claim may be lost when the store's machine crashes, until something is appended with it.
    /// Its epoch may then be given to another worker: an owner is identified by its name *and* its
    /// epoch.
    fn claim_lane(
        &self,
        lane: LaneId,
        worker: WorkerId,
        dead: Option<ObservedHeartbeat>,
    ) -> BoxFuture<'_, Result<LaneClaim, StoreError>>;

    /// Releases the lane. Has no effect for a fenced owner.
    fn release_lane(
        &self,
        lane: LaneId,
        worker: WorkerId,
        epoch: Epoch,
    ) -> BoxFuture<'_, Result<(), StoreError>>;

    /// Records a heartbeat of the worker.
    fn record_heartbeat(&self, worker: WorkerId) -> BoxFuture<'_, Result<(), StoreError>>;

    /// Appends entries with their rows and outbox messages in one transaction, if owner, epoch and
    /// head are still those of the lane: otherwise [`StoreError::Fenced`], and nothing is written.
    /// A lane that is created by one of the messages inherits the affinity of the sender's lane.
    fn append(&self, append: AppendRequest) -> BoxFuture<'_, Result<(), StoreError>>;

    /// Reads entries after `after`, oldest first, at most `limit`. The log of a fork begins with its
    /// parent's entries.
    fn read_log(
        &self,
        lane: LaneId,
        after: Seq,
        limit: usize,
    ) -> BoxFuture<'_, Result<Vec<EncodedEntry>, StoreError>>;

    /// Reads the inbox: messages that no entry has read yet, oldest first, at most `limit`.
    fn read_inbox(
        &self,
        lane: LaneId,
        limit: usize,
    ) -> BoxFuture<'_, Result<Vec<InboxMessage>, StoreError>>;

    /// Creates `child` as a fork: a lane whose log continues `parent`'s after entry `at`, with the
    /// affinity of `parent`.
    fn fork_lane(
        &self,
        parent: LaneId,
        at: Seq,
        child: LaneId,
    ) -> BoxFuture<'_, Result<(), StoreError>>;

    /// Waits for a hint that the lane may have a new message. Hints are given within this process;
    /// messages of other processes are found by polling.
    fn wait_for_message(&self, lane: LaneId) -> BoxFuture<'_, ()>;

    /// Waits for a hint that any lane may have a new message, like [`Store::wait_for_message`]; a
    /// store that gives no hints is polled.
    fn wait_for_any_message(&self) -> BoxFuture<'_, ()> {
        Box::pin(std::future::pending())
    }

    /// Returns the workers that own lanes, with their heartbeat counts.
    fn owner_heartbeats(&self) -> BoxFuture<'_, Result<Vec<ObservedHeartbeat>, StoreError>>;

    /// Gives a hint for every lane of `owner` that has unread messages, so that messages of other
    /// processes are noticed for all lanes of a process at once.
    fn hint_unread_messages(&self, owner: WorkerId) -> BoxFuture<'_, Result<(), StoreError>>;

    /// Registers a lane with its affinity, creating it if it is new. A lane that has an affinity
    /// keeps it.
    fn register_lane(
        &self,
        lane: LaneId,
        affinity: Affinity,
    ) -> BoxFuture<'_, Result<(), StoreError>>;

    /// Records that owners are dead: their lanes are fenced and have no owner from then on, and a
    /// run that was active on one of them is `timed_out`, resumable if its last checkpoint allows
    /// it.
    fn reconcile_dead_owners(
        &self,
        pass: ReconcileRequest,
    ) -> BoxFuture<'_, Result<Vec<AbandonedLane>, StoreError>>;

    /// Claims runnable lanes that have no owner: lanes with unread messages and due lanes. A lane
    /// that was abandoned while an effect was in flight is due. Tenants are served in turn. Lanes
    /// may have been claimed even if this fails: [`Store::lanes_owned_by`] returns which.
    fn claim_runnable_lanes(
        &self,
        worker: WorkerId,
        query: ClaimQuery,
    ) -> BoxFuture<'_, Result<Vec<(LaneId, LaneClaim)>, StoreError>>;

    /// Returns the lanes that `owner` owns.
    fn lanes_owned_by(&self, owner: WorkerId) -> BoxFuture<'_, Result<Vec<LaneId>, StoreError>>;

    /// Deletes rows that are too old; never log entries, and nothing that a conversation needs to
    /// continue. One call deletes a bounded number of rows; call it until nothing was deleted.
    fn forget_old_rows(
        &self,
        forget: RetentionCutoffs,
    ) -> BoxFuture<'_, Result<DeletedRows, StoreError>>;

    /// Announces the workspaces that a worker serves, to show what a conversation waits for.
    fn announce_workspaces(
        &self,
        worker: WorkerId,
        workspaces: Vec<ServedWorkspace>,
    ) -> BoxFuture<'_, Result<(), StoreError>>;

    /// Returns the workers that announced themselves and sent a heartbeat within the last minutes.
    fn list_workers(&self) -> BoxFuture<'_, Result<Vec<WorkerInfo>, StoreError>>;

    /// Makes a lane with an unfinished run due at once, so that the next worker drives it. Returns
    /// `false` if there is no such run.
    fn wake_lane(&self, lane: LaneId) -> BoxFuture<'_, Result<bool, StoreError>>;

    /// Removes a lane, the lanes of its sub-agents, and everything stored for them. Rejected while
    /// one of them has an owner or an unfinished run, and while a fork shares its history.
    fn remove_lane(&self, lane: LaneId) -> BoxFuture<'_, Result<RemovedLanes, StoreError>>;

    /// Returns the state of a lane; `None` if there is no such lane.
    fn lane_info(&self, lane: LaneId) -> BoxFuture<'_, Result<Option<LaneInfo>, StoreError>>;

    /// Returns runs, newest first, at most `limit`. A prompt that is still unread is listed as a
    /// queued run.
    fn list_runs(
        &self,
        lane: Option<LaneId>,
        limit: usize,
    ) -> BoxFuture<'_, Result<Vec<RunInfo>, StoreError>>;

    /// Returns a run; `None` if there is no such run. A prompt that is still unread is a queued
    /// run.
    fn find_run(&self, run: RunId) -> BoxFuture<'_, Result<Option<RunInfo>, StoreError>> {
        Box::pin(async move {
            let runs = self.list_runs(None, usize::MAX).await?;
            Ok(runs.into_iter().find(|known| known.run == run))
        })
    }

    /// Returns the last trace row of every run that ended at `since` or later, newest run first, at
    /// most `limit`. A run that ended before it started has no row.
    fn list_trace_ends(
        &self,
        since: UnixMillis,
        limit: usize,
    ) -> BoxFuture<'_, Result<Vec<RunTraceEnd>, StoreError>>;

    /// Returns the raw responses of providers on a lane, with the entries after `after`; oldest
    /// first, at most `limit`. Responses older than the retention time are deleted.
    fn read_raw_responses(
        &self,
        lane: LaneId,
        after: Seq,
        limit: usize,
    ) -> BoxFuture<'_, Result<Vec<RawRow>, StoreError>>;

    /// Returns the spending of an account, including reservations for calls in progress.
    fn spending(&self, account: SpendingAccount) -> BoxFuture<'_, Result<Spending, StoreError>>;

    /// Returns statistics of the tools whose calls started or ended at `since` or later, by name.
    fn tool_stats(&self, since: UnixMillis) -> BoxFuture<'_, Result<Vec<ToolStats>, StoreError>>;

    /// Returns how often each event occurred at `since` or later, by agent, profile and name.
    fn event_counts(&self, since: UnixMillis)
    -> BoxFuture<'_, Result<Vec<EventCount>, StoreError>>;

    /// Records an event of a worker.
    fn record_worker_event(&self, event: WorkerEvent) -> BoxFuture<'_, Result<(), StoreError>>;

    /// Returns events of workers, at most `limit`, oldest first.
    fn worker_events(
        &self,
        page: WorkerEventPage,
        limit: usize,
    ) -> BoxFuture<'_, Result<Vec<NumberedWorkerEvent>, StoreError>>;

    /// Enqueues a prompt within the limits of its tenant. A new lane is created with `affinity`; a
    /// lane of another tenant is [`StoreError::LaneNotFound`]. A known idempotency key returns its
    /// first message, whatever the limits are; otherwise a reached limit is
    /// [`StoreError::LimitReached`], and nothing is written. Limits hold across processes.
    fn enqueue_prompt(
        &self,
        lane: LaneId,
        affinity: Affinity,
        message: OutboxMessage,
    ) -> BoxFuture<'_, Result<EnqueuedMessage, StoreError>>;

    /// Sets the limits of a tenant.
    fn set_tenant_limits(
        &self,
        tenant: Arc<str>,
        limits: TenantLimits,
    ) -> BoxFuture<'_, Result<(), StoreError>>;

    /// Returns the tenants that have limits, in the order of their names.
    fn tenant_limits(&self) -> BoxFuture<'_, Result<Vec<LimitedTenant>, StoreError>>;

    /// Returns how many runs are in each state, prompts that are still unread among the queued
    /// ones.
    fn count_runs(&self) -> BoxFuture<'_, Result<Vec<RunCount>, StoreError>>;

    /// Reads documents of a kind by their keys; those that do not exist are left out.
    fn read_documents(
        &self,
        kind: Arc<str>,
        keys: Vec<Arc<str>>,
    ) -> BoxFuture<'_, Result<Vec<Document>, StoreError>>;

    /// Lists documents.
    fn list_documents(
        &self,
        query: DocumentQuery,
    ) -> BoxFuture<'_, Result<Vec<Document>, StoreError>>;

    /// Writes a document if the condition holds, durably; returns whether it did. Of several writers
    /// with the same condition one succeeds.
    fn write_document(
        &self,
        document: Document,
        condition: WriteCondition,
    ) -> BoxFuture<'_, Result<bool, StoreError>>;

    /// Deletes a document, of any version if none is given; returns whether there was one.
    fn delete_document(
        &self,
        kind: Arc<str>,
        key: Arc<str>,
        version: Option<u64>,
    ) -> BoxFuture<'_, Result<bool, StoreError>>;
}

/// The id of a process that owns lanes: a new random name at every start, never configured.
pub type WorkerId = Arc<str>;

/// A message to be enqueued in the inbox of a lane.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OutboxMessage {
    /// The sender's idempotency key: a message that is sent twice is enqueued once.
    pub idempotency_key: Arc<str>,
    /// The command that the message carries.
    pub body: InboxCommand,
}

/// A message that was enqueued.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EnqueuedMessage {
    /// The id of the message.
    pub message: InboxMessageId,
}

/// A successful claim of a lane.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LaneClaim {
    /// The epoch to append with.
    pub epoch: Epoch,
    /// The last entry of the lane.
    pub head: Seq,
    /// The lane that this one is a fork of, and the last entry they share.
    pub fork_of: Option<(LaneId, Seq)>,
    /// The tenant of the lane, for fair scheduling.
    pub tenant: Arc<str>,
    /// The id of the workspace that its tools need; empty for none.
    pub workspace: Arc<str>,
    /// The unread messages at the time of the claim, oldest first, at most [`INBOX_PAGE_MESSAGES`].
    /// `None` if they cannot be read: [`Store::read_inbox`] then returns why, and the claims of
    /// other lanes are not affected.
    pub messages: Option<Vec<InboxMessage>>,
}

/// The number of inbox messages that are read at once.
pub const INBOX_PAGE_MESSAGES: usize = 64;

/// One append transaction.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AppendRequest {
    /// The lane to append to.
    pub lane: LaneId,
    /// The owner that appends.
    pub owner: WorkerId,
    /// The epoch of the owner's claim.
    pub epoch: Epoch,
    /// The last entry before this append.
    pub head: Seq,
    /// The encoded entries, numbered without gaps after `head`.
    pub entries: Vec<EncodedEntry>,
    /// The inbox messages that these entries have read.
    pub messages_read: Vec<InboxMessageId>,
    /// The outbox: messages to other lanes, enqueued in the same transaction.
    pub outbox: Vec<(LaneId, OutboxMessage)>,
    /// The rows that belong to the entries.
    pub rows: Vec<Row>,
    /// When the lane is due without a new message; at once if effects are wanted.
    pub wake_at: Option<UnixMillis>,
    /// The run that is active after the entries.
    pub active_run: Option<RunId>,
    /// What the append must survive before it returns.
    pub durability: Durability,
    /// How it changes the spending of the conversation's profile, where that is capped.
    pub spending: Option<SpendingChange>,
}

/// An entry as it is stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EncodedEntry {
    /// The sequence number of the entry.
    pub seq: Seq,
    /// The time of the entry.
    pub at: UnixMillis,
    /// The encoded entry, one line of JSON.
    pub line: Arc<str>,
}

/// The state of a lane.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LaneInfo {
    /// The id of the lane.
    pub lane: LaneId,
    /// The epoch: how often the lane changed its owner.
    pub epoch: Epoch,
    /// The last entry.
    pub head: Seq,
    /// The worker that owns the lane.
    pub owner: Option<WorkerId>,
    /// The active run.
    pub active_run: Option<RunId>,
    /// When the lane is due without a new message.
    pub wake_at: Option<UnixMillis>,
    /// The affinity of the lane.
    pub affinity: Affinity,
}

/// What was removed with a lane.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RemovedLanes {
    /// The lane and the lanes of its sub-agents.
    pub lanes: Vec<LaneId>,
    /// The number of removed log entries.
    pub entries: u64,
}

impl LaneInfo {
    /// Returns whether this is still the claim that `worker` made. The epoch alone does not tell:
    /// the epoch of a lost claim is given to the next owner.
    #[must_use]
    pub fn is_owned_by(&self, worker: &WorkerId, epoch: Epoch) -> bool {
        self.epoch == epoch && self.owner.as_ref() == Some(worker)
    }
}

/// The state of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunInfo {
    /// The id of the run.
    pub run: RunId,
    /// The lane of the run.
    pub lane: LaneId,
    /// The tenant of the lane.
    pub tenant: Arc<str>,
    /// The state that the run is in.
    pub state: RunState,
    /// Why the run ended.
    pub cause: Option<StopCause>,
    /// The text of the run's answer.
    pub text: Option<Arc<str>>,
    /// When the run reached this state.
    pub at: UnixMillis,
    /// Whether the owner of the run died and the run can be resumed.
    pub resume_available: bool,
    /// Whether a cancel of the run was requested.
    pub cancel_requested: bool,
    /// A description of the run's task.
    pub description: RunDescription,
    /// What the run and its child runs have cost so far; unknown for a model without a price.
    pub usd_micros: Option<u64>,
}

/// How a run ended, and after how many iterations.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunTraceEnd {
    /// The id of the run.
    pub run: RunId,
    /// The number of iterations of the run.
    pub iterations: u32,
    /// Why the run ended: the name of its stop cause.
    pub cause: Arc<str>,
    /// When the run ended.
    pub at: UnixMillis,
    /// The agent that drove the run.
    pub agent: Option<Arc<str>>,
    /// The profile that the limits of the run came from.
    pub profile: Option<Arc<str>>,
    /// The model that the run called.
    pub model: Option<Arc<str>>,
    /// Input tokens of all its iterations, cached ones included.
    pub input_tokens: u64,
    /// The part of them that came from the provider's cache.
    pub cached_tokens: u64,
    /// Output tokens of all its iterations.
    pub output_tokens: u64,
}
