//! Group commit: many pieces of work in one transaction. Rejected work does not affect the others;
//! work that fails midway makes all of the batch run in transactions of their own.

use std::sync::Arc;

use rusqlite::{CachedStatement, Connection};
use windlass_core::log::ids::{Epoch, InboxMessageId, LaneId, Seq};
use windlass_core::log::record::Durability;
use windlass_runtime::ports::{
    AbandonedLane, Affinity, DeletedRows, Document, EnqueuedMessage, LaneClaim, ObservedHeartbeat,
    ReconcileRequest, RemovedLanes, RetentionCutoffs, StoreError, TenantLimits, WorkerEvent,
    WorkerId, WriteCondition,
};

use super::database_file::DatabaseFile;
use super::error::{WorkError, is_busy, is_failing_disk};
use super::fenced_append::PreparedAppend;
use super::open::retry_while_busy;
use super::wal::{WalCheckpoints, WalSyncer};
use super::write_queue::{WriteQueue, WriteTurn};
use super::writer::WriteJob;
use super::{
    deferred_rows, deletion, documents, fenced_append, heartbeats, inbox, lanes, runnable_lanes,
    statistics, tenants, wal,
};
use crate::crash_points;
use crate::encoding::EncodedMessage;
use crate::inbox_hints::InboxHints;

#[derive(Debug)]
pub(super) struct GroupCommitter {
    file: Arc<DatabaseFile>,
    connection: Connection,
    hints: Arc<InboxHints>,
    syncer: WalSyncer,
    checkpoints: WalCheckpoints,
    queue: WriteQueue,
}

/// How often a process waits for its turn while others commit, each time for the busy timeout.
const MAX_WAITS: u32 = 60;

type WorkOutcome = Result<WriteOutput, StoreError>;

/// Why a transaction failed.
enum TransactionError {
    /// One piece of work failed; the others may succeed in transactions of their own.
    OneFailed(StoreError),
    /// The transaction failed as a whole.
    AllFailed(StoreError),
}

impl GroupCommitter {
    pub(super) fn new(
        file: Arc<DatabaseFile>,
        connection: Connection,
        hints: Arc<InboxHints>,
        syncer: WalSyncer,
        checkpoints: WalCheckpoints,
    ) -> Self {
        let queue = WriteQueue::open(file.path());
        Self { file, connection, hints, syncer, checkpoints, queue }
    }

    /// Commits the batch; waits while another process holds the file.
    pub(super) fn commit(&mut self, batch: Vec<WriteJob>) {
        let _turn = self.wait_for_turn();
        self.commit_in_turn(batch);
    }

    /// Waits until it is the turn of this process. Without one it writes when SQLite lets it: if the
    /// process in front stands still, that reports it.
    fn wait_for_turn(&mut self) -> WriteTurn {
        let mut seen = None;
        for _ in 0..MAX_WAITS {
            if let Some(turn) = self.queue.wait(self.file.busy_timeout()) {
                return turn;
            }
            // Another value than before: someone has committed meanwhile.
            let version =
                self.connection.pragma_query_value(None, "data_version", |row| row.get(0));
            let version: Option<i64> = version.ok();
            if version.is_none() || version == seen {
                break;
            }
            seen = version;
        }
        WriteTurn::Unordered
    }

    fn commit_in_turn(&mut self, batch: Vec<WriteJob>) {
        let begun = self.file.check_not_broken().and_then(|()| {
            let begun = retry_while_busy(self.file.busy_timeout(), || self.begin());
            begun.map_err(|error| self.explain_or_break(&error))
        });
        match begun {
            Ok(()) => self.run_transaction(batch),
            Err(error) => reject_all(batch, &error),
        }
    }

