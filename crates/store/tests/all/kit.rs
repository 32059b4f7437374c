//! What the tests of one engine share.

#[cfg(feature = "faults")]
pub(crate) mod points;

use std::path::PathBuf;
use std::sync::Arc;

use tempfile::TempDir;
use windlass_core::ids::{Epoch, LaneId, Millis, RunId, Seq};
use windlass_core::mail::MailBody;
use windlass_core::record::Durability;
use windlass_runtime::ports::{Append, EncodedEntry, Letter, Look, Reach, Store, StoreError};
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

pub(crate) fn letter(key: &str) -> Letter {
    Letter { key: Arc::from(key), body: MailBody::Cancel { run: Some(RunId::from(key)) } }
}

/// By worker `w`.
pub(crate) fn step(name: &str, epoch: Epoch, head: Seq, line: &str) -> Append {
    Append {
        lane: lane(name),
        owner: Arc::from("w"),
        epoch,
        head,
        entries: vec![EncodedEntry { seq: head + 1, at: Millis(head), line: Arc::from(line) }],
        mail_read: Vec::new(),
        mail_out: Vec::new(),
        rows: Vec::new(),
        wake_at: None,
        active_run: None,
        durability: Durability::Commit,
        spending: None,
    }
}

pub(crate) fn barrier(name: &str, epoch: Epoch, head: Seq, line: &str) -> Append {
    Append { durability: Durability::Barrier, ..step(name, epoch, head, line) }
}

pub(crate) async fn owned(store: &dyn Store, name: &str) -> Epoch {
    store.deliver(lane(name), letter("first")).await.unwrap();
    store.claim(lane(name), Arc::from("w"), None).await.unwrap().epoch
}

/// Takes the lanes `a` and `b` together, of which `a` has mail that nobody can read.
pub(crate) async fn only_the_mail_of_a_is_unreadable(store: &impl Store) {
    let look = Look { now: Millis(0), most: 9, reach: Reach::default(), except: Vec::new() };
    let mut found = store.claim_wanting("w".into(), look).await.unwrap();
    found.sort_by(|one, other| one.0.cmp(&other.0));
    let came: Vec<_> = found.iter().map(|(lane, claim)| (lane, claim.mail.is_some())).collect();
    assert_eq!(came, [(&lane("a"), false), (&lane("b"), true)]);
    let why = store.read_mail(lane("a"), 9).await;
    assert!(matches!(why, Err(StoreError::Corrupt { .. })), "{why:?}");
}
