//! Helpers that the tests of all engines share.

#[cfg(feature = "faults")]
pub(crate) mod points;
pub(crate) mod running_job;

use std::path::PathBuf;
use std::sync::Arc;

use tempfile::TempDir;
use windlass_core::log::ids::{Epoch, LaneId, RunId, Seq, UnixMillis};
use windlass_core::log::inbox::InboxCommand;
use windlass_core::log::record::Durability;
use windlass_runtime::ports::{
    AppendRequest, ClaimQuery, EncodedEntry, OutboxMessage, Store, StoreError, WorkerScope,
};
use windlass_store::SqliteStore;

pub(crate) fn folder() -> TempDir {
    tempfile::tempdir().unwrap()
}

pub(crate) fn file(folder: &TempDir) -> PathBuf {
    folder.path().join("windlass.db")
}

pub(crate) fn open(folder: &TempDir) -> SqliteStore {
    SqliteStore::open(file(folder)).unwrap()
}

pub(crate) fn lane(name: &str) -> LaneId {
    LaneId::from(name)
}

pub(crate) fn message(key: &str) -> OutboxMessage {
    OutboxMessage {
        idempotency_key: Arc::from(key),
        body: InboxCommand::Cancel { run: Some(RunId::from(key)) },
    }
}

/// Returns an append of one entry by worker `w`.
pub(crate) fn append_one(name: &str, epoch: Epoch, head: Seq, line: &str) -> AppendRequest {
    AppendRequest {
        lane: lane(name),
        owner: Arc::from("w"),
        epoch,
        head,
        entries: vec![EncodedEntry { seq: head + 1, at: UnixMillis(head), line: Arc::from(line) }],
        messages_read: Vec::new(),
        outbox: Vec::new(),
        rows: Vec::new(),
        wake_at: None,
        active_run: None,
        durability: Durability::Commit,
        spending: None,
    }
}

pub(crate) fn append_synced(name: &str, epoch: Epoch, head: Seq, line: &str) -> AppendRequest {
    AppendRequest { durability: Durability::Barrier, ..append_one(name, epoch, head, line) }
}

pub(crate) async fn claim_new_lane(store: &dyn Store, name: &str) -> Epoch {
    store.enqueue_message(lane(name), message("first")).await.unwrap();
    store.claim_lane(lane(name), Arc::from("w"), None).await.unwrap().epoch
}

/// Claims the lanes `a` and `b` together, of which `a` has a message that cannot be decoded.
pub(crate) async fn check_only_a_unreadable(store: &impl Store) {
    let query = ClaimQuery {
        now: UnixMillis(0),
        limit: 9,
        scope: WorkerScope::default(),
        exclude: Vec::new(),
    };
    let mut found = store.claim_runnable_lanes("w".into(), query).await.unwrap();
    found.sort_by(|one, other| one.0.cmp(&other.0));
    let came: Vec<_> = found.iter().map(|(lane, claim)| (lane, claim.messages.is_some())).collect();
    assert_eq!(came, [(&lane("a"), false), (&lane("b"), true)]);
    let why = store.read_inbox(lane("a"), 9).await;
    assert!(matches!(why, Err(StoreError::Corrupt { .. })), "{why:?}");
}