    /// Commits the batch, or returns it if another process holds the file.
    pub(super) fn try_commit(&mut self, batch: Vec<WriteJob>) -> Result<(), Vec<WriteJob>> {
        if batch.is_empty() {
            return Ok(());
        }
        let Some(_turn) = self.queue.try_now() else { return Err(batch) };
        match self.file.check_not_broken().map(|()| self.begin()) {
            Ok(Ok(())) => self.run_transaction(batch),
            Ok(Err(error)) if is_busy(&error) => return Err(batch),
            Ok(Err(error)) => reject_all(batch, &self.explain_or_break(&error)),
            Err(error) => reject_all(batch, &error),
        }
        Ok(())
    }

    /// Runs the batch in the transaction that has begun.
    fn run_transaction(&mut self, batch: Vec<WriteJob>) {
        match self.perform_all(&batch) {
            Ok(outcomes) => self.reply_all(batch.into_iter().zip(outcomes)),
            Err(TransactionError::OneFailed(_)) if batch.len() > 1 => {
                batch.into_iter().for_each(|job| self.commit_in_turn(vec![job]));
            }
            Err(TransactionError::OneFailed(error) | TransactionError::AllFailed(error)) => {
                reject_all(batch, &error);
            }
        }
    }

    /// Returns whether a checkpoint of the write-ahead log is due, which takes time.
    pub(super) fn is_checkpoint_due(&self) -> bool {
        self.checkpoints.is_due()
    }

    pub(super) fn checkpoint_if_due(&self) {
        self.checkpoints.run_if_due(&self.file, &self.connection);
    }

    /// Marks the file as broken after a panic of the writer: its state is uncertain from then on.
    pub(super) fn mark_broken(&self) {
        let _: StoreError = self.file.mark_broken("the writer failed");
    }

    pub(super) fn close(self) {
        self.syncer.close();
        // A process that has the turn, or waits for it, moves the log later.
        let Some(_turn) = self.queue.try_now() else { return };
        wal::checkpoint_at_close(&self.file, &self.connection);
    }

    fn perform_all(&self, batch: &[WriteJob]) -> Result<Vec<WorkOutcome>, TransactionError> {
        let performed = batch.iter().map(|job| self.perform_work(&job.work)).collect();
        let outcomes: Vec<WorkOutcome> = match performed {
            Ok(outcomes) => outcomes,
            Err(error) => return Err(TransactionError::OneFailed(self.roll_back(error))),
        };
        successful_work(batch, &outcomes).for_each(WriteWork::before_commit);
        self.commit_transaction()?;
        successful_work(batch, &outcomes).for_each(WriteWork::after_commit);
        Ok(outcomes)
    }

    fn begin(&self) -> rusqlite::Result<()> {
        self.connection.prepare_cached("BEGIN IMMEDIATE")?.execute([]).map(drop)
    }

    /// Returns the outcome, or the error for which the transaction must be rolled back.
    fn perform_work(&self, work: &WriteWork) -> Result<WorkOutcome, StoreError> {
        match work.perform(&self.connection) {
            Ok(answer) => Ok(Ok(answer)),
            Err(WorkError::Rejected(error)) => Ok(Err(error)),
            Err(WorkError::RollBack(error)) => Err(error),
            Err(WorkError::Sqlite(error)) => Err(self.explain_or_break(&error)),
        }
    }

    fn commit_transaction(&self) -> Result<(), TransactionError> {
        let commit = || self.connection.prepare_cached("COMMIT")?.execute([]);
        match commit() {
            Ok(_) => self.file.count_commit(),
            Err(error) => {
                return Err(TransactionError::AllFailed(
                    self.roll_back(self.explain_or_break(&error)),
                ));
            }
        }
        Ok(())
    }

    /// Rolls the transaction back, unless SQLite has already done so.
    fn roll_back(&self, error: StoreError) -> StoreError {
        if self.connection.is_autocommit() {
            return error;
        }
        match self.connection.execute_batch("ROLLBACK") {
            Ok(()) => error,
            Err(second) => self.file.mark_broken(&format!("rollback failed: {second}")),
        }
    }

    /// Explains an error; after an I/O error the file is marked as broken, because nothing about it
    /// is certain.
    fn explain_or_break(&self, error: &rusqlite::Error) -> StoreError {
        match is_failing_disk(error) {
            true => self.file.mark_broken(&error.to_string()),
            false => self.file.explain_error(error),
        }
    }

