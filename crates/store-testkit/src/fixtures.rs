//! Fixtures of the conformance cases: messages, entries, appends and lanes.

use std::sync::Arc;

use windlass_core::log::ids::{Epoch, LaneId, RunId, Seq, UnixMillis};
use windlass_core::log::inbox::InboxCommand;
use windlass_core::log::record::Durability;
use windlass_core::message::content_block::ContentBlock;
use windlass_core::message::reply::TokenUsage;
use windlass_core::projection::{Row, RunDescription, RunRow, TraceRow};
use windlass_core::run::active_run::RunCounters;
use windlass_core::stop::RunState;
use windlass_runtime::ports::{
    AppendRequest, EncodedEntry, OutboxMessage, Store, StoreError, WorkerId,
};

pub(crate) type TestStore = Arc<dyn Store>;
pub(crate) type CaseResult = Result<(), StoreError>;

pub(crate) fn lane(name: &str) -> LaneId {
    LaneId::from(format!("conversation:{name}"))
}

pub(crate) fn worker(name: &str) -> WorkerId {
    Arc::from(name)
}

pub(crate) fn prompt(text: &str) -> InboxCommand {
    let blocks = vec![ContentBlock::text(text)];
    InboxCommand::prompt(RunId::from_name(text), blocks)
}

pub(crate) fn message(key: &str) -> OutboxMessage {
    OutboxMessage { idempotency_key: Arc::from(key), body: prompt(key) }
}

pub(crate) fn entry(seq: Seq, line: &str) -> EncodedEntry {
    EncodedEntry { seq, at: UnixMillis(1_000 + seq), line: Arc::from(line) }
}

/// Returns the entries `from..=upto`, each with a line that names its writer and its number.
pub(crate) fn entries(who: &str, from: Seq, upto: Seq) -> Vec<EncodedEntry> {
    (from..=upto).map(|seq| entry(seq, &format!("{{\"{who}\":{seq}}}"))).collect()
}

/// Returns an append by worker `w`.
pub(crate) fn append(
    lane: &LaneId,
    epoch: Epoch,
    head: Seq,
    entries: Vec<EncodedEntry>,
) -> AppendRequest {
    AppendRequest {
        lane: lane.clone(),
        owner: worker("w"),
        epoch,
        head,
        entries,
        messages_read: Vec::new(),
        outbox: Vec::new(),
        rows: Vec::new(),
        wake_at: None,
        active_run: None,
        durability: Durability::Commit,
        spending: None,
    }
}

/// Returns the append as made by another worker.
pub(crate) fn append_by(name: &str, append: AppendRequest) -> AppendRequest {
    AppendRequest { owner: worker(name), ..append }
}

pub(crate) fn run_row(run: &str, state: RunState, at: u64) -> Row {
    Row::Run(RunRow {
        run: RunId::from_name(run),
        state,
        cause: None,
        other_causes: Vec::new(),
        text: None,
        counters: RunCounters::default(),
        usd_micros: None,
        description: RunDescription::default(),
        cancel_requested: false,
        at: UnixMillis(at),
    })
}

pub(crate) fn trace_row(run: &str, iter: u32, stop_reason: &str) -> Row {
    Row::Trace(TraceRow {
        run: RunId::from_name(run),
        iter,
        stop_reason: Arc::from(stop_reason),
        reply_stop_reason: Some("new".into()),
        model: Some("m".into()),
        tool_calls: Vec::new(),
        usage: TokenUsage::default(),
        transition: "prompt",
        at: UnixMillis(1),
    })
}

/// Returns a message that starts no run.
pub(crate) fn memory_message(key: &str) -> OutboxMessage {
    OutboxMessage {
        idempotency_key: Arc::from(key),
        body: InboxCommand::Memory { text: Arc::from(key) },
    }
}

/// Creates a lane with one message, claims it for worker `w` and returns the epoch.
pub(crate) async fn claim_new_lane(store: &TestStore, lane: &LaneId) -> Result<Epoch, StoreError> {
    store.enqueue_message(lane.clone(), memory_message("first")).await?;
    Ok(store.claim_lane(lane.clone(), worker("w"), None).await?.epoch)
}

/// Creates a lane with entries 1 to `upto`, claims it and returns the epoch.
pub(crate) async fn claim_lane_with_entries(
    store: &TestStore,
    lane: &LaneId,
    upto: Seq,
) -> Result<Epoch, StoreError> {
    let epoch = claim_new_lane(store, lane).await?;
    store.append(append(lane, epoch, 0, entries(lane.as_str(), 1, upto))).await?;
    Ok(epoch)
}

pub(crate) async fn read_whole_log(
    store: &TestStore,
    lane: &LaneId,
) -> Result<Vec<EncodedEntry>, StoreError> {
    store.read_log(lane.clone(), 0, usize::MAX).await
}

pub(crate) async fn read_head(store: &TestStore, lane: &LaneId) -> Result<Option<Seq>, StoreError> {
    Ok(store.lane_info(lane.clone()).await?.map(|found| found.head))
}