    fn reply_all(&self, answers: impl Iterator<Item = (WriteJob, WorkOutcome)>) {
        let mut waiting = Vec::new();
        for (job, outcome) in answers {
            if outcome.is_ok() {
                job.work.notify_hints(&self.hints);
            }
            match (job.durability, outcome) {
                (Durability::Barrier, Ok(answer)) => waiting.push((job, answer)),
                (_, outcome) => send_reply(job, outcome),
            }
        }
        if !waiting.is_empty() {
            self.syncer.send(waiting);
        }
    }
}

/// Returns the work that succeeded.
fn successful_work<'b>(
    batch: &'b [WriteJob],
    outcomes: &'b [WorkOutcome],
) -> impl Iterator<Item = &'b WriteWork> {
    let both = batch.iter().zip(outcomes);
    both.filter(|(_, outcome)| outcome.is_ok()).map(|(job, _)| &job.work)
}

fn reject_all(batch: Vec<WriteJob>, error: &StoreError) {
    batch.into_iter().for_each(|job| send_reply(job, Err(error.clone())));
}

/// Replies to the caller. A caller that stopped waiting is ignored; the work is committed all the
/// same.
pub(super) fn send_reply(job: WriteJob, outcome: WorkOutcome) {
    let landed = outcome.is_ok();
    _ = job.reply.send(outcome);
    if landed {
        job.work.after_reply();
    }
}

#[derive(Debug)]
pub(super) enum WriteWork {
    EnqueueMessage { lane: LaneId, message: EncodedMessage },
    EnqueuePrompt { lane: LaneId, affinity: Affinity, message: EncodedMessage },
    Claim { lane: LaneId, worker: WorkerId, dead: Option<ObservedHeartbeat> },
    ClaimAll { lanes: Vec<LaneId>, worker: WorkerId },
    Release { lane: LaneId, worker: WorkerId, epoch: Epoch },
    Heartbeat { worker: WorkerId },
    Append(Box<PreparedAppend>),
    Fork { parent: LaneId, at: Seq, child: LaneId },
    RegisterLane { lane: LaneId, affinity: Affinity },
    Reconcile(ReconcileRequest),
    Forget(RetentionCutoffs),
    Announce { worker: WorkerId, workspaces: String },
    Wake { lane: LaneId },
    Remove { lane: LaneId },
    RecordEvent(WorkerEvent),
    SetLimits { tenant: Arc<str>, limits: TenantLimits },
    WriteDocument { document: Document, condition: WriteCondition },
    DeleteDocument { kind: Arc<str>, key: Arc<str>, version: Option<u64> },
    WriteDeferredRows { lanes: Vec<i64> },
}

#[derive(Debug)]
pub(super) enum WriteOutput {
    Enqueued(InboxMessageId),
    Claimed(LaneClaim),
    AllClaimed(Vec<(LaneId, LaneClaim)>),
    Abandoned(Vec<AbandonedLane>),
    Forgotten(DeletedRows),
    Woken(bool),
    Removed(RemovedLanes),
    Changed(bool),
    Done,
}

impl WriteOutput {
    pub(super) fn into_enqueued(self) -> Result<EnqueuedMessage, StoreError> {
        match self {
            Self::Enqueued(message) => Ok(EnqueuedMessage { message }),
            _ => Err(unexpected_output()),
        }
    }

    pub(super) fn into_claim(self) -> Result<LaneClaim, StoreError> {
        match self {
            Self::Claimed(claim) => Ok(claim),
            _ => Err(unexpected_output()),
        }
    }

    pub(super) fn into_claims(self) -> Result<Vec<(LaneId, LaneClaim)>, StoreError> {
        match self {
            Self::AllClaimed(claims) => Ok(claims),
            _ => Err(unexpected_output()),
        }
    }

    pub(super) fn into_abandoned(self) -> Result<Vec<AbandonedLane>, StoreError> {
        match self {
            Self::Abandoned(abandoned) => Ok(abandoned),
            _ => Err(unexpected_output()),
        }
    }

    pub(super) fn into_forgotten(self) -> Result<DeletedRows, StoreError> {
        match self {
            Self::Forgotten(forgotten) => Ok(forgotten),
            _ => Err(unexpected_output()),
        }
    }

    pub(super) fn into_woken(self) -> Result<bool, StoreError> {
        match self {
            Self::Woken(woken) => Ok(woken),
            _ => Err(unexpected_output()),
        }
    }

    pub(super) fn into_changed(self) -> Result<bool, StoreError> {
        match self {
            Self::Changed(changed) => Ok(changed),
            _ => Err(unexpected_output()),
        }
    }

    pub(super) fn into_removed(self) -> Result<RemovedLanes, StoreError> {
        match self {
            Self::Removed(removed) => Ok(removed),
            _ => Err(unexpected_output()),
        }
    }
}

fn unexpected_output() -> StoreError {
    StoreError::Invalid {
        message: "internal error: unexpected result from the store's writer; please report this"
            .to_owned(),
    }
}

impl WriteWork {
    /// Performs the work inside the writer's transaction.
    fn perform(&self, connection: &Connection) -> Result<WriteOutput, WorkError> {
        match self {
            Self::EnqueueMessage { lane, message } => {
                inbox::enqueue_message(connection, lane, message, None).map(WriteOutput::Enqueued)
            }
            Self::EnqueuePrompt { lane, affinity, message } => {
                tenants::enqueue_prompt(connection, lane, affinity, message)
                    .map(WriteOutput::Enqueued)
            }
            Self::Claim { lane, worker, dead } => {
                lanes::claim_lane(connection, lane, worker, dead.as_ref()).map(WriteOutput::Claimed)
            }
            Self::ClaimAll { lanes, worker } => {
                runnable_lanes::claim_free_lanes(connection, lanes, worker)
                    .map(WriteOutput::AllClaimed)
            }
            Self::Release { lane, worker, epoch } => {
                lanes::release_lane(connection, lane, worker, *epoch).map(|()| WriteOutput::Done)
            }
            Self::Heartbeat { worker } => {
                heartbeats::record_heartbeat(connection, worker).map(|()| WriteOutput::Done)
            }
            Self::Append(append) => {
                fenced_append::append_fenced(connection, append).map(|()| WriteOutput::Done)
            }
            Self::Fork { parent, at, child } => {
                lanes::fork_lane(connection, parent, *at, child).map(|()| WriteOutput::Done)
            }
            Self::RegisterLane { lane, affinity } => {
                lanes::register_lane(connection, lane, affinity).map(|()| WriteOutput::Done)
            }
            Self::Reconcile(pass) => {
                heartbeats::reconcile_dead_owners(connection, pass).map(WriteOutput::Abandoned)
            }
            Self::Forget(old) => {
                deletion::forget_old_rows(connection, old).map(WriteOutput::Forgotten)
            }
            Self::Announce { worker, workspaces } => {
                heartbeats::announce_workspaces(connection, worker, workspaces)
                    .map(|()| WriteOutput::Done)
            }
            Self::Wake { lane } => lanes::wake_lane(connection, lane).map(WriteOutput::Woken),
            Self::Remove { lane } => {
                deletion::remove_lanes(connection, lane).map(WriteOutput::Removed)
            }
            Self::RecordEvent(event) => {
                statistics::insert_worker_event(connection, event).map(|()| WriteOutput::Done)
            }
            Self::SetLimits { tenant, limits } => {
                tenants::set_limits(connection, tenant, limits).map(|()| WriteOutput::Done)
            }
            Self::WriteDocument { document, condition } => {
                documents::write_document(connection, document, *condition)
                    .map(WriteOutput::Changed)
            }
            Self::DeleteDocument { kind, key, version } => {
                documents::delete_document(connection, kind, key, *version)
                    .map(WriteOutput::Changed)
            }
            Self::WriteDeferredRows { lanes } => {
                deferred_rows::write_rows_of_lanes(connection, lanes).map(|()| WriteOutput::Done)
            }
        }
    }

    /// Returns the lane that is appended to.
    pub(super) fn append_lane(&self) -> Option<&LaneId> {
        if let Self::Append(append) = self { Some(&append.lane) } else { None }
    }

    /// Notifies tasks of this process that wait for messages.
    fn notify_hints(&self, hints: &InboxHints) {
        match self {
            Self::EnqueueMessage { lane, .. }
            | Self::EnqueuePrompt { lane, .. }
            | Self::Wake { lane } => hints.notify_lane(lane),
            Self::Append(append) => {
                append.outbox.iter().for_each(|(to, _)| hints.notify_lane(to));
            }
            Self::Claim { .. } | Self::ClaimAll { .. } | Self::Release { .. } => (),
            Self::Heartbeat { .. } => (),
            Self::Fork { .. } | Self::RegisterLane { .. } => (),
            Self::Reconcile(_) | Self::Forget(_) | Self::RecordEvent(_) => (),
            Self::Announce { .. } | Self::Remove { .. } => (),
            Self::SetLimits { .. } | Self::WriteDocument { .. } | Self::DeleteDocument { .. } => (),
            Self::WriteDeferredRows { .. } => (),
        }
    }

    fn before_commit(&self) {
        match self {
            Self::EnqueueMessage { .. } | Self::EnqueuePrompt { .. } => {
                crash_points::crash_point(crash_points::ENQUEUE_BEFORE);
            }
            Self::Claim { .. } | Self::ClaimAll { .. } => {
                crash_points::crash_point(crash_points::CLAIM_BEFORE);
            }
            Self::Release { .. } => crash_points::crash_point(crash_points::RELEASE_BEFORE),
            Self::Heartbeat { .. } => crash_points::crash_point(crash_points::HEARTBEAT_BEFORE),
            Self::Append(_) => crash_points::crash_point(crash_points::APPEND_BEFORE_COMMIT),
            Self::Fork { .. } | Self::RegisterLane { .. } => (),
            Self::Reconcile(_) | Self::Forget(_) | Self::RecordEvent(_) => (),
            Self::Announce { .. } | Self::Wake { .. } | Self::Remove { .. } => (),
            Self::SetLimits { .. } | Self::WriteDocument { .. } | Self::DeleteDocument { .. } => (),
            Self::WriteDeferredRows { .. } => (),
        }
    }

    fn after_commit(&self) {
        match self {
            Self::EnqueueMessage { .. } | Self::EnqueuePrompt { .. } => {
                crash_points::crash_point(crash_points::ENQUEUE_AFTER);
            }
            Self::Claim { .. } | Self::ClaimAll { .. } => {
                crash_points::crash_point(crash_points::CLAIM_AFTER);
            }
            Self::Release { .. } => crash_points::crash_point(crash_points::RELEASE_AFTER),
            Self::Heartbeat { .. } => crash_points::crash_point(crash_points::HEARTBEAT_AFTER),
            Self::Append(_) => crash_points::crash_point(crash_points::APPEND_AFTER_COMMIT),
            Self::Fork { .. } | Self::RegisterLane { .. } => (),
            Self::Reconcile(_) | Self::Forget(_) | Self::RecordEvent(_) => (),
            Self::Announce { .. } | Self::Wake { .. } | Self::Remove { .. } => (),
            Self::SetLimits { .. } | Self::WriteDocument { .. } | Self::DeleteDocument { .. } => (),
            Self::WriteDeferredRows { .. } => (),
        }
    }

    fn after_reply(&self) {
        if matches!(self, Self::Append(_)) {
            crash_points::crash_point(crash_points::APPEND_AFTER_REPLY);
        }
    }
}

/// Returns a statement that is compiled once per connection.
pub(super) fn prepare_cached<'c>(
    connection: &'c Connection,
    text: &'static str,
) -> rusqlite::Result<CachedStatement<'c>> {
    connection.prepare_cached(text)
}
